"""`memoryctl archive`: list, restore and purge archived memories."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.calls import calls
from qms.cli.confirm import is_wanted, removal_options
from qms.cli.fields import wire_fields
from qms.cli.instants import moment_option
from qms.cli.lists import format_option, is_text, show_text
from qms.cli.target import Asked, open_session
from qms.memory.entry import split_id
from qms.memory.errors import invalid
from qms.memory.filters import DEFAULT_PAGE_SIZE
from qms.memory.limits import DEFAULT_LIMITS


@click.group()
def archive() -> None:
    """Manage archived memories: expired, deleted, forgotten, consolidated or moved."""


@archive.command("list", cls=Verb, example="memoryctl archive list --reason expired --after 7d")
@click.option("--id", metavar="ID", help="Only versions of this memory.")
@click.option("--reason", metavar="WHY", help="expired, deleted, forgotten, consolidated or moved.")
@click.option("--by", metavar="USER", help="Archived by this user.")
@click.option("--namespace", metavar="NAME", help="From this namespace.")
@moment_option("--after", "archivedAfter", is_past=True, help="Archived after; 7d is 7 days ago.")
@moment_option("--before", "archivedBefore", is_past=True, help="Archived before.")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, DEFAULT_LIMITS.results),
    default=DEFAULT_PAGE_SIZE,
    show_default=True,
    help="Maximum number of results.",
)
@click.option("--cursor", metavar="CURSOR", help="Continue an earlier list.")
@format_option
@shared_options
def list_archive(
    asked: Asked, limit: int, cursor: str | None, form: str | None, **wanted: Any
) -> None:
    """List archived memories, newest first."""
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
        output.note(f"{len(rows)} shown, more available")
        if keeps_cursors:
            output.hint(f"continue with --cursor {answer['nextCursor']}")


@archive.command("restore", cls=Verb, example="memoryctl archive restore release-train")
@click.argument("id", metavar="ID")
@moment_option("--archived", "archivedUtc", is_past=True, help="The version archived at this time.")
@calls("restoreEntry", of_entry="id")
def restore_archived(answer: dict[str, Any]) -> None:
    """Restore an archived memory; it no longer expires."""
    output.line(answer["entry"]["id"])


@archive.command("purge", cls=Verb, example="memoryctl archive purge --older-than-days 90")
@click.option(
    "--older-than-days", metavar="N", type=click.IntRange(0), help="Archived more than N days ago."
)
@click.option("--all", "everything", is_flag=True, help="The whole archive.")
@removal_options
@shared_options
def purge(
    asked: Asked, older_than_days: int | None, everything: bool, dry_run: bool, yes: bool
) -> None:
    """Permanently delete archived memories: those older than N days, or all."""
    if everything == (older_than_days is not None):
        raise invalid("older-than-days", "is required, or --all in its place")
    request = {"olderThanDays": older_than_days, "all": everything}
    with open_session(asked) as session:
        answer = session.call(session.project, "purgeArchive", {**request, "dryRun": True})
        if not answer["purged"]:
            output.note("nothing to purge")
        elif is_wanted(f"permanently delete {answer['purged']} memories", dry_run=dry_run, yes=yes):
            answer = session.call(session.project, "purgeArchive", request)
            output.note(f"{answer['purged']} permanently deleted")
    if asked.as_json:
        output.answer(answer)


@archive.command("stats", cls=Verb, example="memoryctl archive stats")
@calls("archiveStats")
def archive_stats(answer: dict[str, Any]) -> None:
    """Count archived memories by reason."""
    output.line(f"{answer['archived']:,} archived, {answer['bytes']:,} bytes")
    for reason, count in answer["byReason"].items():
        output.line(f"  {reason:<20}{count:>8,}")
    if answer["archived"]:
        output.line(f"from {answer['oldestUtc']} to {answer['newestUtc']}")


def _row(item: dict[str, Any]) -> tuple[str, ...]:
    local_id = split_id(item["id"])[1]
    return (item["archivedUtc"], item["reason"], item["by"], local_id, item["title"])
