"""memory_search, memory_list and memory_recall: by words, the newest, or for a context."""

from itertools import islice
from typing import Annotated

import msgspec

from qms.commands.answers import Rendered
from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.list_limits import LIST_ITEMS
from qms.dropins.ai_memory.ai_memory_types import (
    Limit,
    Memory,
    Offset,
    Priority,
    SnakeRequest,
    SnakeResponse,
    TextFormat,
)
from qms.dropins.ai_memory.errors import in_its_words
from qms.dropins.ai_memory.memories import as_rows, decoded, memory_of
from qms.features.lists.list_entries import newest
from qms.features.recall.recall import MAX_LIMIT, recall_results
from qms.features.recall.search import ScoredEntry, SearchAnswer, SearchRequest, search_entries
from qms.memory.access import AccessTier
from qms.memory.entry import Retention
from qms.memory.filters import Filter, Include
from qms.memory.limits import Limits
from qms.memory.relations import AwareTime
from qms.memory.validation import over_limit
from qms.search.profiles import ProfileName
from qms.search.query import Match, SearchQuery

DEFAULT_LISTED = 20
DEFAULT_RECALLED = 10


class SearchMemoriesRequest(SnakeRequest, frozen=True):
    """Words that must all match, and filters."""

    query: str
    namespace: str | None = None
    tier: Retention | None = None
    limit: Limit = DEFAULT_LISTED
    tags: str | None = None
    since: AwareTime | None = None
    until: AwareTime | None = None
    agent_id: str | None = None
    format: TextFormat = TextFormat.TOON_COMPACT


class SearchMemoriesAnswer(SnakeResponse, frozen=True):
    """The memories, best first."""

    results: list[Memory]
    count: int


class ListMemoriesRequest(SnakeRequest, frozen=True):
    """The filters and the page; the last changed memories come first."""

    namespace: str | None = None
    tier: Retention | None = None
    limit: Limit = DEFAULT_LISTED
    offset: Offset = 0
    tags: str | None = None
    since: AwareTime | None = None
    until: AwareTime | None = None
    min_priority: Priority | None = None
    agent_id: str | None = None
    format: TextFormat = TextFormat.TOON_COMPACT


class ListMemoriesAnswer(SnakeResponse, frozen=True):
    """One page of memories."""

    memories: list[Memory]
    count: int


@command(
    tier=AccessTier.READER,
    toolset="aiMemory",
    name="memory_search",
    help="Search memories that hold every word of a query",
    example={"query": "PostgreSQL", "namespace": "my-app"},
    read_only=True,
    idempotent=True,
    searches=True,
    brief=True,
    after="memory_recall",
)
@in_its_words
def memory_search(call: Call, request: SearchMemoriesRequest) -> SearchMemoriesAnswer | Rendered:
    """Return the memories that contain every word of the query."""
    query = SearchQuery(
        text=request.query,
        match=Match.ALL,
        max_results=min(request.limit, call.settings.global_.limits.results),
        filter=Filter(
            namespace=request.namespace,
            retention=request.tier,
            tags=split_tags(request.tags, call.settings.global_.limits),
            created_after=request.since,
            created_before=request.until,
            agent_id=request.agent_id,
        ),
        profile=ProfileName.AI_MEMORY_SEARCH,
        # In ai-memory, the loser of a contradiction is still found by its words.
        include_superseded=True,
    )
    found = search_entries(call, SearchRequest(query=query, include=Include.FULL))
    assert isinstance(found, SearchAnswer)
    memories = scored_memories(call, found.results)
    if request.format is TextFormat.JSON:
        return SearchMemoriesAnswer(results=memories, count=len(memories))
    return as_rows(memories, request.format)


@command(
    tier=AccessTier.READER,
    toolset="aiMemory",
    name="memory_list",
    help="List memories, the last changed first",
    example={"namespace": "my-app", "tier": "long", "limit": 10},
    read_only=True,
    idempotent=True,
    brief=True,
    after="memory_search",
)
@in_its_words
def memory_list(call: Call, request: ListMemoriesRequest) -> ListMemoriesAnswer | Rendered:
    """Return one page of the project's memories."""
    wanted = Filter(
        namespace=request.namespace,
        retention=request.tier,
        tags=split_tags(request.tags, call.settings.global_.limits),
        created_after=request.since,
        created_before=request.until,
        min_priority=request.min_priority,
        agent_id=request.agent_id,
    )
    page = islice(newest(call, wanted), request.offset, request.offset + request.limit)
    memories = [memory_of(call, record.document()) for record in page]
    if request.format is TextFormat.JSON:
        return ListMemoriesAnswer(memories=memories, count=len(memories))
    return as_rows(memories, request.format)


def scored_memories(call: Call, results: list[ScoredEntry]) -> list[Memory]:
    """Return the results of a search as memories."""
    return [memory_of(call, decoded(result.entry), result.score) for result in results]


def split_tags(given: str | None, limits: Limits) -> frozenset[str]:
    """Return the tags of a comma-separated list.

    Raises:
        InvalidInputError: there are more than the limit of a list.
    """
    text = given or ""
    count = text.count(",") + 1
    if count > limits.list_items:
        raise over_limit("tags", count, limits.list_items, LIST_ITEMS)
    return frozenset(tag.strip() for tag in text.split(",") if tag.strip())


class RecallMemoriesRequest(SnakeRequest, frozen=True):
    """The context to search for, and filters."""

    context: Annotated[str, msgspec.Meta(min_length=1)]
    namespace: str | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIMIT)] = DEFAULT_RECALLED
    tags: str | None = None
    since: AwareTime | None = None
    until: AwareTime | None = None
    format: TextFormat = TextFormat.TOON_COMPACT


class RecallMemoriesAnswer(SnakeResponse, frozen=True):
    """The memories, best first, and the search mode."""

    memories: list[Memory]
    count: int
    mode: str


@command(
    tier=AccessTier.READER,
    toolset="aiMemory",
    name="memory_recall",
    help="Recall memories for a context; any word counts, and what fits counts as used",
    example={"context": "database setup and configuration", "namespace": "my-app", "limit": 5},
    read_only=True,
    searches=True,
    brief=True,
)
@in_its_words
def memory_recall(call: Call, request: RecallMemoriesRequest) -> RecallMemoriesAnswer | Rendered:
    """Return the memories for a context, and count matching ones as used."""
    wanted = Filter(
        namespace=request.namespace,
        tags=split_tags(request.tags, call.settings.global_.limits),
        created_after=request.since,
        created_before=request.until,
    )
    query = SearchQuery(
        text=request.context,
        max_results=min(request.limit, call.settings.global_.limits.results),
        filter=wanted,
        profile=ProfileName.AI_MEMORY,
    )
    found = recall_results(call, query, text_field="context").answer
    assert isinstance(found, SearchAnswer)
    memories = scored_memories(call, found.results)
    if request.format is TextFormat.JSON:
        return RecallMemoriesAnswer(memories=memories, count=len(memories), mode=found.mode)
    return as_rows(memories, request.format, mode=found.mode)
