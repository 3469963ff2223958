"""What a language model may help with: other words, tags, contradictions, memories in a text.

Each has a plain rule beside it, which serves when there is no model or it fails; the answer says
which of the two it was, and why. The model is asked before a writer is entered, and only proposes.
"""

from collections import Counter
from collections.abc import Callable
from typing import Annotated, Literal, TypeVar

import msgspec

from qms.codec.documents import over_limit
from qms.domain.bodies import main_text
from qms.domain.errors import ConflictError, UnavailableError, invalid
from qms.domain.ports import ChatModel
from qms.ingest.contradict import claim_of, disagreement
from qms.ingest.contradict_by_model import Verdict, judge_by_model
from qms.ingest.enrich import tags_by_model, tags_by_rule
from qms.ingest.mining.blocks import without_code
from qms.ingest.mining.by_model import statements_by_model
from qms.ingest.mining.statements import Rule, find_statements
from qms.search.expand import expand_by_model, expand_by_rule
from qms.search.query import SearchQuery
from qms.service.answers import Rendered, Summary
from qms.service.calls import Call
from qms.service.entries import PatchRequest, patch_entry
from qms.service.requests import Request, Response
from qms.service.searching import SearchRequest, search_entries
from qms.store.view import Record

T = TypeVar("T")
Method = Literal["llm", "rule"]
Terms = Annotated[int, msgspec.Meta(ge=1, le=50)]
Tags = Annotated[int, msgspec.Meta(ge=1, le=20)]

_LOOKED_AT = 20
"""So many of the best entries for a query lend it words."""
_ATTEMPTS = 3


class ExpandRequest(Request, frozen=True):
    """A query, and how many further terms are wanted."""

    query: str
    max_terms: Terms = 10


class ExpandAnswer(Response, frozen=True):
    """The terms, and who found them."""

    original: str
    expanded_terms: list[str]
    method: Method
    reason: str | None


class AutoTagRequest(Request, frozen=True):
    """Which entry; without `apply` the tags are only proposed."""

    id: str
    max_tags: Tags = 5
    apply: bool = True


class AutoTagAnswer(Response, frozen=True):
    """The tags that are new, and all of them."""

    id: str
    version: str
    new_tags: list[str]
    all_tags: list[str]
    applied: bool
    method: Method
    reason: str | None


class ExtractRequest(Request, frozen=True):
    """What people said."""

    text: str
    max_memories: Terms = 10


class Extracted(Response, frozen=True):
    """A sentence worth keeping."""

    rule: Rule
    text: str
    confidence: float


class ExtractAnswer(Response, frozen=True):
    """The sentences, and who picked them; nothing is stored."""

    memories: list[Extracted]
    method: Method
    reason: str | None


class DetectRequest(Request, frozen=True):
    """Which two entries."""

    id_a: str
    id_b: str


class Compared(Response, frozen=True):
    """One of the two."""

    id: str
    title: str


class DetectAnswer(Response, frozen=True):
    """Whether both can be true; `why` is a word of the rule or a sentence of the model."""

    contradicts: bool
    why: str | None
    memory_a: Compared
    memory_b: Compared
    method: Method
    reason: str | None


def expand_query(call: Call, request: ExpandRequest) -> ExpandAnswer:
    """Return further terms for a query."""
    query, limit = request.query.strip(), request.max_terms
    most = call.settings.global_.limits.query_bytes
    if not query:
        raise invalid("query", "is empty")
    if len(query.encode()) > most:
        raise over_limit("query", len(query.encode()), most, "queryBytes")
    terms, method, reason = _proposed(
        call,
        lambda model: expand_by_model(model, query, limit),
        lambda: expand_by_rule(query, _best(call, query), limit),
    )
    return ExpandAnswer(original=query, expanded_terms=terms, method=method, reason=reason)


