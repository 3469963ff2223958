"""Contradictions: found by rules when something is written, listed, and resolved by a curator."""

from collections.abc import Callable, Iterator, Set
from itertools import islice
from typing import Any

from qms.codec.documents import header_of, instant_text
from qms.domain.access import check_edit
from qms.domain.entry import Document
from qms.domain.errors import invalid
from qms.domain.lifecycle import is_expired
from qms.domain.queries import Filter, Format, matches_document, matches_header
from qms.ingest.claims import Clash
from qms.ingest.contradict import Disagreement
from qms.ingest.entries import patched_document
from qms.service.answers import Rendered
from qms.service.calls import Call, no_entry
from qms.service.formats import TokenBudget, longest
from qms.service.requests import Request, Response
from qms.service.tables import ItemTable
from qms.service.touching import touch
from qms.service.writing import check_quota, living, writing_for
from qms.store.draft import Draft
from qms.store.view import Record

MAX_NAMED = 5
"""So many potential contradictions are named when an entry is written."""

CONTRADICTS, SUPERSEDES = "contradicts", "supersedes"
_LOSER = {"priority": 1, "confidence": 0.1}

PatchMaker = Callable[[Document], Document]


class ContradictionsRequest(Request, frozen=True):
    """Of which entries; of all when it is left out."""

    filter: Filter | None = None
    format: Format = Format.JSON
    max_tokens: TokenBudget | None = None


class Contradiction(Response, frozen=True):
    """Two entries that cannot both be true: as a relation states, or as a rule suspects."""

    id: str
    other_id: str
    reason: Disagreement


class ContradictionsAnswer(Response, frozen=True):
    """The contradictions, those stated first; `has_more` when limit or budget cut them off."""

    items: list[Contradiction]
    has_more: bool


class ResolveRequest(Request, frozen=True):
    """Which of two entries holds."""

    winner: str
    loser: str


class ResolveAnswer(Response, frozen=True):
    """The two entries by id, and the version of the winner."""

    winner: str
    loser: str
    version: str


def potential_contradictions(call: Call, record: Record) -> tuple[str, ...]:
    """Return the entries of the project that an entry just written may contradict."""
    claims = call.house.library.claims(call.project)
    if claims is None:
        return ()
    claims.read()
    retired = call.store.superseded(call.now)
    if record.header.id in retired:
        return ()
    clashes = (one for one in claims.against(record) if _is_open(call, record, one, retired))
    return tuple(one.entry_id for one in islice(clashes, MAX_NAMED))


def list_contradictions(
    call: Call, request: ContradictionsRequest
) -> ContradictionsAnswer | Rendered:
    """Return what contradicts what in the project, as far as relations and rules know."""
    limit = call.settings.global_.limits.results
    found = list(islice(_distinct(_all(call, request.filter or Filter())), limit + 1))
    ids = ("id", "otherId")
    table = ItemTable(request.format, call.project, Contradiction, name="contradictions", ids=ids)

    def answer(count: int) -> ContradictionsAnswer | Rendered:
        shown, has_more = found[:count], len(found) > count
        if request.format is Format.JSON:
            return ContradictionsAnswer(items=shown, has_more=has_more)
        return table.rendered(shown, hasMore=has_more)

    return longest(answer, min(limit, len(found)), request.max_tokens)


def resolve_contradiction(call: Call, request: ResolveRequest) -> ResolveAnswer:
    """Let the winner supersede the loser, which sinks, in one change; the winner counts as used."""
    winner, loser = call.own_id(request.winner), call.own_id(request.loser)
    if winner == loser:
        raise invalid("loser", "is the winner too")
    call.find(request.winner)
    call.find(request.loser)

    def plan(draft: Draft) -> Record:
        _edit(call, draft, loser, lambda document: _sunk(document, winner))
        return _edit(call, draft, winner, lambda document: _superseding(call, document, loser))

    record = call.commit(plan)
    touch(call, [record])
    current = call.store.view.get(winner) or record
    return ResolveAnswer(winner=winner, loser=loser, version=current.version())


def _edit(call: Call, draft: Draft, entry_id: str, patch_for: PatchMaker) -> Record:
    writing = writing_for(call)
    before = living(draft, entry_id, call.now)
    if before is None:
        raise no_entry(entry_id)
    document = before.document()
    made = patched_document(patch_for(document), document, now=call.now, rules=writing.rules)
    check_edit(call.caller.access, before.header, header_of(made))
    check_quota(draft, writing, made, before)
    return draft.put(made)


def _sunk(document: Document, winner: str) -> Document:
    """Return what the loser becomes; what it won before, against the same entry, it has lost."""
    relations: list[dict[str, Any]] = document.get("relations", [])
    kept = [one for one in relations if not _supersedes(one, winner)]
    return dict(_LOSER) if kept == relations else {**_LOSER, "relations": kept}


def _superseding(call: Call, document: Document, loser: str) -> Document:
    relations: list[dict[str, Any]] = document.get("relations", [])
    if any(_supersedes(one, loser) for one in relations):
        return {}
    made = {"type": SUPERSEDES, "targetId": loser, "createdUtc": instant_text(call.now)}
    return {"relations": [*relations, made]}


def _supersedes(relation: dict[str, Any], target: str) -> bool:
    return bool(relation["type"] == SUPERSEDES and relation["targetId"] == target)


def _all(call: Call, wanted: Filter) -> Iterator[Contradiction]:
    retired = call.store.superseded(call.now)
    records = [
        one
        for entry_id, one in call.store.view.records.items()
        if entry_id not in retired and _matches(wanted, one, call)
    ]
    for record in records:
        yield from _stated(record, call, retired)
    claims = call.house.library.claims(call.project)
    if claims is None:
        return
    while claims.unread:
        claims.read()
    for record in records:
        for clash in claims.against(record):
            if _is_open(call, record, clash, retired):
                yield Contradiction(
                    id=record.header.id, other_id=clash.entry_id, reason=clash.reason
                )


def _stated(record: Record, call: Call, retired: Set[str]) -> Iterator[Contradiction]:
    for relation in record.header.relations:
        clash = Clash(relation.target_id, Disagreement.STATED)
        if relation.type == CONTRADICTS and _is_open(call, record, clash, retired):
            yield Contradiction(id=record.header.id, other_id=clash.entry_id, reason=clash.reason)


def _distinct(found: Iterator[Contradiction]) -> Iterator[Contradiction]:
    """Yield each pair once, whichever of the two was met first."""
    seen: set[frozenset[str]] = set()
    for one in found:
        pair = frozenset((one.id, one.other_id))
        if pair not in seen:
            seen.add(pair)
            yield one


def _matches(wanted: Filter, record: Record, call: Call) -> bool:
    return (
        not is_expired(record.header, call.now)
        and matches_header(wanted, record.header)
        and (not wanted.needs_document or matches_document(wanted, record.document()))
    )


def _is_open(call: Call, record: Record, clash: Clash, retired: Set[str]) -> bool:
    """Say whether nobody has settled yet which of two entries holds."""
    if clash.entry_id in retired:
        return False
    other = call.store.view.get(clash.entry_id)
    is_gone = other is None or is_expired(other.header, call.now)
    return not is_gone and other is not None and not _is_settled(record, other)


def _is_settled(one: Record, other: Record) -> bool:
    return any(
        relation.type == SUPERSEDES and relation.target_id == target.header.id
        for source, target in ((one, other), (other, one))
        for relation in source.header.relations
    )
