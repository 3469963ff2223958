"""`memoryctl move` and `copy`: move or copy a memory to another project."""

from collections.abc import Callable
from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.calls import argument, calls, warn
from qms.cli.confirm import is_wanted, removal_options
from qms.cli.fields import wire_fields
from qms.cli.get import find
from qms.cli.target import Asked, open_session
from qms.memory.errors import invalid


def _transfer_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--if-version", "ifVersion", metavar="VERSION", help="Only this version."),
        click.option("--to-id", "toId", metavar="ID", help="Id in the other project [the same]."),
        click.option("--to", metavar="PROJECT", help="The other project, in place of PROJECT."),
        argument("toProject", metavar="[PROJECT]", required=False),
        click.argument("id", metavar="ID"),
    ):
        function = option(function)
    return function


@click.command(cls=Verb, example="memoryctl move release-train shared")
@_transfer_options
@removal_options
@shared_options
def move(asked: Asked, dry_run: bool, yes: bool, **wanted: Any) -> None:
    """Move a memory to another project; relations to it are updated."""
    wanted = _request(wanted)
    with open_session(asked) as session:
        found = find(session, wanted["id"])
        answer = {"id": found["entry"]["id"], "version": found["version"]}
        what = f"move {found['entry']['title']!r} to {wanted['toProject']}"
        if is_wanted(what, dry_run=dry_run, yes=yes):
            answer = session.call(session.project_of(wanted["id"]), "moveEntry", wanted)
    if asked.as_json:
        output.answer(answer)
    else:
        output.line(answer["id"])
    warn(answer)


def _request(given: dict[str, Any]) -> dict[str, Any]:
    """Return the request; the project is the argument, or the value of --to.

    Raises:
        InvalidInputError: no project is named, or two.
    """
    named = [given.pop("to"), given.pop("toProject")]
    projects = [one for one in named if one is not None]
    if len(projects) != 1:
        raise invalid("toProject", "name the other project once, as PROJECT or with --to")
    return wire_fields({**given, "toProject": projects[0]})


@click.command(cls=Verb, example="memoryctl copy release-train shared --to-id release-train-2")
@_transfer_options
@calls("copyEntry", of_entry="id", asks=_request, ends=warn)
def copy(answer: dict[str, Any]) -> None:
    """Copy a memory to another project."""
    output.line(answer["id"])