def auto_tag(call: Call, request: AutoTagRequest) -> AutoTagAnswer:
    """Add tags to an entry, beside those that it has."""
    record = call.find(call.own_id(request.id))
    header, limit = record.header, request.max_tags
    text = main_text(header.kind, record.document()["body"])
    tags, method, reason = _proposed(
        call,
        lambda model: tags_by_model(model, header.title, text, limit),
        lambda: tags_by_rule(header.title, text, _known_tags(call), limit),
    )
    new, version = _added(call, request.id, tags, applies=request.apply)
    return AutoTagAnswer(
        id=header.id,
        version=version,
        new_tags=new,
        all_tags=[*call.find(header.id).header.tags] if request.apply else [*header.tags, *new],
        applied=request.apply and bool(new),
        method=method,
        reason=reason,
    )


def extract_memories(call: Call, request: ExtractRequest) -> ExtractAnswer:
    """Return the facts, decisions and preferences in what people said."""
    limit, most = request.max_memories, call.settings.global_.limits.text_bytes
    if len(request.text.encode()) > most:
        raise over_limit("text", len(request.text.encode()), most, "textBytes")
    found, method, reason = _proposed(
        call,
        lambda model: statements_by_model(model, request.text, limit),
        lambda: list(find_statements(without_code(request.text)))[:limit],
    )
    memories = [Extracted(rule=s.rule, text=s.text, confidence=s.confidence) for s in found]
    return ExtractAnswer(memories=memories, method=method, reason=reason)


def detect_contradiction(call: Call, request: DetectRequest) -> DetectAnswer:
    """Say whether two entries contradict each other; nothing is changed."""
    one, other = call.find(request.id_a), call.find(request.id_b)
    if one.header.id == other.header.id:
        raise invalid("idB", "is the same entry")
    verdict, method, reason = _proposed(
        call,
        lambda model: judge_by_model(model, _claim_text(one), _claim_text(other)),
        lambda: _judged_by_rule(one, other),
    )
    return DetectAnswer(
        contradicts=verdict.contradicts,
        why=verdict.why or None,
        memory_a=Compared(id=one.header.id, title=one.header.title),
        memory_b=Compared(id=other.header.id, title=other.header.title),
        method=method,
        reason=reason,
    )


def _judged_by_rule(one: Record, other: Record) -> Verdict:
    claims = [claim_of(record.header, record.document()) for record in (one, other)]
    if claims[0] is None or claims[1] is None:
        return Verdict(contradicts=False)
    found = disagreement(claims[0], claims[1])
    return Verdict(contradicts=found is not None, why=found.value if found else "")


def _claim_text(record: Record) -> str:
    return f"{record.header.title}\n{main_text(record.header.kind, record.document()['body'])}"


def _proposed(
    call: Call, by_model: Callable[[ChatModel], T], by_rule: Callable[[], T]
) -> tuple[T, Method, str | None]:
    """Return what the model proposes, else what the rule says and why the model did not."""
    chosen = call.house.library.chat()
    reason = chosen.reason
    if chosen.model is not None:
        try:
            return by_model(chosen.model), "llm", None
        except UnavailableError as error:
            reason = error.message
    return by_rule(), "rule", reason


def _best(call: Call, query: str) -> list[tuple[str, tuple[str, ...]]]:
    wanted = SearchRequest(query=SearchQuery(text=query, max_results=_LOOKED_AT, expand=False))
    found = search_entries(call, wanted)
    assert not isinstance(found, Rendered)
    entries = [result.entry for result in found.results]
    return [(one.title, tuple(one.tags)) for one in entries if isinstance(one, Summary)]


def _known_tags(call: Call) -> Counter[str]:
    return Counter(tag for one in call.store.view.records.values() for tag in one.header.tags)


def _added(call: Call, entry_id: str, tags: list[str], *, applies: bool) -> tuple[list[str], str]:
    """Add tags to an entry as it is now, whoever changed it while the model was asked."""
    for attempt in range(_ATTEMPTS):
        record = call.find(call.own_id(entry_id))
        version = record.version()
        new = [tag for tag in tags if tag not in record.header.tags]
        if not new or not applies:
            break
        patch = {"tags": [*record.header.tags, *new]}
        try:
            changed = patch_entry(call, PatchRequest(id=entry_id, patch=patch, if_version=version))
        except ConflictError:
            if attempt + 1 == _ATTEMPTS:
                raise
            continue
        return new, changed.version
    return new, version
