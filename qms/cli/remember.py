"""`memoryctl remember`: store a memory."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, read_text, shared_options
from qms.cli.fields import KIND_NAMES, KINDS, entry_options
from qms.cli.target import Asked, open_session
from qms.memory.bodies import Kind


@click.command(
    cls=Verb,
    example='memoryctl remember "Staging runs PostgreSQL 16 on port 5433" --kind fact --tag db',
)
@click.argument("text", metavar="TEXT|-")
@click.option(
    "--kind",
    metavar="KIND",
    type=KINDS,
    default=Kind.NOTE.value,
    show_default=True,
    help=f"One of {KIND_NAMES}.",
)
@click.option("--id", "entry_id", metavar="ID", help="Id of the memory [generated].")
@entry_options
@click.option(
    "--on-duplicate-title",
    type=click.Choice(["create", "update"]),
    help="What to do if the kind, namespace and title already exist.",
)
@click.option("--if-version", metavar="VERSION", help="Replace only this version.")
@shared_options
def remember(
    asked: Asked,
    text: str,
    kind: str,
    entry_id: str | None,
    fields: dict[str, Any],
    on_duplicate_title: str | None,
    if_version: str | None,
) -> None:
    """Store a memory; - reads the text from standard input."""
    entry = {"kind": kind, "body": read_text(text, "text"), **fields}
    if entry_id is not None:
        entry["id"] = entry_id
    options = {"onDuplicateTitle": on_duplicate_title, "ifVersion": if_version}
    request = {"entry": entry} | {name: value for name, value in options.items() if value}
    with open_session(asked) as session:
        project = session.project if entry_id is None else session.project_of(entry_id)
        stored = session.call(project, "upsertEntry", request)
    show_stored(stored, as_json=asked.as_json)


def show_stored(stored: dict[str, Any], *, as_json: bool) -> None:
    """Print the id of a stored entry as data, and the rest of the answer as messages."""
    if as_json:
        output.answer(stored)
    else:
        output.line(stored["id"])
    if stored.get("duplicateOf"):
        output.note("already stored: the same memory exists")
    else:
        output.note(f"{'stored' if stored['created'] else 'updated'}, version {stored['version']}")
    for similar in stored["similar"]:
        output.note(f"similar: {similar['id']} {similar['title']}")
    for warning in stored["warnings"]:
        output.warning(warning)
