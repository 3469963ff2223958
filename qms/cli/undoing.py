"""`memoryctl history`, `restore`, `forget`, `erase`: what was, and how it comes back or goes."""

from datetime import datetime
from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.fields import wire_fields
from qms.cli.listing import filter_options
from qms.cli.moments import moment_option, wire_text
from qms.cli.removing import is_wanted, removal_options
from qms.cli.target import Asked, Session, open_session


@click.command(cls=Verb, example="memoryctl history release-train")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, help="How many versions.")
@click.argument("entry_id", metavar="ID")
@shared_options
def history(asked: Asked, entry_id: str, limit: int) -> None:
    """List the versions of a memory that store, archive and backups hold, the newest first."""
    with open_session(asked) as session:
        request = {"id": entry_id, "limit": limit, "full": asked.as_json}
        answer = session.call(session.project_of(entry_id), "history", request)
    if asked.as_json:
        output.answer(answer)
        return
    head = ("VERSION", "WRITTEN", "BY", "ENDED", "WHY", "TITLE")
    output.table(head, [_row(item) for item in answer["items"]], flexible=5)
    if answer["omitted"]:
        output.note(f"{answer['omitted']} older versions are not shown: use --limit")


@click.command(cls=Verb, example="memoryctl restore release-train --version 3f2a9c0b1d4e5f60")
@click.option("--version", "version", metavar="VERSION", help="One that `history` names.")
@click.argument("entry_id", metavar="ID")
@shared_options
def restore(asked: Asked, entry_id: str, version: str | None) -> None:
    """Bring a memory back: the last one archived, or any version that history names."""
    request = {"id": entry_id} | ({"version": version} if version else {})
    with open_session(asked) as session:
        answer = session.call(session.project_of(entry_id), "restoreEntry", request)
    if asked.as_json:
        output.answer(answer)
    else:
        output.line(answer["entry"]["id"])
        output.note(f"version {answer['version']} lives")


@click.command(cls=Verb, example="memoryctl forget --author ai:rogue --since 2d --dry-run")
@click.option("--author", metavar="NAME", help="What this user or agent made.")
@moment_option("--since", is_past=True, help="Only what the author made since; 2d means days ago.")
@click.option("--id", "ids", metavar="ID", multiple=True, help="These memories.")
@click.option("--undo", "undo_id", metavar="UNDO", help="Bring back what was forgotten as UNDO.")
@filter_options
@removal_options
@click.argument("pattern", metavar="[WORDS]", required=False)
@shared_options
def forget(
    asked: Asked,
    pattern: str | None,
    author: str | None,
    since: datetime | None,
    ids: tuple[str, ...],
    undo_id: str | None,
    dry_run: bool,
    yes: bool,
    **chosen: Any,
) -> None:
    """Move memories to the archive, by words, filters or author; --undo brings them back.

    All conditions that are given must hold, and one must be given.
    """
    wanted = {
        "pattern": pattern,
        "filter": wire_fields(chosen),
        "author": author,
        "since": None if since is None else wire_text(since),
        "ids": list(ids) or None,
    }
    with open_session(asked) as session:
        if undo_id is not None:
            answer = _undo(session, undo_id, dry_run=dry_run)
        else:
            answer = _forget(session, wanted, dry_run=dry_run, yes=yes)
    if asked.as_json:
        output.answer(answer)


@click.command(cls=Verb, example="memoryctl erase leaked-token --dry-run")
@removal_options
@click.argument("entry_id", metavar="ID")
@shared_options
def erase(asked: Asked, entry_id: str, dry_run: bool, yes: bool) -> None:
    """Erase a memory from all files, backups included: for a secret that leaked."""
    with open_session(asked) as session:
        project = session.project_of(entry_id)
        answer = session.call(project, "eraseEntry", {"id": entry_id, "dryRun": True})
        places = {**answer["found"], "backups": answer["backups"]}
        for place, count in places.items():
            if count:
                output.note(f"{place}: {count}")
        if is_wanted(f"erase {answer['id']} for good", dry_run=dry_run, yes=yes):
            answer = session.call(project, "eraseEntry", {"id": entry_id})
            output.note(f"{answer['id']} is erased")
    if asked.as_json:
        output.answer(answer)


def _forget(session: Session, wanted: dict[str, Any], *, dry_run: bool, yes: bool) -> Any:
    trial = session.call(session.project, "forgetEntries", {**wanted, "dryRun": True})
    for entry_id in trial["ids"]:
        output.note(entry_id)
    for entry_id in trial["notAllowed"]:
        output.warning(f"{entry_id} stays: your tier may not delete it")
    for entry_id in trial["changed"]:
        output.warning(f"{entry_id} was changed by the author: see `memoryctl history {entry_id}`")
    if not trial["ids"]:
        output.note("nothing to forget")
        return trial
    if not is_wanted(f"forget {trial['forgotten']} memories", dry_run=dry_run, yes=yes):
        return trial
    answer = session.call(session.project, "forgetEntries", wanted)
    output.note(f"{answer['forgotten']} forgotten; they are kept in the archive")
    output.hint(f"bring them back with `memoryctl forget --undo {answer['undoId']}`")
    if not session.asked.as_json:
        output.line(answer["undoId"])
    return answer


def _undo(session: Session, undo_id: str, *, dry_run: bool) -> Any:
    request = {"undoId": undo_id, "dryRun": dry_run}
    answer = session.call(session.project, "undoForget", request)
    if not session.asked.as_json:
        for entry_id in answer["ids"]:
            output.line(entry_id)
    for entry_id in answer["skipped"]:
        output.warning(f"{entry_id} is left alone: it lives, is past its end or is not yours")
    return answer


def _row(item: dict[str, Any]) -> tuple[str, ...]:
    mark = "*" if item["isPresent"] else ""
    written, ended = item["writtenUtc"] or "", item["endedUtc"] or ""
    by, why = item["by"] or "", item["reason"] or ""
    return (item["version"] + mark, written, by, ended, why, item["title"])
