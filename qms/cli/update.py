"""`memoryctl update`: change some fields of a memory."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, read_object, read_text, shared_options
from qms.cli.fields import KINDS, entry_options
from qms.cli.target import Asked, open_session
from qms.memory.errors import invalid


@click.command(cls=Verb, example='memoryctl update release-train --title "Train" --tag release')
@click.argument("entry_id", metavar="ID")
@click.option("--body", metavar="TEXT|-", help="New text.")
@click.option("--kind", metavar="KIND", type=KINDS, help="New kind.")
@entry_options
@click.option("--clear", metavar="FIELD", multiple=True, help="Clear a field; may be repeated.")
@click.option("--patch", metavar="JSON|-", help="An RFC 7386 merge patch; options override it.")
@click.option("--if-version", metavar="VERSION", help="Update only this version.")
@shared_options
def update(
    asked: Asked,
    entry_id: str,
    body: str | None,
    kind: str | None,
    fields: dict[str, Any],
    clear: tuple[str, ...],
    patch: str | None,
    if_version: str | None,
) -> None:
    """Change some fields of a memory; tags and keywords are replaced, not added."""
    if body == "-" and patch == "-":
        raise invalid("body", "only one of --body and --patch can be standard input")
    change = read_object(patch, "patch") if patch is not None else {}
    change |= dict.fromkeys(clear) | fields
    if body is not None:
        change["body"] = read_text(body, "body")
    if kind is not None:
        change["kind"] = kind
    if not change:
        raise invalid("patch", "nothing to change: pass a field, as in --title")
    request: dict[str, Any] = {"id": entry_id, "patch": change}
    if if_version is not None:
        request["ifVersion"] = if_version
    with open_session(asked) as session:
        changed = session.call(session.project_of(entry_id), "patchEntry", request)
    if asked.as_json:
        output.answer(changed)
    else:
        output.line(changed["entry"]["id"])
    output.note(f"updated, version {changed['version']}")
    for warning in changed.get("warnings", ()):
        output.warning(warning)
