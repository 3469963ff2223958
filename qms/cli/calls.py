"""Verbs that only call a command and print its answer, declared by what they ask and show.

The names of their arguments and options are the fields of the request.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import click
import msgspec

from qms.cli import output
from qms.cli.arguments import shared_options
from qms.cli.fields import wire_fields
from qms.cli.routes import ADMINISTRATION
from qms.cli.target import Asked, Session, open_session

Fields = dict[str, Any]
Cell = str | Callable[[Fields], Any]
"""A field of an item, or what is made of the item."""


class Columns(msgspec.Struct, frozen=True):
    """Prints the items of an answer as a table; the `flexible` column is cut to fit."""

    cells: Mapping[str, Cell]
    flexible: int
    items: str = "items"
    empty: str = ""
    """The note in place of a table without rows."""

    def __call__(self, answer: Fields) -> None:
        """Print the table."""
        rows = [[_text(item, cell) for cell in self.cells.values()] for item in answer[self.items]]
        if rows or not self.empty:
            output.table(list(self.cells), rows, flexible=self.flexible)
        else:
            output.note(self.empty)


def calls(
    command: str,
    show: Callable[[Fields], None] | None = None,
    *,
    says: str | None = None,
    asks: Callable[[Fields], Fields] = wire_fields,
    of_entry: str | None = None,
    takes_project: bool = False,
    ends: Callable[[Fields], None] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function, whose docstring is the help, a verb that sends one command.

    The answer is printed by `show`, else by the function itself. `says` is a message about a
    change, with fields of request and answer in braces; like `ends`, it also comes with --json.
    `asks` makes the request of what was given. `of_entry` names the field with the id whose project
    is asked; `takes_project` sends --project along.
    """

    def declare(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def run(asked: Asked, **given: Any) -> None:
            request = asks(given) | ({"project": asked.project} if takes_project else {})
            with open_session(asked) as session:
                answer = _send(session, command, request, of_entry)
            if asked.as_json:
                output.answer(answer)
            elif says is None:
                (show or function)(answer)
            if says is not None:
                output.note(says.format_map({**answer, **request}))
            if ends is not None:
                ends(answer)

        return shared_options(run)

    return declare


def argument(field: str, **settings: Any) -> Callable[[Any], Any]:
    """Return an argument for a field with capital letters, which click would lower."""
    return click.argument(field, cls=_Argument, **settings)


class _Argument(click.Argument):
    def __init__(self, param_decls: Sequence[str], **settings: Any) -> None:
        super().__init__(param_decls, **settings)
        self.name = param_decls[0]


def _send(session: Session, command: str, request: Fields, of_entry: str | None) -> Fields:
    answer: Fields
    if command in ADMINISTRATION:
        answer = session.administer(command, **request)
    else:
        project = session.project_of(request[of_entry]) if of_entry else session.project
        answer = session.call(project, command, request)
    return answer


def _text(item: Fields, cell: Cell) -> str:
    value = item[cell] if isinstance(cell, str) else cell(item)
    return "" if value is None else str(value)
