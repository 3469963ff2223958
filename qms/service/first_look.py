"""What an agent should know first: curated entries, and the cold start of a conversation."""

from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.codec.documents import title_from
from qms.domain.bodies import Kind, main_text
from qms.domain.entry import CurationTier
from qms.domain.flags import Flag, flags_of
from qms.domain.queries import Filter, Format, Include
from qms.search.budget import fit
from qms.service.answers import (
    Flags,
    Rendered,
    Summary,
    flags_by_id,
    list_item,
    summary_fields,
)
from qms.service.calls import Call
from qms.service.formats import EntryTable, TokenBudget, flag_column
from qms.service.listing import newest
from qms.service.requests import Request, Response
from qms.store.view import Record

COLD_START_TOKENS = 2000
PER_SECTION = 50
"""So many entries of a section are looked at; the token budget is met long before."""

_CLOSED = frozenset({"done", "closed", "completed", "cancelled", "canceled", "resolved"})


class CuratedRequest(Request, frozen=True):
    """Which tier, and how much of each entry."""

    tier: CurationTier | None = None
    include: Include = Include.SUMMARY
    format: Format = Format.JSON
    max_tokens: TokenBudget | None = None


class CuratedAnswer(Response, frozen=True):
    """Entries that somebody has vouched for, the most trusted first."""

    items: list[Any]
    flags: Flags = UNSET


class ColdStartRequest(Request, frozen=True):
    """How much to tell, and of which part of the project."""

    max_tokens: TokenBudget = COLD_START_TOKENS
    epic_slug: str | None = None
    namespace: str | None = None
    format: Format = Format.JSON


class FirstSight(Summary, frozen=True):
    """A summary with the beginning of the entry's text."""

    snippet: str
    flags: tuple[Flag, ...] | UnsetType = UNSET


class ColdStartAnswer(Response, frozen=True):
    """What to know before the first question; no entry stands in two lists."""

    pinned: list[FirstSight]
    canonical: list[FirstSight]
    open_tasks: list[FirstSight]
    recent: list[FirstSight]


SECTIONS = ("pinned", "canonical", "openTasks", "recent")
"""The lists of a cold start, the most binding first."""


def list_curated(call: Call, request: CuratedRequest) -> CuratedAnswer | Rendered:
    """Return the canonical and curated entries, the last changed first in each tier."""
    tiers = [request.tier] if request.tier else [CurationTier.CANONICAL, CurationTier.CURATED]
    found = [record for tier in tiers for record in _standing(call, Filter(tier=tier))]
    found = found[: call.settings.global_.limits.results]
    if request.format is Format.JSON:
        return _curated_objects(found, request)
    table = EntryTable(request.format, request.include, call.project, flag_column(request.include))
    rows = [table.row(record) for record in found]
    spent = table.size_of((), omitted=len(rows)) + len(str(len(rows)))
    kept, omitted = fit(rows, request.max_tokens, _row_size, spent_bytes=spent)
    return table.rendered(kept, omitted=omitted or None)


def _curated_objects(found: list[Record], request: CuratedRequest) -> CuratedAnswer:
    def answer(records: list[Record]) -> CuratedAnswer:
        items = [list_item(record, request.include) for record in records]
        return CuratedAnswer(items=items, flags=flags_by_id(records, request.include))

    def size_of(record: Record) -> int:
        return len(msgspec.json.encode(answer([record])))

    kept, _ = fit(found, request.max_tokens, size_of)
    return answer(kept)


def cold_start(call: Call, request: ColdStartRequest) -> ColdStartAnswer | Rendered:
    """Return what an agent should know first, the most binding before the newest."""
    scope = Filter(epic_slug=request.epic_slug, namespace=request.namespace)
    narrowed = msgspec.structs.replace
    sections: list[Iterable[Record]] = [
        _standing(call, narrowed(scope, pinned=True)),
        _standing(call, narrowed(scope, tier=CurationTier.CANONICAL)),
        _open(_standing(call, narrowed(scope, kind=Kind.TASK))),
        _standing(call, scope),
    ]
    shown = _in_turns(list(_each_once(sections)))
    if request.format is Format.JSON:
        return _first_objects(shown, request.max_tokens)
    return _first_rows(call.project, shown, request)


def _each_once(sections: list[Iterable[Record]]) -> Iterator[tuple[str, Record]]:
    """Yield the first entries of each section with its name, each entry once."""
    seen: set[str] = set()
    for name, records in zip(SECTIONS, sections, strict=True):
        fresh = (record for record in records if record.header.id not in seen)
        for record in islice(fresh, PER_SECTION):
            seen.add(record.header.id)
            yield name, record


def _in_turns(shown: list[tuple[str, Record]]) -> list[tuple[str, Record]]:
    """Return what must be shown, then the other lists in turns, so that none takes all the room."""
    pinned, *others = [[one for one in shown if one[0] == name] for name in SECTIONS]
    turns = zip_longest(*others)
    return pinned + [one for turn in turns for one in turn if one is not None]


def _first_objects(shown: list[tuple[str, Record]], max_tokens: int) -> ColdStartAnswer:
    sights = [(name, _first_sight(record)) for name, record in shown]
    empty = ColdStartAnswer(pinned=[], canonical=[], open_tasks=[], recent=[])
    kept, _ = fit(
        sights,
        max_tokens,
        lambda one: len(msgspec.json.encode(one[1])) + 1,
        spent_bytes=len(msgspec.json.encode(empty)),
    )
    lists = [[sight for name, sight in kept if name == section] for section in SECTIONS]
    pinned, canonical, open_tasks, recent = lists
    return ColdStartAnswer(pinned=pinned, canonical=canonical, open_tasks=open_tasks, recent=recent)


def _first_rows(
    project: str, shown: list[tuple[str, Record]], request: ColdStartRequest
) -> Rendered:
    extra = ("list", "snippet", "flags") if request.format is Format.TOON else ("list", "flags")
    table = EntryTable(request.format, Include.SUMMARY, project, extra)
    rows = [
        (name, table.row(record, list=name, snippet=_beginning(record))) for name, record in shown
    ]
    spent = table.size_of(()) + len(str(len(rows)))
    kept, _ = fit(rows, request.max_tokens, lambda one: _row_size(one[1]), spent_bytes=spent)
    kept.sort(key=lambda one: SECTIONS.index(one[0]))
    return table.rendered([row for _, row in kept])


def _standing(call: Call, wanted: Filter) -> Iterator[Record]:
    """Yield the entries that match and that nothing has replaced, the last changed first."""
    retired = call.store.superseded(call.now)
    return (record for record in newest(call, wanted) if record.header.id not in retired)


def _open(tasks: Iterator[Record]) -> Iterator[Record]:
    for record in tasks:
        status = record.document()["body"].get("status")
        if not isinstance(status, str) or status.casefold() not in _CLOSED:
            yield record


def _first_sight(record: Record) -> FirstSight:
    flags = flags_of(record.line) or UNSET
    return FirstSight(**summary_fields(record), snippet=_beginning(record), flags=flags)


def _beginning(record: Record) -> str:
    return title_from(main_text(record.header.kind, record.document()["body"]))


def _row_size(row: str) -> int:
    return len(row.encode()) + 1
