"""docs/memoryctl.md says of every verb what its own help says."""

import re
import shlex

import click
import pytest

from qms.app.table import TABLE
from qms.cli.arguments import Verb, leaves, verb_first
from qms.cli.program import program
from tests.house.pages import ROOT, tracked_files
from tools.document_memoryctl import PAGE, documented, fill, wanted

CLI = ROOT / "qms" / "cli"
VERBS = dict(leaves(program))


def test_the_page_shows_the_help_of_every_verb_as_the_program_prints_it() -> None:
    page = PAGE.read_text(encoding="utf-8")

    # `uv run python tools/document_memoryctl.py` brings the page up to date.
    assert fill(page) == page


def test_every_verb_has_its_place_on_the_page() -> None:
    assert sorted(documented(PAGE.read_text(encoding="utf-8"))) == sorted(wanted())


def test_every_command_of_the_lifecycle_is_called_by_a_verb() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in CLI.glob("*.py"))

    names = [row.name for row in TABLE if row.toolset == "lifecycle"]
    assert len(names) > 20
    assert [name for name in names if f'"{name}"' not in sources] == []


@pytest.mark.parametrize("path", VERBS)
def test_every_verb_has_one_line_of_help_and_an_example_that_calls_it(path: str) -> None:
    verb = VERBS[path]
    assert isinstance(verb, Verb)
    summary = (verb.help or "").split("\n")[0]
    words = shlex.split(verb.example)
    words = words[words.index("memoryctl") + 1 :]

    assert 0 < len(summary) <= 100
    assert f"memoryctl {' '.join(words)}".startswith(path)
    given = verb_first(words, program)
    # Below the program's context: click remembers on the verb which help options that one has.
    parent = program.make_context("memoryctl", given, resilient_parsing=True)
    verb.make_context(path, words[len(path.split()) - 1 :], parent=parent)


@pytest.mark.parametrize("path", VERBS)
def test_every_option_says_what_it_is_for(path: str) -> None:
    options = [option for option in VERBS[path].params if isinstance(option, click.Option)]

    assert [option.name for option in options if not option.help] == []


def _names_a_verb(words: list[str]) -> bool:
    command: click.Command = program
    for word in words:
        if not isinstance(command, click.Group):
            return True
        if word not in command.commands:
            return False
        command = command.commands[word]
    return True


def test_every_verb_that_a_page_names_exists() -> None:
    data = ROOT / "tests" / "data"
    pages = [one for one in tracked_files() if one.suffix == ".md" and data not in one.parents]
    named = [
        (path.name, found)
        for path in pages
        for found in re.findall(
            r"(?:`|^)memoryctl ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)?)",
            path.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    ]

    assert named
    assert [one for one in named if not _names_a_verb(one[1].split())] == []
