"""Every command of the README and of the guides is run as it is written.

Each page has a network of its own, so that the server has the usual port; nothing else is
different from what a reader does. docs/guides/first-hour.md is the whole path of a new user.
"""

import subprocess
from pathlib import Path

import pytest

from tests.house.pages import ROOT, read
from tests.support.guides import INSTALL, PAGES, Machine, missing_line, shell_blocks

pytestmark = [pytest.mark.needs("bash", "unshare", "git", "curl")]


NEW_USER = "docs/guides/first-hour.md"
PATH_OF_A_NEW_USER = (
    "uv tool install .",
    "qms serve",
    "memoryctl connect ",
    "memoryctl remember ",
    "memoryctl search ",
    ">> ~/memory/MemoryStores/default/entries.jsonl",
    "memoryctl backup ",
    "memoryctl backups restore ",
)


def test_the_first_hour_is_the_path_of_a_new_user() -> None:
    steps = "".join(block.text for block in shell_blocks(read(NEW_USER)))

    places = [steps.index(step) for step in PATH_OF_A_NEW_USER]

    assert places == sorted(places)


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_do_what_it_says(page: str, tmp_path: Path) -> None:
    blocks = shell_blocks(read(page))
    installs = any(block.word == INSTALL for block in blocks)
    checkout = ROOT
    if installs:
        checkout = tmp_path / "checkout"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(checkout)], check=True)
    machine = Machine(tmp_path, checkout=checkout)

    outputs = machine.run(blocks)

    for block in blocks:
        missing = missing_line(block.prints, outputs[block.line])
        assert missing is None, f"line {block.line} lacks {missing!r}:\n{outputs[block.line]}"
