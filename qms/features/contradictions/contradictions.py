"""Lists contradictions between entries, by relations and by rules, and resolves them."""

from collections.abc import Callable, Iterator, Set
from itertools import islice
from typing import Any

from qms.commands.answers import Rendered
from qms.commands.call import Call, no_entry
from qms.commands.command import EXAMPLE_ID, OTHER_EXAMPLE_ID, command
from qms.commands.entry_writes import check_quota, living, write_rules
from qms.commands.formats import TokenBudget, longest
from qms.commands.requests import Request, Response
from qms.commands.rows import ItemTable
from qms.features.entries.contradicted import SUPERSEDES, is_open
from qms.features.recall.uses import touch
from qms.index.claims.claim_index import Clash
from qms.index.claims.claims import Disagreement
from qms.memory.access import AccessTier
from qms.memory.entry import Document
from qms.memory.entry_input import patched_document
from qms.memory.errors import invalid
from qms.memory.filters import Filter, Format, matches_document, matches_header
from qms.memory.retention import is_expired
from qms.memory.validation import instant_text
from qms.store.draft import Draft
from qms.store.view import Record

CONTRADICTS = "contradicts"
_LOSER = {"priority": 1, "confidence": 0.1}

PatchMaker = Callable[[Document], Document]


class ContradictionsRequest(Request, frozen=True):
    """The entries to check; all when left out."""

    filter: Filter | None = None
    format: Format = Format.JSON
    max_tokens: TokenBudget | None = None


class Contradiction(Response, frozen=True):
    """Two entries that cannot both be true, by a relation or by a rule."""

    id: str
    other_id: str
    reason: Disagreement


class ContradictionsAnswer(Response, frozen=True):
    """The contradictions, those by relation first; `has_more` when limit or budget cut them."""

    items: list[Contradiction]
    has_more: bool


class ResolveRequest(Request, frozen=True):
    """The entry that holds, and the one that does not."""

    winner: str
    loser: str


class ResolveAnswer(Response, frozen=True):
    """The two entries by id, and the version of the winner."""

    winner: str
    loser: str
    version: str


@command(
    tier=AccessTier.READER,
    toolset="lifecycle",
    help="List entries that may not both be true, as relations state or rules suspect",
    example={"filter": {"kind": "fact"}},
    read_only=True,
    idempotent=True,
)
def list_contradictions(
    call: Call, request: ContradictionsRequest
) -> ContradictionsAnswer | Rendered:
    """Return the contradictions of the project that relations state or rules find."""
    limit = call.settings.global_.limits.results
    wanted = call.visibility.shown_filter(request.filter or Filter())
    found = list(islice(_distinct(_all(call, wanted)), limit + 1))
    ids = ("id", "otherId")
    table = ItemTable(request.format, call.project, Contradiction, name="contradictions", ids=ids)

    def answer(count: int) -> ContradictionsAnswer | Rendered:
        shown, has_more = found[:count], len(found) > count
        if request.format is Format.JSON:
            return ContradictionsAnswer(items=shown, has_more=has_more)
        return table.rendered(shown, hasMore=has_more)

    return longest(answer, min(limit, len(found)), request.max_tokens)


@command(
    tier=AccessTier.CURATOR,
    toolset="lifecycle",
    help="Say which of two entries holds: it supersedes the other, which sinks",
    example={"winner": EXAMPLE_ID, "loser": OTHER_EXAMPLE_ID},
    destructive=True,
    idempotent=True,
)
def resolve_contradiction(call: Call, request: ResolveRequest) -> ResolveAnswer:
    """Let the winner supersede the loser and lower the loser's priority, in one change.

    The winner counts as used.
    """
    winner, loser = call.own_id(request.winner), call.own_id(request.loser)
    if winner == loser:
        raise invalid("loser", "must be another entry than the winner")
    call.find(request.winner)
    call.find(request.loser)

    def plan(draft: Draft) -> Record:
        _edit(call, draft, loser, lambda document: _lowered(document, winner))
        return _edit(call, draft, winner, lambda document: _superseding(call, document, loser))

    record = call.commit(plan)
    touch(call, [record])
    current = call.store.view.get(winner) or record
    return ResolveAnswer(winner=winner, loser=loser, version=current.version())


def _edit(call: Call, draft: Draft, entry_id: str, patch_for: PatchMaker) -> Record:
    writing = write_rules(call)
    before = living(draft, entry_id, call.now)
    if before is None:
        raise no_entry(entry_id)
    document = before.document()
    made = patched_document(patch_for(document), document, now=call.now, rules=writing.rules)
    check_quota(draft, writing, made, before)
    return draft.put(made)


def _lowered(document: Document, winner: str) -> Document:
    """Return the patch of the loser, without its own `supersedes` relation to the winner."""
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
        for entry_id, one in call.deadline.rows(call.store.view.records.items())
        if entry_id not in retired and _matches(wanted, one, call)
    ]
    records.sort(key=lambda one: one.header.id)  # a view has no order of its own
    for record in call.deadline.rows(records):
        yield from _stated(record, call, retired)
    claims = call.context.indexer.claims(call.project)
    if claims is None:
        return
    while claims.unread:
        call.deadline.check()
        claims.read()
    for record in call.deadline.rows(records):
        for clash in claims.against(record):
            if is_open(call, record, clash, retired):
                yield Contradiction(
                    id=record.header.id, other_id=clash.entry_id, reason=clash.reason
                )


def _stated(record: Record, call: Call, retired: Set[str]) -> Iterator[Contradiction]:
    for relation in record.header.relations:
        clash = Clash(relation.target_id, Disagreement.STATED)
        if relation.type == CONTRADICTS and is_open(call, record, clash, retired):
            yield Contradiction(id=record.header.id, other_id=clash.entry_id, reason=clash.reason)


def _distinct(found: Iterator[Contradiction]) -> Iterator[Contradiction]:
    """Yield each pair once, in whichever order it is found."""
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
