"""`memoryctl link` and `unlink`: add and remove relations between memories."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.calls import argument, calls
from qms.cli.confirm import is_wanted, removal_options
from qms.cli.get import find
from qms.cli.target import Asked, Session, open_session
from qms.cli.wire import RELATED
from qms.memory.entry import split_id


def _tell_linked(answer: dict[str, Any]) -> None:
    output.note("linked" if answer["linked"] else "already linked")


@click.command(cls=Verb, example="memoryctl link new-plan old-plan --type supersedes")
@argument("sourceId", metavar="SOURCE")
@argument("targetId", metavar="TARGET")
@click.option(
    "--type",
    metavar="TYPE",
    default=RELATED,
    show_default=True,
    help="supersedes, contradicts, derivedFrom, or a word of your own.",
)
@click.option("--weight", type=click.FloatRange(0, 1), help="Strength of the relation.")
@click.option("--metadata", metavar="KEY=VALUE", multiple=True, help="Metadata; may be repeated.")
@click.option(
    "--if-version", "ifVersion", metavar="VERSION", help="Link only this version of the source."
)
@calls("linkEntries", of_entry="sourceId", ends=_tell_linked)
def link(_answer: dict[str, Any]) -> None:
    """Add a relation from one memory to another."""


@click.command(cls=Verb, example="memoryctl unlink new-plan old-plan --type supersedes")
@click.argument("source_id", metavar="SOURCE")
@click.argument("target_id", metavar="TARGET")
@click.option("--type", "relation", metavar="TYPE", help="Only relations of this type [all].")
@click.option("--if-version", metavar="VERSION", help="Change only this version of the source.")
@removal_options
@shared_options
def unlink(
    asked: Asked,
    source_id: str,
    target_id: str,
    relation: str | None,
    if_version: str | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Remove the relations from one memory to another."""
    request = {
        "sourceId": source_id,
        "targetId": target_id,
        "type": relation,
        "ifVersion": if_version,
    }
    with open_session(asked) as session:
        answer = _would_unlink(session, source_id, target_id, relation)
        if not answer["unlinked"]:
            request["targetId"] = target_id = session.whole_id(target_id, "unlinkEntries")
            answer = _would_unlink(session, source_id, target_id, relation)
        what = f"remove {answer['unlinked']} relations"
        if not answer["unlinked"]:
            output.note("no such relation")
        elif is_wanted(what, dry_run=dry_run, yes=yes):
            answer = session.call(session.project_of(source_id), "unlinkEntries", request)
            output.note(f"{answer['unlinked']} relations removed")
    if asked.as_json:
        output.answer(answer)


def _would_unlink(
    session: Session, source_id: str, target_id: str, relation: str | None
) -> dict[str, Any]:
    found = find(session, source_id)
    entry = found["entry"]
    target = target_id if split_id(target_id)[0] else f"{split_id(entry['id'])[0]}:{target_id}"
    links = [
        one
        for one in entry.get("relations", ())
        if one["targetId"] == target and relation in (None, one["type"])
    ]
    return {"unlinked": len(links), "version": found["version"]}
