"""docs/memoryctl.md says of every verb what its own help says."""

import shlex

import click
import pytest

from qms.cli.arguments import Verb, leaves, verb_first
from qms.cli.main import program
from qms.service.rows.lifecycle import LIFECYCLE
from tests.house.pages import ROOT
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

    assert [row.name for row in LIFECYCLE if f'"{row.name}"' not in sources] == []


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
