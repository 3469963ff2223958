"""`memoryctl forget`: move memories to the archive by words, filter or author, and undo that."""

from datetime import datetime
from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.confirm import is_wanted, removal_options
from qms.cli.fields import wire_fields
from qms.cli.instants import moment_option, wire_text
from qms.cli.lists import filter_options
from qms.cli.target import Asked, Session, open_session


@click.command(cls=Verb, example="memoryctl forget --author ai:rogue --since 2d --dry-run")
@click.option("--author", metavar="NAME", help="Created by this user or agent.")
@moment_option("--since", is_past=True, help="Created by the author since; 2d is 2 days ago.")
@click.option("--id", "ids", metavar="ID", multiple=True, help="This memory; may be repeated.")
@click.option("--undo", "undo_id", metavar="UNDO", help="Restore what UNDO has forgotten.")
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
    """Move memories to the archive by words, filter or author; --undo restores them.

    A memory must match all conditions. At least one condition is required.
    """
    wanted = {
        "pattern": pattern,
        "filter": wire_fields(chosen) or None,
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


def _forget(session: Session, wanted: dict[str, Any], *, dry_run: bool, yes: bool) -> Any:
    trial = session.call(session.project, "forgetEntries", {**wanted, "dryRun": True})
    for entry_id in trial["ids"]:
        output.note(entry_id)
    for entry_id in trial["notAllowed"]:
        output.warning(f"{entry_id} is skipped: your tier may not delete it")
    for entry_id in trial["changed"]:
        output.warning(f"{entry_id} was changed by the author: see `memoryctl history {entry_id}`")
    if not trial["ids"]:
        output.note("nothing to forget")
        return trial
    if not is_wanted(f"forget {trial['forgotten']} memories", dry_run=dry_run, yes=yes):
        return trial
    answer = session.call(session.project, "forgetEntries", wanted)
    output.note(f"{answer['forgotten']} forgotten; they are in the archive")
    output.hint(f"undo with `memoryctl forget --undo {answer['undoId']}`")
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
        output.warning(f"{entry_id} is skipped: it exists again, has expired, or is not yours")
    return answer
