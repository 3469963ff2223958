"""docs/drop-in.md names, for every option of ai-memory's command line, one that is really there."""

import re
from pathlib import Path

import click
import pytest

from qms.cli.program import program
from qms.cli.server import main as qms

PAGE = Path(__file__).parents[2] / "docs" / "drop-in.md"

_ROW = re.compile(r"\| `(?P<theirs>[^`]+)` \| `(?P<ours>[^`]+)` \| .*\|")


def rows() -> list[tuple[str, str]]:
    """Return what is theirs and what is ours, of all rows that name something."""
    section = PAGE.read_text(encoding="utf-8").partition("### The command line of ai-memory")[2]
    lines = section.replace(r"\|", "\0").splitlines()
    found = [row for line in lines if (row := _ROW.fullmatch(line))]
    return [(row["theirs"], row["ours"].replace("\0", "|")) for row in found]


def is_there(words: list[str]) -> bool:
    """Say whether a program has a verb, and the verb the options and arguments that follow."""
    command: click.Command = program
    if words[0] == "qms":
        command, words = qms, words[1:]
    while words and isinstance(command, click.Group):
        if words[0] not in command.commands:
            return False
        command, words = command.commands[words[0]], words[1:]
    context = click.Context(command)
    known = {name for one in command.params for name in one.opts}
    known |= {
        one.make_metavar(context) for one in command.params if isinstance(one, click.Argument)
    }
    return set(words) <= known


def test_the_table_has_the_rows_of_every_command() -> None:
    verbs = {theirs.split()[0] for theirs, _ in rows()}

    assert len(rows()) > 75
    assert {"store", "recall", "forget", "consolidate", "mine", "archive", "sync"} <= verbs


@pytest.mark.parametrize(
    ("theirs", "ours"), [pytest.param(*row, id=row[0]) for row in rows() if row[1][0].islower()]
)
def test_an_option_of_ai_memory_has_its_place_in_memoryctl(theirs: str, ours: str) -> None:
    assert is_there(ours.split()), f"{theirs} is said to be {ours}, which is not there"


def test_what_is_not_there_is_noticed() -> None:
    assert not is_there(["remember", "--tier"])
    assert not is_there(["store"])
    assert not is_there(["promote", "NAME"])
