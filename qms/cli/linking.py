"""`memoryctl link` and `unlink`: relations between memories, one by one."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, read_pairs, shared_options
from qms.cli.reading import find
from qms.cli.removing import is_wanted, removal_options
from qms.cli.target import Asked, Session, open_session
from qms.domain.entry import split_id
from qms.service.links import RELATED


@click.command(cls=Verb, example="memoryctl link new-plan old-plan --type supersedes")
@click.argument("source_id", metavar="SOURCE")
@click.argument("target_id", metavar="TARGET")
@click.option(
    "--type",
    "relation",
    metavar="TYPE",
    default=RELATED,
    show_default=True,
    help="supersedes, contradicts, derivedFrom, or a word of your own.",
)
@click.option("--weight", type=click.FloatRange(0, 1), help="How close they are.")
@click.option("--metadata", metavar="KEY=VALUE", multiple=True, help="Metadata; may be repeated.")
@click.option("--if-version", metavar="VERSION", help="Link only this version of the source.")
@shared_options
def link(
    asked: Asked,
    source_id: str,
    target_id: str,
    relation: str,
    weight: float | None,
    metadata: tuple[str, ...],
    if_version: str | None,
) -> None:
    """Relate a memory to another; the relation belongs to the first."""
    request = {
        "sourceId": source_id,
        "targetId": target_id,
        "type": relation,
        "weight": weight,
        "metadata": read_pairs(metadata, "metadata") if metadata else None,
        "ifVersion": if_version,
    }
    with open_session(asked) as session:
        answer = session.call(session.project_of(source_id), "linkEntries", request)
    if asked.as_json:
        output.answer(answer)
    output.note("linked" if answer["linked"] else "they were linked so before")


@click.command(cls=Verb, example="memoryctl unlink new-plan old-plan --type supersedes")
@click.argument("source_id", metavar="SOURCE")
@click.argument("target_id", metavar="TARGET")
@click.option("--type", "relation", metavar="TYPE", help="Only of this type; else all of them.")
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
    """Take the relations from a memory to another away."""
    request = {
        "sourceId": source_id,
        "targetId": target_id,
        "type": relation,
        "ifVersion": if_version,
    }
    with open_session(asked) as session:
        answer = _would_unlink(session, source_id, target_id, relation)
        what = f"take {answer['unlinked']} relations away"
        if not answer["unlinked"]:
            output.note("nothing links them so")
        elif is_wanted(what, dry_run=dry_run, yes=yes):
            answer = session.call(session.project_of(source_id), "unlinkEntries", request)
            output.note(f"{answer['unlinked']} relations taken away")
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
