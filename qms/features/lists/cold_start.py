"""Lists for the start of a conversation: curated entries and the cold start."""

from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.answers import (
    Excerpt,
    Flags,
    Rendered,
    beginning_of,
    flags_by_id,
    list_item,
    summary_fields,
)
from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.formats import EntryTable, TokenBudget, flag_column
from qms.commands.requests import Request, Response
from qms.commands.visible import Visible
from qms.features.lists.list_entries import newest
from qms.memory.access import AccessTier
from qms.memory.bodies import Kind
from qms.memory.entry import CurationTier
from qms.memory.filters import Filter, Format, Include
from qms.memory.json_schema import HIDDEN
from qms.search.budget import fit
from qms.text.flags import Flag, flags_of

COLD_START_TOKENS = 2000
PER_SECTION = 50
"""At most this many entries of a section are read; the token budget is reached long before."""

_CLOSED = frozenset({"done", "closed", "completed", "cancelled", "canceled", "resolved"})


class CuratedRequest(Request, frozen=True):
    """The tier, and how much of each entry to return."""

    tier: CurationTier | None = None
    include: Annotated[Include, HIDDEN] = Include.SUMMARY
    format: Annotated[Format, HIDDEN] = Format.JSON
    max_tokens: TokenBudget | None = None


class CuratedAnswer(Response, frozen=True):
    """Canonical and curated entries, the most trusted first."""

    items: list[Any]
    flags: Flags = UNSET


class ColdStartRequest(Request, frozen=True):
    """The token budget, and the part of the project."""

    max_tokens: Annotated[TokenBudget, msgspec.Meta(description="Size of the answer")] = (
        COLD_START_TOKENS
    )
    epic_slug: Annotated[str | None, msgspec.Meta(description="Only this epic")] = None
    namespace: Annotated[str | None, msgspec.Meta(description="Only this part")] = None
    format: Annotated[Format, HIDDEN] = Format.JSON


class FirstSight(Excerpt, frozen=True):
    """A summary with the beginning of the entry's text, and its flags."""

    flags: tuple[Flag, ...] | UnsetType = UNSET


class ColdStartAnswer(Response, frozen=True):
    """What an agent should know first; every entry is in one list only."""

    pinned: list[FirstSight]
    canonical: list[FirstSight]
    open_tasks: list[FirstSight]
    recent: list[FirstSight]


SECTIONS = ("pinned", "canonical", "openTasks", "recent")
"""The lists of a cold start, the most important first."""


@command(
    tier=AccessTier.READER,
    toolset="core",
    help="List curated and canonical entries. Use it for what is settled",
    example={"tier": "canonical"},
    read_only=True,
    idempotent=True,
    brief=True,
)
def list_curated(call: Call, request: CuratedRequest) -> CuratedAnswer | Rendered:
    """Return the canonical and curated entries, the last changed first in each tier."""
    tiers = [request.tier] if request.tier else [CurationTier.CANONICAL, CurationTier.CURATED]
    current = (record for tier in tiers for record in _current(call, Filter(tier=tier)))
    found = list(islice(current, call.settings.global_.limits.results))
    if request.format is Format.JSON:
        return _curated_objects(found, request)
    table = EntryTable(request.format, request.include, call.project, flag_column(request.include))
    rows = [table.row(record) for record in found]
    spent = table.size_of((), omitted=len(rows)) + len(str(len(rows)))
    kept, omitted = fit(rows, request.max_tokens, _row_size, spent_bytes=spent)
    return table.rendered(kept, omitted=omitted or None)


def _curated_objects(found: list[Visible], request: CuratedRequest) -> CuratedAnswer:
    def answer(records: list[Visible]) -> CuratedAnswer:
        items = [list_item(record, request.include) for record in records]
        return CuratedAnswer(items=items, flags=flags_by_id(records, request.include))

    def size_of(record: Visible) -> int:
        return len(msgspec.json.encode(answer([record])))

    kept, _ = fit(found, request.max_tokens, size_of)
    return answer(kept)


