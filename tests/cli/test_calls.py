"""Verbs that are declared: the worked example of docs/contributing.md, and what a table shows."""

import re
from pathlib import Path
from types import ModuleType

import click
import pytest

from qms.cli import program as program_module
from qms.cli.calls import Columns
from tests.cli.conftest import Terminal

PAGE = Path(__file__).resolve().parents[2] / "docs" / "contributing.md"


@pytest.fixture
def related() -> click.Command:
    """The verb that the page makes."""
    section = PAGE.read_text(encoding="utf-8").partition("## Add a verb")[2]
    source = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert source is not None
    module = ModuleType("related")
    exec(compile(source[1], str(PAGE), "exec"), module.__dict__)
    command = module.related
    assert isinstance(command, click.Command)
    return command


@pytest.fixture
def with_related(
    ctl: Terminal, related: click.Command, monkeypatch: pytest.MonkeyPatch
) -> Terminal:
    """A command line that has it."""
    monkeypatch.setitem(program_module.program.commands, "related", related)
    ctl.remember("a plan", "--id", "a")
    ctl.remember("its reason", "--id", "b")
    ctl.ok("link", "a", "b")
    return ctl


def test_the_worked_example_shows_its_columns(with_related: Terminal) -> None:
    lines = with_related.ok("related", "a").out.splitlines()

    assert [line.split() for line in lines] == [
        ["HOPS", "ID", "TITLE"],
        ["0", "default:a", "a", "plan"],
        ["1", "default:b", "its", "reason"],
    ]


def test_the_worked_example_prints_the_answer_of_the_api(with_related: Terminal) -> None:
    done = with_related.ok("related", "default:a", "--max-hops", "1", "--json").json

    assert [node["id"] for node in done["nodes"]] == ["default:a", "default:b"]


def test_the_worked_example_has_its_errors_help_and_the_options_of_every_verb(
    with_related: Terminal,
) -> None:
    assert with_related("related", "gone").code == 4
    assert with_related("related", "a", "--max-hops", "0").code == 2
    assert "--project SLUG" in with_related.ok("related", "--help").out


def test_a_table_without_rows_is_a_note_if_there_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    Columns({"ID": "id"}, flexible=0, empty="nothing yet")({"items": []})
    Columns({"ID": "id"}, flexible=0)({"items": []})

    assert capsys.readouterr() == ("ID\n", "nothing yet\n")


def test_a_cell_without_a_value_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    items = [{"id": 1, "why": None}]
    Columns({"ID": "id", "WHY": "why", "END": lambda one: one["id"] + 1}, 1)({"items": items})

    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["ID", "WHY", "END"],
        ["1", "2"],
    ]
