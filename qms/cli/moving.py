"""`memoryctl move` and `copy`: memories into another project."""

from collections.abc import Callable
from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.reading import find
from qms.cli.removing import is_wanted, removal_options
from qms.cli.target import Asked, Session, open_session


def _transfer_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--if-version", "ifVersion", metavar="VERSION", help="Only this version."),
        click.option("--to-id", "toId", metavar="ID", help="Its id there; else the same."),
        click.argument("to_project", metavar="PROJECT"),
        click.argument("entry_id", metavar="ID"),
    ):
        function = option(function)
    return function


@click.command(cls=Verb, example="memoryctl move release-train shared")
@_transfer_options
@removal_options
@shared_options
def move(
    asked: Asked, entry_id: str, to_project: str, dry_run: bool, yes: bool, **wanted: Any
) -> None:
    """Bring a memory into another project; relations that lead to it follow."""
    with open_session(asked) as session:
        found = find(session, entry_id)
        answer = {"id": found["entry"]["id"], "version": found["version"]}
        what = f"move {found['entry']['title']!r} to {to_project}"
        if is_wanted(what, dry_run=dry_run, yes=yes):
            answer = _transfer(session, "moveEntry", entry_id, toProject=to_project, **wanted)
    _show(answer, as_json=asked.as_json)


@click.command(cls=Verb, example="memoryctl copy release-train shared --to-id release-train-2")
@_transfer_options
@shared_options
def copy(asked: Asked, entry_id: str, to_project: str, **wanted: Any) -> None:
    """Copy a memory into another project."""
    with open_session(asked) as session:
        answer = _transfer(session, "copyEntry", entry_id, toProject=to_project, **wanted)
    _show(answer, as_json=asked.as_json)


def _transfer(session: Session, command: str, entry_id: str, **wanted: Any) -> Any:
    return session.call(session.project_of(entry_id), command, {"id": entry_id, **wanted})


def _show(answer: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        output.answer(answer)
    else:
        output.line(answer["id"])
    for warning in answer.get("warnings", ()):
        output.warning(warning)
