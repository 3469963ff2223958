"""`memoryctl list`: list memories by filter, as a table that fits the terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.fields import CURATION_TIERS, KIND_NAMES, KINDS, RETENTIONS, wire_fields
from qms.cli.get import show
from qms.cli.id_prefixes import shown_ids
from qms.cli.instants import moment_option
from qms.cli.target import Asked, Session, open_session
from qms.memory.errors import InvalidInputError, invalid
from qms.memory.filters import DEFAULT_PAGE_SIZE, SORT_KEYS, Format, Include
from qms.memory.limits import DEFAULT_LIMITS

_LEAST_TITLE = 20
"""If the title would get fewer columns than this, other columns are dropped."""


def filter_options(function: Any) -> Any:
    """Add the options that filter memories."""
    options = (
        click.option(
            "--kind",
            "kinds",
            metavar="KIND",
            type=KINDS,
            multiple=True,
            help=f"Of one of these kinds: {KIND_NAMES}.",
        ),
        click.option("--tag", "tags", metavar="TAG", multiple=True, help="With all of these tags."),
        click.option(
            "--any-tag", "anyTags", metavar="TAG", multiple=True, help="With one of these tags."
        ),
        click.option(
            "--curation-tier",
            "tiers",
            type=CURATION_TIERS,
            multiple=True,
            help="Of this curation tier; may be repeated.",
        ),
        click.option("--retention", type=RETENTIONS, help="Of this retention."),
        click.option("--namespace", metavar="NAME", help="In this namespace."),
        click.option("--epic-slug", "epicSlug", metavar="SLUG", help="Of this epic."),
        click.option("--epic-case", "epicCase", metavar="CASE", help="Of this case of an epic."),
        click.option(
            "--conversation-id", "conversationId", metavar="ID", help="Of this conversation."
        ),
        click.option("--agent-id", "agentId", metavar="ID", help="Written by this agent."),
        click.option(
            "--source-type", "sourceType", metavar="TYPE", help="From a source of this type."
        ),
        moment_option(
            "--created-after", "createdAfter", is_past=True, help="Created after; 7d is 7 days ago."
        ),
        moment_option("--created-before", "createdBefore", is_past=True, help="Created before."),
        moment_option("--updated-after", "updatedAfter", is_past=True, help="Updated after."),
        moment_option("--updated-before", "updatedBefore", is_past=True, help="Updated before."),
        click.option("--min-priority", "minPriority", type=int, help="Minimum priority."),
        click.option("--min-confidence", "minConfidence", type=float, help="Minimum confidence."),
        click.option("--pinned/--no-pinned", default=None, help="Only pinned, or only unpinned."),
        click.option("--metadata", metavar="KEY=VALUE", multiple=True, help="With this metadata."),
    )
    for option in reversed(options):
        function = option(function)
    return function


format_option = click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in Format]),
    help="Output format; json is the same as --json.",
)


@click.command("list", cls=Verb, example="memoryctl list --kind fact --tag search --limit 20")
@filter_options
@click.option(
    "--sort",
    metavar="KEY",
    default="-updated",
    show_default=True,
    help=f"{', '.join(SORT_KEYS)}; prefix - for descending order.",
)
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    default=DEFAULT_PAGE_SIZE,
    show_default=True,
    help="Maximum number of results.",
)
@click.option("--all", "everything", is_flag=True, help="List all, ignoring --limit.")
@click.option("--cursor", metavar="CURSOR", help="Continue an earlier list.")
@click.option(
    "--include",
    type=click.Choice([include.value for include in Include]),
    default=Include.SUMMARY.value,
    show_default=True,
    help="Parts of each memory to print.",
)
@format_option
@shared_options
def list_entries(
    asked: Asked,
    sort: str,
    limit: int,
    everything: bool,
    cursor: str | None,
    include: str,
    form: str | None,
    **wanted: Any,
) -> None:
    """List memories, most recently updated first."""
    request = {"filter": wire_fields(wanted), "sort": sort, "include": include}
    if is_text(form):
        if everything:
            raise invalid("all", f"{form} prints one page at a time: use --cursor")
        page = {"size": min(limit, DEFAULT_LIMITS.results)} | ({"cursor": cursor} if cursor else {})
        show_text(asked, "listEntries", {**request, "page": page, "format": form})
        return
    with open_session(asked) as session:
        found = _collect(session, request, None if everything else limit, cursor)
        keeps_cursors, project = session.backend.keeps_cursors, session.project
    if asked.as_json or form:
        output.answer(found)
        return
    _show_list(found["items"], include, project)
    if found["nextCursor"]:
        output.note(f"{len(found['items'])} shown, more available")
        option = f"--cursor {found['nextCursor']}" if keeps_cursors else "--all or a larger --limit"
        output.hint(f"continue with {option}")


def is_text(form: str | None) -> bool:
    """Return whether a format is text in rows, not JSON."""
    return form not in (None, Format.JSON)


def show_text(asked: Asked, command: str, request: Mapping[str, Any]) -> None:
    """Run a command and print its answer, which is text."""
    with open_session(asked) as session:
        output.text(session.call(session.project, command, request))


def pages(
    session: Session,
    request: Mapping[str, Any],
    limit: int | None = None,
    cursor: str | None = None,
    *,
    command: str = "listEntries",
) -> Iterator[dict[str, Any]]:
    """Yield the pages of a list: all, or as many as `limit` entries need."""
    largest, count = DEFAULT_LIMITS.results, 0
    while True:
        size = largest if limit is None else min(largest, limit - count)
        page = {"size": size} | ({"cursor": cursor} if cursor else {})
        try:
            answer = session.call(session.project, command, {**request, "page": page})
        except InvalidInputError as error:
            # This server has a lower limit than the default, and the error names it.
            allowed = error.details.get("maximum")
            if error.details.get("limit") != "results" or not isinstance(allowed, int):
                raise
            if not 0 < allowed < largest:
                raise
            largest = allowed
            continue
        yield answer
        count += len(answer["items"])
        cursor = answer["nextCursor"]
        if cursor is None or (limit is not None and count >= limit):
            return


def _collect(
    session: Session, request: Mapping[str, Any], limit: int | None, cursor: str | None
) -> dict[str, Any]:
    """Return up to `limit` entries of a list as one page."""
    items: list[Any] = []
    for page in pages(session, request, limit, cursor):
        items += page["items"]
        cursor = page["nextCursor"]
    return {"items": items, "nextCursor": cursor}


def _show_list(items: list[dict[str, Any]], include: str, project: str) -> None:
    match include:
        case Include.IDS:
            for item in items:
                output.line(item["id"])
        case Include.FULL:
            for number, item in enumerate(items):
                if number:
                    output.line("")
                show(item)
        case _ if items:
            _show_table(items, project)
        case _:
            output.note("nothing found")


def _show_table(items: list[dict[str, Any]], project: str) -> None:
    columns = {
        "TITLE": [item["title"] for item in items],
        "ID": shown_ids([item["id"] for item in items], project),
        "KIND": [item["kind"] for item in items],
        "UPDATED": [item["updatedUtc"][:16].replace("T", " ") for item in items],
        "TAGS": [", ".join(item["tags"]) for item in items],
    }
    if output.is_terminal():
        _drop_what_does_not_fit(columns)
    output.table(list(columns), list(zip(*columns.values(), strict=True)), flexible=0)


def _drop_what_does_not_fit(columns: dict[str, list[str]]) -> None:
    for name in ("TAGS", "UPDATED", "KIND"):
        others = [cells for head, cells in columns.items() if head != "TITLE"]
        used = sum(max(map(output.width, cells)) + len(output.GAP) for cells in others)
        if output.terminal_width() - used >= _LEAST_TITLE:
            return
        del columns[name]