@command(
    tier=AccessTier.READER,
    toolset="core",
    also=("lite",),
    help="Show what to know first. Use it once, when a conversation begins",
    example={"maxTokens": 1000},
    read_only=True,
    idempotent=True,
    brief=True,
)
def cold_start(call: Call, request: ColdStartRequest) -> ColdStartAnswer | Rendered:
    """Return what an agent should know first: pinned and canonical entries before the newest."""
    scope = Filter(epic_slug=request.epic_slug, namespace=request.namespace)
    narrowed = msgspec.structs.replace
    sections: list[Iterable[Visible]] = [
        _current(call, narrowed(scope, pinned=True)),
        _current(call, narrowed(scope, tier=CurationTier.CANONICAL)),
        _open(_current(call, narrowed(scope, kind=Kind.TASK))),
        _current(call, scope),
    ]
    shown = _in_turns(list(_each_once(sections)))
    if request.format is Format.JSON:
        return _first_objects(shown, request.max_tokens)
    return _first_rows(call.project, shown, request)


def _each_once(sections: list[Iterable[Visible]]) -> Iterator[tuple[str, Visible]]:
    """Yield the first entries of each section with its name, each entry once."""
    seen: set[str] = set()
    for name, records in zip(SECTIONS, sections, strict=True):
        fresh = (record for record in records if record.header.id not in seen)
        for record in islice(fresh, PER_SECTION):
            seen.add(record.header.id)
            yield name, record


def _in_turns(shown: list[tuple[str, Visible]]) -> list[tuple[str, Visible]]:
    """Return pinned entries, then the other lists in turns, so that none uses up the budget."""
    pinned, *others = [[one for one in shown if one[0] == name] for name in SECTIONS]
    turns = zip_longest(*others)
    return pinned + [one for turn in turns for one in turn if one is not None]


def _first_objects(shown: list[tuple[str, Visible]], max_tokens: int) -> ColdStartAnswer:
    summaries = [(name, _first_sight(record)) for name, record in shown]
    empty = ColdStartAnswer(pinned=[], canonical=[], open_tasks=[], recent=[])
    kept, _ = fit(
        summaries,
        max_tokens,
        lambda one: len(msgspec.json.encode(one[1])) + 1,
        spent_bytes=len(msgspec.json.encode(empty)),
    )
    lists = [[one for name, one in kept if name == section] for section in SECTIONS]
    pinned, canonical, open_tasks, recent = lists
    return ColdStartAnswer(pinned=pinned, canonical=canonical, open_tasks=open_tasks, recent=recent)


def _first_rows(
    project: str, shown: list[tuple[str, Visible]], request: ColdStartRequest
) -> Rendered:
    extra = ("list", "snippet", "flags") if request.format is Format.TOON else ("list", "flags")
    table = EntryTable(request.format, Include.SUMMARY, project, extra)
    rows = [
        (name, table.row(record, list=name, snippet=beginning_of(record))) for name, record in shown
    ]
    spent = table.size_of(()) + len(str(len(rows)))
    kept, _ = fit(rows, request.max_tokens, lambda one: _row_size(one[1]), spent_bytes=spent)
    kept.sort(key=lambda one: SECTIONS.index(one[0]))
    return table.rendered([row for _, row in kept])


def _current(call: Call, wanted: Filter) -> Iterator[Visible]:
    """Yield the matching entries that are not superseded, the last changed first."""
    superseded = call.store.superseded(call.now)
    current = (record for record in newest(call, wanted) if record.header.id not in superseded)
    return map(call.visible, current)


def _open(tasks: Iterator[Visible]) -> Iterator[Visible]:
    for record in tasks:
        status = record.document()["body"].get("status")
        if not isinstance(status, str) or status.casefold() not in _CLOSED:
            yield record


def _first_sight(record: Visible) -> FirstSight:
    flags = flags_of(record.line) or UNSET
    return FirstSight(**summary_fields(record), snippet=beginning_of(record), flags=flags)


def _row_size(row: str) -> int:
    return len(row.encode()) + 1
