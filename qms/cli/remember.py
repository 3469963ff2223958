"""`memoryctl remember`: store a memory."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, read_text
from qms.cli.calls import Fields, calls, warn
from qms.cli.fields import KIND_NAMES, KINDS, entry_options, wire_fields
from qms.memory.bodies import Kind


def _request(text: str, kind: str, fields: Fields, **given: Any) -> Fields:
    named = {"id": given.pop("id")}
    entry = {"kind": kind, "body": read_text(text, "text"), **fields, **wire_fields(named)}
    return {"entry": entry, **wire_fields(given)}


def _tell(stored: Fields) -> None:
    if stored.get("duplicateOf"):
        output.note("already stored: the same memory exists")
    else:
        output.note(f"{'stored' if stored['created'] else 'updated'}, version {stored['version']}")
    for similar in stored["similar"]:
        output.note(f"similar: {similar['id']} {similar['title']}")
    warn(stored)


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
@click.option("--id", metavar="ID", help="Id of the memory [generated].")
@entry_options
@click.option(
    "--on-duplicate-title",
    "onDuplicateTitle",
    type=click.Choice(["create", "update"]),
    help="What to do if the kind, namespace and title already exist.",
)
@click.option("--if-version", "ifVersion", metavar="VERSION", help="Replace only this version.")
@calls("upsertEntry", asks=lambda given: _request(**given), of_entry="entry.id", ends=_tell)
def remember(answer: Fields) -> None:
    """Store a memory; - reads the text from standard input."""
    output.line(answer["id"])


def show_stored(stored: Fields, *, as_json: bool) -> None:
    """Print the id of a stored entry as data, and the rest of the answer as messages."""
    if as_json:
        output.answer(stored)
    else:
        output.line(stored["id"])
    _tell(stored)
