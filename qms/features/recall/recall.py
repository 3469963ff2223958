"""recall: return what a model should read for a query, and count the matching results as used."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.answers import Rendered
from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.formats import TokenBudget
from qms.commands.requests import Request, Response
from qms.features.recall.search import SearchRequest, Shown, look, note_recall, show, snippet_of
from qms.features.recall.uses import touch
from qms.index.indexed_entry import IndexDocument, index_document
from qms.index.words.fields import KEYWORDS, NAMES, PARTS, STEM, TAGS, TITLE, field_tokens
from qms.index.words.query_plan import KeywordQuery
from qms.memory.access import AccessTier
from qms.memory.bodies import Kind, main_text, usual_kinds
from qms.memory.errors import invalid
from qms.memory.filters import Filter, Format, Include
from qms.memory.json_schema import HIDDEN
from qms.memory.relations import AwareTime
from qms.memory.validation import instant_text
from qms.search.budget import BYTES_PER_TOKEN
from qms.search.outcome import Mode
from qms.search.profiles import ProfileName
from qms.search.query import SearchQuery
from qms.store.view import Record
from qms.text.flags import Flag, flags_of
from qms.text.terms import ENGLISH, stems

if TYPE_CHECKING:  # numpy: after the port answers
    from qms.search.pipeline import Found, Result

DEFAULT_LIMIT = 5
MAX_LIMIT = 50
DEFAULT_TOKENS = 1500

LEAST_COSINE = 0.2
"""With the shipped model, sentences on different subjects mostly stay below 0.17."""

LEAST_TEXT_BYTES = 200
"""A memory whose text would be cut to less than this is left out."""

_CUT = "…"


class RecallRequest(Request, frozen=True):
    """The query in plain words, conditions, and the size of the answer."""

    query: Annotated[str, msgspec.Meta(min_length=1, description="What you want to know")]
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIMIT, description="How many at most")] = (
        DEFAULT_LIMIT
    )
    kind: Annotated[Kind | None, usual_kinds("Only this kind")] = None
    tags: Annotated[list[str] | None, msgspec.Meta(description="With all of these")] = None
    since: Annotated[AwareTime | None, msgspec.Meta(description="Changed since")] = None
    conversation_id: Annotated[str | None, msgspec.Meta(description="Of this conversation")] = None
    max_tokens: Annotated[TokenBudget, msgspec.Meta(description="Size of the answer")] = (
        DEFAULT_TOKENS
    )
    filter: Annotated[Filter | None, HIDDEN] = None
    profile: Annotated[ProfileName, HIDDEN] = ProfileName.DEFAULT
    include_shared: Annotated[bool, HIDDEN] = True
    expand: Annotated[bool, HIDDEN] = True
    touch: Annotated[bool, HIDDEN] = True
    include: Annotated[Include | None, HIDDEN] = None
    format: Annotated[Format, HIDDEN] = Format.JSON


class RecalledMemory(Response, frozen=True, kw_only=True):
    """What a model reads of one memory; `include` leaves fields out."""

    id: str
    title: str | UnsetType = UNSET
    text: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    tags: tuple[str, ...] | UnsetType = UNSET
    updated_utc: str | UnsetType = UNSET
    score: float
    flags: tuple[Flag, ...] | UnsetType = UNSET


class RecallAnswer(Response, frozen=True, kw_only=True):
    """The memories, best first, and how many more the budget left out."""

    memories: list[RecalledMemory]
    omitted: int


@command(
    tier=AccessTier.READER,
    toolset="core",
    also=("lite", "lifecycle"),
    help="Find memories by meaning and words. Use it before you answer, decide or store;"
    " not for a known id",
    example={"query": "how do we deploy the parser", "limit": 5},
    read_only=True,
    searches=True,
    brief=True,
)
def recall(call: Call, request: RecallRequest) -> RecallAnswer | Rendered:
    """Return the memories for a query, and count those with a real match as used."""
    query = SearchQuery(
        text=request.query,
        max_results=min(request.limit, call.settings.global_.limits.results),
        include_shared=request.include_shared,
        expand=request.expand,
        filter=_conditions(request),
        profile=request.profile,
        max_tokens=request.max_tokens,
    )
    with call.context.indexer.priority.first():
        found = look(call, query, text_field="query")
        answer: RecallAnswer | Rendered
        if request.format is Format.JSON:
            answer, records = _memories(call, found, request)
        else:
            include = request.include or Include.SNIPPET
            search = SearchRequest(query=query, include=include, format=request.format)
            shown = show(call, found, search)
            assert isinstance(shown.answer, Rendered)
            answer, records = shown.answer, shown.records
    if request.touch:
        touch(call, _used(found, records))
    note_recall(call, records)
    return answer


def recall_results(call: Call, query: SearchQuery, *, text_field: str) -> Shown:
    """Return the results of a query as a search does, and count those with a real match as used."""
    search = SearchRequest(query=query, include=Include.FULL)
    with call.context.indexer.priority.first():
        found = look(call, query, text_field=text_field)
        shown = show(call, found, search)
    touch(call, _used(found, shown.records))
    note_recall(call, shown.records)
    return shown


def _conditions(request: RecallRequest) -> Filter | None:
    """Return the filter, with the flat conditions of the request in it."""
    wanted = {
        "kind": request.kind,
        "tags": frozenset(request.tags or ()) or None,
        "updated_after": request.since,
        "conversation_id": request.conversation_id,
    }
    given = {name: value for name, value in wanted.items() if value is not None}
    if not given:
        return request.filter
    base = request.filter or Filter()
    for name in given:
        if getattr(base, name) not in (None, frozenset()):
            raise invalid("filter", f"has the condition {name} too: give it once")
    return msgspec.structs.replace(base, **given)


def _memories(
    call: Call, found: "Found", request: RecallRequest
) -> tuple[RecallAnswer, list[Record]]:
    include = request.include or Include.FULL
    pairs = [(one, _memory(call, one, found, include)) for one in found.results]
    budget = request.max_tokens * BYTES_PER_TOKEN - len(b'{"memories":[],"omitted":000}')
    kept = _fitted([memory for _, memory in pairs], budget)
    answer = RecallAnswer(memories=kept, omitted=len(pairs) - len(kept))
    return answer, [one.record for one, _ in pairs[: len(kept)]]


def _memory(call: Call, result: "Result", found: "Found", include: Include) -> RecalledMemory:
    score = round(result.score, 3)
    if include is Include.IDS:
        return RecalledMemory(id=result.id, score=score)
    record = call.visible(result.record)
    header = record.header
    return RecalledMemory(
        id=header.id,
        title=header.title,
        text=_text(record.document(), result, found, include),
        kind=header.kind,
        tags=header.tags,
        updated_utc=instant_text(header.timestamps.updated_utc),
        score=score,
        flags=flags_of(record.line) or UNSET,
    )


def _text(
    document: dict[str, object], result: "Result", found: "Found", include: Include
) -> str | UnsetType:
    match include:
        case Include.FULL:
            body = document["body"]
            return main_text(result.record.header.kind, body) if isinstance(body, dict) else UNSET
        case Include.SNIPPET:
            return snippet_of(result, document, found)
        case _:
            return UNSET


def _fitted(memories: Sequence[RecalledMemory], budget_bytes: int) -> list[RecalledMemory]:
    """Return the first memories that fit a budget; long texts are cut before one is left out.

    The budget is shared evenly: what a short text leaves goes to the longer ones.
    """
    for count in range(len(memories), 0, -1):
        sizes = [len(msgspec.json.encode(one)) + 1 for one in memories[:count]]
        if sum(sizes) <= budget_bytes:
            return list(memories[:count])
        around = [size - _text_bytes(one) for size, one in zip(sizes, memories, strict=False)]
        share = _share([_text_bytes(one) for one in memories[:count]], budget_bytes - sum(around))
        if share >= LEAST_TEXT_BYTES or (count == 1 and share > 0):
            return [_cut(one, share) for one in memories[:count]]
    return []


def _share(sizes: Sequence[int], budget_bytes: int) -> int:
    """Return the largest size that all texts may have so that they fit together."""
    for number, size in enumerate(sorted(sizes)):
        share = budget_bytes // (len(sizes) - number)
        if size > share:
            return max(share, 0)
        budget_bytes -= size
    return max(sizes, default=0)


def _text_bytes(memory: RecalledMemory) -> int:
    return len(msgspec.json.encode(memory.text)) - 2 if memory.text else 0


def _cut(memory: RecalledMemory, size_bytes: int) -> RecalledMemory:
    if not memory.text or _text_bytes(memory) <= size_bytes:
        return memory
    text = memory.text
    # A character that JSON escapes is longer there than in UTF-8.
    room = max(0, size_bytes - len(_CUT.encode()))
    low, high = 0, min(len(text), room)
    while low < high:
        middle = (low + high + 1) // 2
        if len(msgspec.json.encode(text[:middle])) - 2 <= room:
            low = middle
        else:
            high = middle - 1
    return msgspec.structs.replace(memory, text=text[:low].rstrip() + _CUT)


def _used(found: "Found", shown: list[Record]) -> list[Record]:
    """Return the results that match by a word, by their vector or by name.

    A small store answers every query with all of its entries: counting them all, five unrelated
    queries would make every entry long-lived.
    """
    matches = {one.id for one in found.results if _is_match(one, found)}
    return [record for record in shown if record.header.id in matches]


def _is_match(result: "Result", found: "Found") -> bool:
    if result.exact is not None:
        return True
    if found.mode is Mode.HYBRID and result.scores.get("vector", 0.0) >= LEAST_COSINE:
        return True
    document = index_document(result.record.header, result.record.document())
    return mentions(found.question.keyword, document)


def mentions(query: KeywordQuery, document: IndexDocument) -> bool:
    """Say whether one of the query's content words or names is in an entry."""
    tokens = field_tokens(document)
    asked = [*query.content, *query.added]
    kept = {one for field in (STEM, TITLE, TAGS, KEYWORDS) for one in tokens.fields[field]}
    return not (
        kept.isdisjoint(stems(asked, tokens.language))
        and set(tokens.fields[PARTS]).isdisjoint(stems([*asked, *query.parts], ENGLISH))
        and set(tokens.fields[NAMES]).isdisjoint(query.names)
    )
