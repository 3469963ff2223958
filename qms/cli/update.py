"""`memoryctl update`: change some fields of a memory."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, read_object, read_text
from qms.cli.calls import Fields, calls, warn
from qms.cli.fields import KINDS, entry_options, wire_fields
from qms.memory.errors import invalid


def _patch(
    fields: Fields, body: str | None, patch: str | None, clear: tuple[str, ...], **given: Any
) -> Fields:
    if body == "-" and patch == "-":
        raise invalid("body", "only one of --body and --patch can be standard input")
    change = read_object(patch, "patch") if patch is not None else {}
    change |= dict.fromkeys(clear) | fields
    if body is not None:
        change["body"] = read_text(body, "body")
    if (kind := given.pop("kind")) is not None:
        change["kind"] = kind
    if not change:
        raise invalid("patch", "nothing to change: pass a field, as in --title")
    return {**wire_fields(given), "patch": change}


def _tell(answer: Fields) -> None:
    output.note(f"updated, version {answer['version']}")
    warn(answer)


@click.command(cls=Verb, example='memoryctl update release-train --title "Train" --tag release')
@click.argument("id", metavar="ID")
@click.option("--body", metavar="TEXT|-", help="New text.")
@click.option("--kind", metavar="KIND", type=KINDS, help="New kind.")
@entry_options
@click.option("--clear", metavar="FIELD", multiple=True, help="Clear a field; may be repeated.")
@click.option("--patch", metavar="JSON|-", help="An RFC 7386 merge patch; options override it.")
@click.option("--if-version", "ifVersion", metavar="VERSION", help="Update only this version.")
@calls("patchEntry", asks=lambda given: _patch(**given), of_entry="id", ends=_tell)
def update(answer: Fields) -> None:
    """Change some fields of a memory; tags and keywords are replaced, not added."""
    output.line(answer["entry"]["id"])
