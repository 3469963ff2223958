"""`memoryctl archive`: what left a project, and how it comes back or goes for good."""

from datetime import datetime
from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.fields import wire_fields
from qms.cli.listing import format_option, is_text, show_text
from qms.cli.moments import moment_option, wire_text
from qms.cli.removing import is_wanted, removal_options
from qms.cli.target import Asked, open_session
from qms.domain.entry import split_id
from qms.domain.errors import invalid
from qms.domain.limits import DEFAULT_LIMITS
from qms.domain.queries import DEFAULT_PAGE_SIZE


@click.group()
def archive() -> None:
    """Look after what left a project: expired, deleted, forgotten, consolidated, moved."""


@archive.command("list", cls=Verb, example="memoryctl archive list --reason expired --after 7d")
@click.option("--id", metavar="ID", help="The versions of this memory.")
@click.option("--reason", metavar="WHY", help="expired, deleted, forgotten, consolidated, moved.")
@click.option("--by", metavar="USER", help="Archived by this user.")
@click.option("--namespace", metavar="NAME", help="From this part of the project.")
@moment_option("--after", "archivedAfter", is_past=True, help="Archived since; 7d means days ago.")
@moment_option("--before", "archivedBefore", is_past=True, help="Archived before.")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, DEFAULT_LIMITS.results),
    default=DEFAULT_PAGE_SIZE,
    show_default=True,
    help="At most so many.",
)
@click.option("--cursor", metavar="CURSOR", help="Go on where an earlier list ended.")
@format_option
@shared_options
def list_archive(
    asked: Asked, limit: int, cursor: str | None, form: str | None, **wanted: Any
) -> None:
    """List archived memories, the last archived first."""
    page = {"size": limit} | ({"cursor": cursor} if cursor else {})
    request = {"filter": wire_fields(wanted), "page": page}
    if is_text(form):
        show_text(asked, "listArchive", {**request, "format": form})
        return
    with open_session(asked) as session:
        answer = session.call(session.project, "listArchive", request)
        keeps_cursors = session.backend.keeps_cursors
    if asked.as_json or form:
        output.answer(answer)
        return
    rows = [_row(item) for item in answer["items"]]
    if rows:
        output.table(("ARCHIVED", "WHY", "BY", "ID", "TITLE"), rows, flexible=4)
    else:
        output.note("nothing found")
    if answer["nextCursor"]:
        output.note(f"{len(rows)} shown, and there are more")
        if keeps_cursors:
            output.hint(f"go on with --cursor {answer['nextCursor']}")


@archive.command("restore", cls=Verb, example="memoryctl archive restore release-train")
@click.argument("entry_id", metavar="ID")
@moment_option("--archived", is_past=True, help="The version archived just then.")
@shared_options
def restore_archived(asked: Asked, entry_id: str, archived: datetime | None) -> None:
    """Bring an archived memory back; it has no end any more."""
    request = {"id": entry_id, "archivedUtc": None if archived is None else wire_text(archived)}
    with open_session(asked) as session:
        answer = session.call(session.project_of(entry_id), "restoreEntry", request)
    if asked.as_json:
        output.answer(answer)
    else:
        output.line(answer["entry"]["id"])


@archive.command("purge", cls=Verb, example="memoryctl archive purge --older-than-days 90")
@click.option(
    "--older-than-days", metavar="N", type=click.IntRange(0), help="What was archived before that."
)
@click.option("--all", "everything", is_flag=True, help="All of it.")
@removal_options
@shared_options
def purge(
    asked: Asked, older_than_days: int | None, everything: bool, dry_run: bool, yes: bool
) -> None:
    """Let archived memories go for good: those older than some days, or all."""
    if everything == (older_than_days is not None):
        raise invalid("older-than-days", "is required, or --all in its place")
    request = {"olderThanDays": older_than_days, "all": everything}
    with open_session(asked) as session:
        answer = session.call(session.project, "purgeArchive", {**request, "dryRun": True})
        if not answer["purged"]:
            output.note("nothing to purge")
        elif is_wanted(f"purge {answer['purged']} for good", dry_run=dry_run, yes=yes):
            answer = session.call(session.project, "purgeArchive", request)
            output.note(f"{answer['purged']} are gone for good")
    if asked.as_json:
        output.answer(answer)


@archive.command("stats", cls=Verb, example="memoryctl archive stats")
@shared_options
def archive_stats(asked: Asked) -> None:
    """Count what the archive holds, by reason."""
    with open_session(asked) as session:
        answer = session.call(session.project, "archiveStats", {})
    if asked.as_json:
        output.answer(answer)
        return
    output.line(f"{answer['archived']:,} archived, {answer['bytes']:,} bytes")
    for reason, count in answer["byReason"].items():
        output.line(f"  {reason:<20}{count:>8,}")
    if answer["archived"]:
        output.line(f"from {answer['oldestUtc']} to {answer['newestUtc']}")


def _row(item: dict[str, Any]) -> tuple[str, ...]:
    local_id = split_id(item["id"])[1]
    return (item["archivedUtc"], item["reason"], item["by"], local_id, item["title"])
