"""No command of the README or of a guide escapes the test that runs them."""

import re
from collections.abc import Iterator

import pytest

from tests.house.pages import ROOT, code_blocks, read
from tests.support.guides import (
    BACKGROUND,
    INSTALL,
    PAGES,
    PLAIN,
    TEST_COMMAND,
    fences,
    missing_line,
    shell_blocks,
)

WORDS = {PLAIN, BACKGROUND, INSTALL}
DATA = {"json", "toml", "text"}
PROGRAMS = re.compile(
    r"^\s*(?:[$#>] |(?:memoryctl|qms|uv|pip|git|curl|docker|sudo|cd|export)\b)", re.MULTILINE
)


def flaws(page: str) -> Iterator[str]:
    """Yield what of a page would not be run, or not be compared."""
    before = ""
    for block in fences(page):
        where = f"line {block.line}"
        if block.language == "sh":
            if block.word not in WORDS:
                yield f"{where}: {block.word!r} means nothing to the test"
            if "…" in block.text:
                yield f"{where}: a placeholder cannot be run"
        elif block.language not in DATA:
            yield f"{where}: {block.language or 'a fence without a language'} is not run"
        elif PROGRAMS.search(block.text) and block.language != "text":
            yield f"{where}: a command in a block of {block.language} is not run"
        if block.language == "text" and before != "sh":
            yield f"{where}: of which command is this the output?"
        before = block.language


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_page_is_run_or_is_data(page: str) -> None:
    assert list(flaws(read(page))) == []
    assert len(fences(read(page))) == len(code_blocks(read(page))) > 0


def test_every_guide_is_a_page_that_is_run() -> None:
    guides = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/guides").rglob("*.md")}

    assert guides == set(PAGES) - {"README.md"}
    assert len(guides) >= 6


def test_only_the_command_that_runs_the_tests_is_left_out() -> None:
    for page in PAGES:
        shells = [block.text for block in fences(read(page)) if block.language == "sh"]
        run = [block.text for block in shell_blocks(read(page))]
        assert [text.strip() for text in shells if text not in run] in ([], [TEST_COMMAND])


@pytest.mark.parametrize(
    ("page", "flaw"),
    [
        ("```bash\nls\n```\n", "bash is not run"),
        ("```\nmemoryctl list\n```\n", "a fence without a language"),
        ("```sh later\nls\n```\n", "means nothing"),
        ("```sh\nmemoryctl get default:…\n```\n", "a placeholder"),
        ("```json\nmemoryctl list\n```\n", "a command in a block of json"),
        ("```text\nout\n```\n", "of which command"),
    ],
)
def test_what_would_not_be_run_is_found(page: str, flaw: str) -> None:
    (found,) = flaws(page)

    assert flaw in found


def test_lines_are_expected_in_their_order_with_gaps() -> None:
    output = "on the server\nkey abc made\nlast"

    assert missing_line("key … made\nlast\n", output) is None
    assert missing_line("last\nkey … made\n", output) == "key … made"
    assert missing_line("key made\n", output) == "key made"
