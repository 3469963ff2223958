"""memory_consolidate and the tools for query expansion, tags and contradictions."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.call import Call
from qms.commands.command import command
from qms.dropins.ai_memory.ai_memory_types import (
    EXAMPLE_LOCAL_ID,
    GLOBAL,
    OTHER_LOCAL_ID,
    IdRequest,
    MemoryLink,
    SnakeRequest,
    SnakeResponse,
)
from qms.dropins.ai_memory.errors import in_its_words
from qms.dropins.ai_memory.memories import memory_of
from qms.dropins.ai_memory.single import all_links
from qms.features.consolidation.consolidate import ConsolidateRequest, consolidate_entries
from qms.features.consolidation.merged_entry import MAX_SOURCES, MIN_SOURCES
from qms.features.proposals.assist import (
    AutoTagRequest,
    DetectRequest,
    ExpandRequest,
    auto_tag,
    detect_contradiction,
    expand_query,
)
from qms.memory.access import AccessTier

PREVIEW_CHARACTERS = 200


class ConsolidateMemoriesRequest(SnakeRequest, frozen=True):
    """The memories to merge; the summary is generated unless it is given."""

    ids: Annotated[list[str], msgspec.Meta(min_length=MIN_SOURCES, max_length=MAX_SOURCES)]
    title: Annotated[str, msgspec.Meta(min_length=1)]
    summary: str | None = None
    namespace: str = GLOBAL


class MemoriesConsolidated(SnakeResponse, frozen=True):
    """The new memory, with links to its sources and their authors in the metadata."""

    id: str
    consolidated: int
    links: list[MemoryLink]
    metadata: dict[str, Any]
    auto_summary: bool | UnsetType = UNSET
    summary_preview: str | UnsetType = UNSET


class ExpandMemoryQueryRequest(SnakeRequest, frozen=True):
    """The query to expand."""

    query: str


class QueryExpanded(SnakeResponse, frozen=True):
    """The query, further terms for it, and the method that found them."""

    original: str
    expanded_terms: list[str]
    method: str


class MemoryTagged(SnakeResponse, frozen=True):
    """The new tags, all tags, and the method that found them."""

    id: str
    new_tags: list[str]
    all_tags: list[str]
    method: str


class CompareMemoriesRequest(SnakeRequest, frozen=True):
    """The two memories to compare."""

    id_a: str
    id_b: str


class ComparedMemory(SnakeResponse, frozen=True):
    """One of the compared memories."""

    id: str
    title: str


class MemoriesCompared(SnakeResponse, frozen=True):
    """Whether they contradict each other."""

    contradicts: bool
    memory_a: ComparedMemory
    memory_b: ComparedMemory
    method: str


@command(
    tier=AccessTier.WRITER,
    toolset="aiMemory",
    name="memory_consolidate",
    help="Make one long-term memory of several",
    example={
        "ids": [EXAMPLE_LOCAL_ID, OTHER_LOCAL_ID],
        "title": "Auth system architecture",
        "summary": "JWT tokens with refresh rotation, RBAC via middleware, sessions in Redis.",
    },
    destructive=True,
)
@in_its_words
def memory_consolidate(call: Call, request: ConsolidateMemoriesRequest) -> MemoriesConsolidated:
    """Merge several memories into a long-term one, and archive them."""
    wanted = ConsolidateRequest(
        ids=tuple(request.ids),
        title=request.title,
        summary=request.summary,
        namespace=request.namespace,
    )
    done = consolidate_entries(call, wanted)
    assert done.id is not None
    memory = memory_of(call, call.find(done.id).document())
    answer = MemoriesConsolidated(
        id=done.id,
        consolidated=done.consolidated,
        links=all_links(call, done.id),
        metadata=memory.metadata,
    )
    if request.summary is not None:
        return answer
    preview = memory.content[:PREVIEW_CHARACTERS]
    return msgspec.structs.replace(answer, auto_summary=True, summary_preview=preview)


@command(
    tier=AccessTier.READER,
    toolset="aiMemory",
    name="memory_expand_query",
    help="Find further search terms for a query",
    example={"query": "database migration"},
    read_only=True,
    idempotent=True,
    searches=True,
)
@in_its_words
def memory_expand_query(call: Call, request: ExpandMemoryQueryRequest) -> QueryExpanded:
    """Return further terms for a query."""
    found = expand_query(call, ExpandRequest(query=request.query))
    return QueryExpanded(
        original=found.original, expanded_terms=found.expanded_terms, method=found.method
    )


@command(
    tier=AccessTier.WRITER,
    toolset="aiMemory",
    name="memory_auto_tag",
    help="Add tags to a memory that fit its content",
    example={"id": EXAMPLE_LOCAL_ID},
)
@in_its_words
def memory_auto_tag(call: Call, request: IdRequest) -> MemoryTagged:
    """Add tags to a memory, and keep its present ones."""
    found = auto_tag(call, AutoTagRequest(id=request.id))
    return MemoryTagged(
        id=found.id, new_tags=found.new_tags, all_tags=found.all_tags, method=found.method
    )


@command(
    tier=AccessTier.READER,
    toolset="aiMemory",
    name="memory_detect_contradiction",
    help="Check whether two memories contradict each other",
    example={"id_a": EXAMPLE_LOCAL_ID, "id_b": OTHER_LOCAL_ID},
    read_only=True,
    idempotent=True,
)
@in_its_words
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
