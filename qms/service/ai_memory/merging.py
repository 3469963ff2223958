"""memory_consolidate, and what a language model may help with: words, tags, contradictions."""

from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from qms.service.ai_memory.memories import decoded, memory_of
from qms.service.ai_memory.shapes import GLOBAL, IdRequest, SnakeRequest, SnakeResponse
from qms.service.answers import entry_answer
from qms.service.assisting import (
    AutoTagRequest,
    DetectRequest,
    ExpandRequest,
    auto_tag,
    detect_contradiction,
    expand_query,
)
from qms.service.calls import Call
from qms.service.consolidating import ConsolidateRequest, consolidate_entries
from qms.upkeep.consolidate import MAX_SOURCES, MIN_SOURCES

PREVIEW_CHARACTERS = 200


class ConsolidateMemoriesRequest(SnakeRequest, frozen=True):
    """Which memories become one; the summary is made of them unless it is given."""

    ids: Annotated[list[str], msgspec.Meta(min_length=MIN_SOURCES, max_length=MAX_SOURCES)]
    title: Annotated[str, msgspec.Meta(min_length=1)]
    summary: str | None = None
    namespace: str = GLOBAL


class MemoriesConsolidated(SnakeResponse, frozen=True):
    """The one memory."""

    id: str
    consolidated: int
    auto_summary: bool | UnsetType = UNSET
    summary_preview: str | UnsetType = UNSET


class ExpandMemoryQueryRequest(SnakeRequest, frozen=True):
    """A query."""

    query: str


class QueryExpanded(SnakeResponse, frozen=True):
    """The query, further terms for it, and who found them."""

    original: str
    expanded_terms: list[str]
    method: str


class MemoryTagged(SnakeResponse, frozen=True):
    """The tags that are new, all of them, and who found them."""

    id: str
    new_tags: list[str]
    all_tags: list[str]
    method: str


class CompareMemoriesRequest(SnakeRequest, frozen=True):
    """Which two memories."""

    id_a: str
    id_b: str


class ComparedMemory(SnakeResponse, frozen=True):
    """One of the two."""

    id: str
    title: str


class MemoriesCompared(SnakeResponse, frozen=True):
    """Whether they contradict each other."""

    contradicts: bool
    memory_a: ComparedMemory
    memory_b: ComparedMemory
    method: str


def memory_consolidate(call: Call, request: ConsolidateMemoriesRequest) -> MemoriesConsolidated:
    """Make one long-term memory of several, which go to the archive."""
    wanted = ConsolidateRequest(
        ids=tuple(request.ids),
        title=request.title,
        summary=request.summary,
        namespace=request.namespace,
    )
    done = consolidate_entries(call, wanted)
    assert done.id is not None
    answer = MemoriesConsolidated(id=done.id, consolidated=done.consolidated)
    if request.summary is not None:
        return answer
    memory = memory_of(call, decoded(entry_answer(call.find(done.id)).entry))
    preview = memory.content[:PREVIEW_CHARACTERS]
    return msgspec.structs.replace(answer, auto_summary=True, summary_preview=preview)


def memory_expand_query(call: Call, request: ExpandMemoryQueryRequest) -> QueryExpanded:
    """Return further terms for a query."""
    found = expand_query(call, ExpandRequest(query=request.query))
    return QueryExpanded(
        original=found.original, expanded_terms=found.expanded_terms, method=found.method
    )


def memory_auto_tag(call: Call, request: IdRequest) -> MemoryTagged:
    """Add tags to a memory, beside those that it has."""
    found = auto_tag(call, AutoTagRequest(id=request.id))
    return MemoryTagged(
        id=found.id, new_tags=found.new_tags, all_tags=found.all_tags, method=found.method
    )


def memory_detect_contradiction(call: Call, request: CompareMemoriesRequest) -> MemoriesCompared:
    """Say whether two memories contradict each other."""
    found = detect_contradiction(call, DetectRequest(id_a=request.id_a, id_b=request.id_b))
    one, other = found.memory_a, found.memory_b
    return MemoriesCompared(
        contradicts=found.contradicts,
        memory_a=ComparedMemory(id=one.id, title=one.title),
        memory_b=ComparedMemory(id=other.id, title=other.title),
        method=found.method,
    )
