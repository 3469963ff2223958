"""listEntries: entries filtered, sorted and paged, within a token budget."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from msgspec import UNSET

from qms.commands.answers import Flags, Rendered, flags_by_id, list_item
from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.cursors import CursorSigner
from qms.commands.formats import EntryTable, TokenBudget, flag_column, longest
from qms.commands.requests import Request, Response
from qms.commands.visible import Visible
from qms.memory.access import AccessTier
from qms.memory.bodies import Kind
from qms.memory.errors import invalid
from qms.memory.filters import (
    Filter,
    Format,
    Include,
    Page,
    Sort,
    matches_document,
    matches_header,
    parse_sort,
)
from qms.memory.retention import is_expired
from qms.memory.validation import over_limit
from qms.store.sort_orders import SORT_VALUES, SortValue
from qms.store.view import Record

_POSITIONS: dict[str, Any] = {
    "updated": tuple[int, datetime, str],
    "created": tuple[datetime, str],
    "title": tuple[str, str],
    "priority": tuple[int, str],
    "relevance": tuple[bool, int, int, float, int, str],
}


class ListRequest(Request, frozen=True):
    """The filter, the order, and how much of each entry to return."""

    filter: Filter | None = None
    page: Page | None = None
    sort: str = "-updated"
    include: Include = Include.SUMMARY
    format: Format = Format.JSON
    max_tokens: TokenBudget | None = None


class ListAnswer(Response, frozen=True):
    """One page; `next_cursor` is null on the last one."""

    items: list[Any]
    next_cursor: str | None
    flags: Flags = UNSET


@command(
    tier=AccessTier.READER,
    toolset="core",
    help="List entries by filter, newest first, page by page. Use it to go through many",
    example={"filter": {"kinds": ["fact"], "tags": ["search"]}, "page": {"size": 20}},
    read_only=True,
    idempotent=True,
    brief=True,
)
def list_entries(call: Call, request: ListRequest) -> ListAnswer | Rendered:
    """Return one page of the project's entries."""
    page = request.page or Page()
    check_count("page.size", page.size, call.settings.global_.limits.results)
    sort, asked = parse_sort(request.sort), request.filter or Filter()
    signer = CursorSigner(call.context.cursor_secret, call.project, request.sort, asked)
    wanted = call.visibility.shown_filter(asked)
    after = None if page.cursor is None else signer.read(page.cursor, _POSITIONS[sort.key])
    records = call.context.sort_orders(call.store).sorted_by(sort.key)
    matching = (
        record
        for record in call.deadline.rows(_walk(records, sort, after))
        if _is_listed(record, wanted, call.now)
    )
    found = [call.visible(record) for record in islice(matching, page.size + 1)]

    def answer(count: int) -> ListAnswer | Rendered:
        shown = found[:count]
        cursor = signer.sign(SORT_VALUES[sort.key](shown[-1])) if count < len(found) else None
        return _written(call.project, shown, cursor, request)

    # Every page has at least one item, so that paging ends.
    return longest(answer, min(page.size, len(found)), request.max_tokens)


def newest(call: Call, wanted: Filter) -> Iterator[Record]:
    """Yield the project's matching entries that are not expired, the last changed first."""
    records = call.context.sort_orders(call.store).sorted_by("updated")
    rows = call.deadline.rows(reversed(records))
    return (record for record in rows if _is_listed(record, wanted, call.now))


def check_count(field: str, given: int, maximum: int) -> None:
    """Raise `InvalidInputError` for a number of results that is not between 1 and the limit."""
    if given < 1:
        raise invalid(field, f"{given} is below 1", minimum=1)
    if given > maximum:
        raise over_limit(field, given, maximum, "results")


def _walk(records: list[Record], sort: Sort, after: SortValue | None) -> Iterator[Record]:
    value_of = SORT_VALUES[sort.key]
    if sort.descending:
        end = len(records) if after is None else bisect_left(records, after, key=value_of)
        positions = range(end - 1, -1, -1)
    else:
        start = 0 if after is None else bisect_right(records, after, key=value_of)
        positions = range(start, len(records))
    return (records[position] for position in positions)


def matches(wanted: Filter, record: Record) -> bool:
    """Say whether a record fulfils every condition of a filter; chunks only if it names kinds."""
    return (
        (record.header.kind is not Kind.CHUNK or wanted.names_kinds)
        and matches_header(wanted, record.header)
        and (not wanted.needs_document or matches_document(wanted, record.document()))
    )


def _is_listed(record: Record, wanted: Filter, now: datetime) -> bool:
    return not is_expired(record.header, now) and matches(wanted, record)


def _written(
    project: str, shown: list[Visible], cursor: str | None, request: ListRequest
) -> ListAnswer | Rendered:
    if request.format is not Format.JSON:
        table = EntryTable(request.format, request.include, project, flag_column(request.include))
        return table.rendered([table.row(record) for record in shown], nextCursor=cursor)
    items: list[Any] = [list_item(record, request.include) for record in shown]
    flags = flags_by_id(shown, request.include)
    return ListAnswer(items=items, next_cursor=cursor, flags=flags)
