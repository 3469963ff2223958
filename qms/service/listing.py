"""listEntries: filtered, sorted, page by page, within a budget of tokens."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from msgspec import UNSET

from qms.codec.documents import over_limit
from qms.domain.errors import invalid
from qms.domain.lifecycle import is_expired
from qms.domain.queries import (
    Filter,
    Format,
    Include,
    Page,
    Sort,
    matches_document,
    matches_header,
    parse_sort,
)
from qms.service.answers import Flags, Rendered, flags_by_id, list_item
from qms.service.calls import Call
from qms.service.cursors import CursorSigner
from qms.service.formats import EntryTable, TokenBudget, flag_column, longest
from qms.service.requests import Request, Response
from qms.store.ordering import SORT_VALUES, SortValue
from qms.store.view import Record

_POSITIONS: dict[str, Any] = {
    "updated": tuple[int, datetime, str],
    "created": tuple[datetime, str],
    "title": tuple[str, str],
    "priority": tuple[int, str],
    "relevance": tuple[bool, int, int, float, int, str],
}


class ListRequest(Request, frozen=True):
    """Which entries, in which order, how much of each."""

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


def list_entries(call: Call, request: ListRequest) -> ListAnswer | Rendered:
    """Return one page of the project's entries."""
    page = request.page or Page()
    check_count("page.size", page.size, call.settings.global_.limits.results)
    sort, wanted = parse_sort(request.sort), request.filter or Filter()
    signer = CursorSigner(call.house.cursor_secret, call.project, request.sort, wanted)
    after = None if page.cursor is None else signer.read(page.cursor, _POSITIONS[sort.key])
    records = call.house.orderings(call.store).sorted_by(sort.key)
    matching = (
        record for record in _walk(records, sort, after) if _matches(record, wanted, call.now)
    )
    found = list(islice(matching, page.size + 1))

    def answer(count: int) -> ListAnswer | Rendered:
        shown = found[:count]
        cursor = signer.sign(SORT_VALUES[sort.key](shown[-1])) if count < len(found) else None
        return _written(call.project, shown, cursor, request)

    # At least one item comes with every page, so that paging ends.
    return longest(answer, min(page.size, len(found)), request.max_tokens)


def newest(call: Call, wanted: Filter) -> Iterator[Record]:
    """Yield the project's living entries that match, the last changed first."""
    records = call.house.orderings(call.store).sorted_by("updated")
    return (record for record in reversed(records) if _matches(record, wanted, call.now))


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


def _matches(record: Record, wanted: Filter, now: datetime) -> bool:
    return (
        not is_expired(record.header, now)
        and matches_header(wanted, record.header)
        and (not wanted.needs_document or matches_document(wanted, record.document()))
    )


def _written(
    project: str, shown: list[Record], cursor: str | None, request: ListRequest
) -> ListAnswer | Rendered:
    if request.format is not Format.JSON:
        table = EntryTable(request.format, request.include, project, flag_column(request.include))
        return table.rendered([table.row(record) for record in shown], nextCursor=cursor)
    items: list[Any] = [list_item(record, request.include) for record in shown]
    flags = flags_by_id(shown, request.include)
    return ListAnswer(items=items, next_cursor=cursor, flags=flags)
