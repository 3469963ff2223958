"""Verbs that only call a command and print its answer, declared by what they ask and show.

The names of their arguments and options are the fields of the request; `form` is the format of the
answer. Those that remove something make a dry run first and ask.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import click
import msgspec

from qms.cli import output
from qms.cli.arguments import shared_options
from qms.cli.confirm import is_wanted, removal_options
from qms.cli.fields import wire_fields
from qms.cli.routes import ADMINISTRATION
from qms.cli.target import Asked, Session, open_session

Fields = dict[str, Any]
Show = Callable[[Fields], None]
Cell = str | Callable[[Fields], Any]
"""A field of an item, or what is made of the item."""

NOTHING: Mapping[str, Any] = {}
_JSON = "json"


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
    show: Callable[..., None] | None = None,
    *,
    says: str | None = None,
    asks: Callable[[Fields], Fields] = wire_fields,
    of_entry: str | None = None,
    takes_project: bool = False,
    ends: Show | None = None,
    table: Mapping[str, Any] = NOTHING,
    pages: bool = False,
    in_project: bool = False,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function, whose docstring is the help, a verb that sends one command.

    The answer is printed by `show`, else by the function itself. `says` is a message about a
    change, with fields of request and answer in braces; like `ends`, it also comes with --json.
    `asks` makes the request of what was given. `of_entry` names the field with the id whose project
    is asked; `takes_project` sends --project along. `table` has fields of the request for an answer
    that is not printed as JSON. With an option `form`, rows of text are printed as they come.
    `pages` says how an answer that is one page of several goes on; `in_project` hands the project
    to the function, too.
    """

    def declare(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def run(asked: Asked, form: str | None = None, **given: Any) -> None:
            is_rows, is_json = form not in (None, _JSON), asked.as_json or form == _JSON
            request = asks(given) | ({"project": asked.project} if takes_project else {})
            request |= {"format": form} if is_rows else {} if is_json else table
            with open_session(asked) as session:
                answer = _send(session, command, request, of_entry)
                more = {"project": session.project} if in_project else {}
            if is_rows:
                output.text(str(answer))
                return
            if is_json:
                output.answer(answer)
            elif says is None:
                (show or function)(answer, **more)
                if pages:
                    _tell_of_more(answer, keeps_cursors=session.backend.keeps_cursors)
            if says is not None:
                output.note(says.format_map({**answer, **request}))
            if ends is not None:
                ends(answer)

        return shared_options(run)

    return declare


def removes(
    command: str,
    *,
    what: Callable[[Fields], str],
    done: str,
    count: str | None = None,
    none: str = "",
    lists: Show | None = None,
    asks: Callable[[Fields], Fields] = wire_fields,
    of_entry: str | None = None,
    ends: Show | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a verb that asks before it sends its command; the function shows the answer.

    A dry run says `what` would happen and `lists` it; if its field `count` is empty, `none` is said
    and nothing is sent. `done` is said afterwards, with fields of the answer in braces.
    """

    def declare(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def run(asked: Asked, *, dry_run: bool, yes: bool, **given: Any) -> None:
            request = asks(given)
            with open_session(asked) as session:
                answer = _send(session, command, {**request, "dryRun": True}, of_entry)
                if lists is not None:
                    lists(answer)
                if count is not None and not answer[count]:
                    output.note(none)
                elif is_wanted(what(answer), dry_run=dry_run, yes=yes):
                    answer = _send(session, command, request, of_entry)
                    output.note(done.format_map(answer))
            if asked.as_json:
                output.answer(answer)
            else:
                function(answer)
            if ends is not None:
                ends(answer)

        return removal_options(shared_options(run))

    return declare


def warn(answer: Fields) -> None:
    """Print the warnings of an answer."""
    for warning in answer.get("warnings", ()):
        output.warning(warning)


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
        answer = session.call(_project(session, request, of_entry), command, request)
    return answer


def _tell_of_more(answer: Fields, *, keeps_cursors: bool) -> None:
    if answer["nextCursor"]:
        output.note(f"{len(answer['items'])} shown, more available")
        if keeps_cursors:
            output.hint(f"continue with --cursor {answer['nextCursor']}")


def _project(session: Session, request: Fields, of_entry: str | None) -> str:
    """Return the project of the entry that a request names, the first of several."""
    found: Any = request
    for part in of_entry.split(".") if of_entry else ():
        found = found.get(part)
    if of_entry is None or found is None:
        return session.project
    return session.project_of(found if isinstance(found, str) else found[0])


def _text(item: Fields, cell: Cell) -> str:
    value = item[cell] if isinstance(cell, str) else cell(item)
    return "" if value is None else str(value)
