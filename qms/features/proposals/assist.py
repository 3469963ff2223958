"""Commands that use a language model: query terms, tags, contradictions, memories in a text.

Each has a rule that is used when there is no model or the model fails; the answer says which of
the two was used, and why. The model runs outside of the store's writer, and only proposes.
"""

from collections import Counter
from collections.abc import Callable
from typing import Annotated, Literal, TypeVar

import msgspec

from qms.commands.answers import Rendered
from qms.commands.call import Call
from qms.commands.command import EXAMPLE_ID, OTHER_EXAMPLE_ID, command
from qms.commands.requests import Request, Response
from qms.features.entries.entries import PatchRequest, patch_entry
from qms.features.mining.blocks import without_code
from qms.features.mining.by_model import statements_by_model
from qms.features.mining.statements import Rule, find_statements
from qms.features.recall.search import FoundEntry, SearchRequest, search_entries
from qms.index.claims.claims import claim_of, disagreement, title_choice
from qms.memory.access import AccessTier
from qms.memory.bodies import main_text
from qms.memory.errors import ConflictError, UnavailableError, invalid
from qms.memory.ports import ChatModel
from qms.memory.validation import over_limit
from qms.models.chat_contradictions import Verdict, judge_by_model
from qms.models.expand import expand_by_model, expand_by_rule
from qms.models.tags import tags_by_model, tags_by_rule
from qms.search.query import SearchQuery, check_query_bytes
from qms.store.view import Record

T = TypeVar("T")
Method = Literal["llm", "rule"]
Terms = Annotated[int, msgspec.Meta(ge=1, le=50)]
Tags = Annotated[int, msgspec.Meta(ge=1, le=20)]

_BEST_ENTRIES = 20
"""Terms come from at most this many of the best entries for a query."""
_ATTEMPTS = 3


class ExpandRequest(Request, frozen=True):
    """A query, and the number of further terms."""

    query: str
    max_terms: Terms = 10


class ExpandAnswer(Response, frozen=True):
    """The terms, and the method that found them."""

    original: str
    expanded_terms: list[str]
    method: Method
    reason: str | None


class AutoTagRequest(Request, frozen=True):
    """The entry to tag; without `apply` the tags are only returned."""

    id: str
    max_tags: Tags = 5
    apply: bool = True


class AutoTagAnswer(Response, frozen=True):
    """The new tags, and all tags of the entry."""

    id: str
    version: str
    new_tags: list[str]
    all_tags: list[str]
    applied: bool
    method: Method
    reason: str | None


class ExtractRequest(Request, frozen=True):
    """The text to search for memories."""

    text: str
    max_memories: Terms = 10


class Extracted(Response, frozen=True):
    """A sentence worth keeping."""

    rule: Rule
    text: str
    confidence: float


class ExtractAnswer(Response, frozen=True):
    """The sentences, and the method that found them; nothing is stored."""

    memories: list[Extracted]
    method: Method
    reason: str | None


class DetectRequest(Request, frozen=True):
    """The two entries to compare."""

    id_a: str
    id_b: str


class Compared(Response, frozen=True):
    """One of the compared entries."""

    id: str
    title: str


class DetectAnswer(Response, frozen=True):
    """Whether two entries contradict; `why` is the rule's name or the model's sentence."""

    contradicts: bool
    why: str | None
    memory_a: Compared
    memory_b: Compared
    method: Method
    reason: str | None


@command(
    tier=AccessTier.READER,
    toolset="lifecycle",
    help="Find further search terms for a query",
    example={"query": "database migration"},
    read_only=True,
    idempotent=True,
    searches=True,
)
def expand_query(call: Call, request: ExpandRequest) -> ExpandAnswer:
    """Return further terms for a query."""
    query, limit = request.query.strip(), request.max_terms
    if not query:
        raise invalid("query", "is empty")
    check_query_bytes(query, call.settings.global_.limits, "query")
    terms, method, reason = _proposed(
        call,
        lambda model: expand_by_model(model, query, limit),
        lambda: expand_by_rule(query, _best(call, query), limit),
    )
    return ExpandAnswer(original=query, expanded_terms=terms, method=method, reason=reason)


@command(
    tier=AccessTier.WRITER,
    toolset="lifecycle",
    help="Add tags to an entry that fit its text, or only propose them",
    example={"id": EXAMPLE_ID, "apply": False},
    idempotent=True,
)
def auto_tag(call: Call, request: AutoTagRequest) -> AutoTagAnswer:
    """Add tags to an entry, and keep its present ones."""
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


@command(
    tier=AccessTier.READER,
    toolset="lifecycle",
    help="Find facts, decisions and preferences in what people said; nothing is stored",
    example={"text": "We decided to use TOML because comments survive."},
    read_only=True,
    idempotent=True,
    after="detectContradiction",
)
def extract_memories(call: Call, request: ExtractRequest) -> ExtractAnswer:
    """Return the facts, decisions and preferences in a text."""
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


@command(
    tier=AccessTier.READER,
    toolset="lifecycle",
    help="Say whether two entries cannot both be true",
    example={"idA": EXAMPLE_ID, "idB": OTHER_EXAMPLE_ID},
    read_only=True,
    idempotent=True,
)
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
    bodies = [claim_of(record.header, record.document()) for record in (one, other)]
    titles = [title_choice(record.header) for record in (one, other)]
    for first, second in (bodies, titles):
        found = disagreement(first, second) if first and second else None
        if found is not None:
            return Verdict(contradicts=True, why=found.value)
    return Verdict(contradicts=False)


def _claim_text(record: Record) -> str:
    return f"{record.header.title}\n{main_text(record.header.kind, record.document()['body'])}"


def _proposed(
    call: Call, by_model: Callable[[ChatModel], T], by_rule: Callable[[], T]
) -> tuple[T, Method, str | None]:
    """Return the model's result, or else the rule's result and why the model has none."""
    chosen = call.context.indexer.chat()
    reason = chosen.reason
    if chosen.model is not None:
        try:
            return by_model(chosen.model), "llm", None
        except UnavailableError as error:
            reason = error.message
    return by_rule(), "rule", reason


def _best(call: Call, query: str) -> list[tuple[str, tuple[str, ...]]]:
    wanted = SearchRequest(query=SearchQuery(text=query, max_results=_BEST_ENTRIES, expand=False))
    found = search_entries(call, wanted)
    assert not isinstance(found, Rendered)
    entries = [result.entry for result in found.results]
    return [(one.title, tuple(one.tags)) for one in entries if isinstance(one, FoundEntry)]


def _known_tags(call: Call) -> Counter[str]:
    return Counter(tag for one in call.store.view.records.values() for tag in one.header.tags)


def _added(call: Call, entry_id: str, tags: list[str], *, applies: bool) -> tuple[list[str], str]:
    """Add tags to the entry as it is now; it may have changed while the model ran."""
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
