"""What an agent should know first: curated entries, and the cold start of a conversation."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Annotated, Any

import msgspec

from qms.codec.documents import title_from
from qms.domain.bodies import Kind, main_text
from qms.domain.entry import CurationTier
from qms.domain.queries import Filter, Include
from qms.search.budget import fit, tokens
from qms.service.answers import Summary, list_item, summary_fields
from qms.service.calls import Call
from qms.service.listing import check_format, newest
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
    format: str = "json"
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None


class CuratedAnswer(Response, frozen=True):
    """Entries that somebody has vouched for, the most trusted first."""

    items: list[Any]


class ColdStartRequest(Request, frozen=True):
    """How much to tell, and of which part of the project."""

    max_tokens: Annotated[int, msgspec.Meta(ge=1)] = COLD_START_TOKENS
    epic_slug: str | None = None
    namespace: str | None = None


class FirstSight(Summary, frozen=True):
    """A summary with the beginning of the entry's text."""

    snippet: str


class ColdStartAnswer(Response, frozen=True):
    """What to know before the first question; no entry stands in two lists."""

    pinned: list[FirstSight]
    canonical: list[FirstSight]
    open_tasks: list[FirstSight]
    recent: list[FirstSight]


def list_curated(call: Call, request: CuratedRequest) -> CuratedAnswer:
    """Return the canonical and curated entries, the last changed first in each tier."""
    check_format(request.format)
    tiers = [request.tier] if request.tier else [CurationTier.CANONICAL, CurationTier.CURATED]
    found = [record for tier in tiers for record in _standing(call, Filter(tier=tier))]
    items = [
        msgspec.Raw(msgspec.json.encode(list_item(record, request.include)))
        for record in found[: call.settings.global_.limits.results]
    ]
    kept, _ = fit(items, request.max_tokens, lambda item: len(bytes(item)) + 1)
    return CuratedAnswer(items=list(kept))


def cold_start(call: Call, request: ColdStartRequest) -> ColdStartAnswer:
    """Return what an agent should know first, the most binding before the newest."""
    scope = Filter(epic_slug=request.epic_slug, namespace=request.namespace)
    narrowed = msgspec.structs.replace
    sections: list[Iterable[Record]] = [
        _standing(call, narrowed(scope, pinned=True)),
        _standing(call, narrowed(scope, tier=CurationTier.CANONICAL)),
        _open(_standing(call, narrowed(scope, kind=Kind.TASK))),
        _standing(call, scope),
    ]
    seen: set[str] = set()
    left = request.max_tokens
    lists: list[list[FirstSight]] = []
    for records in sections:
        fresh = (record for record in records if record.header.id not in seen)
        shown = [_first_sight(record) for record in islice(fresh, PER_SECTION)]
        kept, _ = fit(shown, left, _size)
        seen.update(one.id for one in kept)
        left -= sum(tokens(_size(one)) for one in kept)
        lists.append(kept)
    pinned, canonical, open_tasks, recent = lists
    return ColdStartAnswer(pinned=pinned, canonical=canonical, open_tasks=open_tasks, recent=recent)


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
    snippet = title_from(main_text(record.header.kind, record.document()["body"]))
    return FirstSight(**summary_fields(record), snippet=snippet)


def _size(one: FirstSight) -> int:
    return len(msgspec.json.encode(one)) + 1
