"""`memoryctl archive`: list, restore and purge archived memories."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb
from qms.cli.calls import Columns, Fields, calls, removes
from qms.cli.fields import wire_fields
from qms.cli.instants import moment_option
from qms.cli.lists import format_option
from qms.memory.entry import split_id
from qms.memory.errors import invalid
from qms.memory.filters import DEFAULT_PAGE_SIZE
from qms.memory.limits import DEFAULT_LIMITS


@click.group()
def archive() -> None:
    """Manage archived memories: expired, deleted, forgotten, consolidated or moved."""


_ARCHIVED = Columns(
    {
        "ARCHIVED": "archivedUtc",
        "WHY": "reason",
        "BY": "by",
        "ID": lambda one: split_id(one["id"])[1],
        "TITLE": "title",
    },
    flexible=4,
    empty="nothing found",
)


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
@calls("listArchive", _ARCHIVED, asks=lambda given: _list_request(**given), pages=True)
def list_archive() -> None:
    """List archived memories, newest first."""


def _list_request(limit: int, cursor: str | None, **wanted: Any) -> Fields:
    page = {"size": limit} | ({"cursor": cursor} if cursor else {})
    return {"filter": wire_fields(wanted), "page": page}


@archive.command("restore", cls=Verb, example="memoryctl archive restore release-train")
@click.argument("id", metavar="ID")
@moment_option("--archived", "archivedUtc", is_past=True, help="The version archived at this time.")
@calls("restoreEntry", of_entry="id")
def restore_archived(answer: Fields) -> None:
    """Restore an archived memory; it no longer expires."""
    output.line(answer["entry"]["id"])


def _purge_request(given: Fields) -> Fields:
    if given["all"] == (given["olderThanDays"] is not None):
        raise invalid("older-than-days", "is required, or --all in its place")
    return given


@archive.command("purge", cls=Verb, example="memoryctl archive purge --older-than-days 90")
@click.option(
    "--older-than-days",
    "olderThanDays",
    metavar="N",
    type=click.IntRange(0),
    help="Archived more than N days ago.",
)
@click.option("--all", is_flag=True, help="The whole archive.")
@removes(
    "purgeArchive",
    what="permanently delete {purged} memories".format_map,
    done="{purged} permanently deleted",
    count="purged",
    none="nothing to purge",
    asks=_purge_request,
)
def purge(_answer: Fields) -> None:
    """Permanently delete archived memories: those older than N days, or all."""


@archive.command("stats", cls=Verb, example="memoryctl archive stats")
@calls("archiveStats")
def archive_stats(answer: Fields) -> None:
    """Count archived memories by reason."""
    output.line(f"{answer['archived']:,} archived, {answer['bytes']:,} bytes")
    for reason, count in answer["byReason"].items():
        output.line(f"  {reason:<20}{count:>8,}")
    if answer["archived"]:
        output.line(f"from {answer['oldestUtc']} to {answer['newestUtc']}")
