"""memory_search and memory_list: by words that must all be there, or simply the newest."""

from itertools import islice

from qms.domain.entry import Retention
from qms.domain.queries import Filter, Include
from qms.domain.relations import AwareTime
from qms.search.profiles import ProfileName
from qms.search.query import Match, SearchQuery
from qms.service.ai_memory.memories import as_rows, decoded, memory_of
from qms.service.ai_memory.shapes import (
    Limit,
    Memory,
    Offset,
    Priority,
    SnakeRequest,
    SnakeResponse,
    TextFormat,
)
from qms.service.answers import Rendered
from qms.service.calls import Call
from qms.service.listing import newest
from qms.service.searching import ScoredEntry, SearchAnswer, SearchRequest, search_entries

DEFAULT_LISTED = 20


class SearchMemoriesRequest(SnakeRequest, frozen=True):
    """Words that must all be there, and what narrows the search."""

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
    """Which memories, the last changed first."""

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


def memory_search(call: Call, request: SearchMemoriesRequest) -> SearchMemoriesAnswer | Rendered:
    """Return the memories that hold every word of the query."""
    query = SearchQuery(
        text=request.query,
        match=Match.ALL,
        max_results=min(request.limit, call.settings.global_.limits.results),
        filter=Filter(
            namespace=request.namespace,
            retention=request.tier,
            tags=split_tags(request.tags),
            created_after=request.since,
            created_before=request.until,
            agent_id=request.agent_id,
        ),
        profile=ProfileName.AI_MEMORY_SEARCH,
        # There the loser of a contradiction stays to be found by its words.
        include_superseded=True,
    )
    found = search_entries(call, SearchRequest(query=query, include=Include.FULL))
    assert isinstance(found, SearchAnswer)
    memories = scored_memories(call, found.results)
    if request.format is TextFormat.JSON:
        return SearchMemoriesAnswer(results=memories, count=len(memories))
    return as_rows(memories, request.format)


def memory_list(call: Call, request: ListMemoriesRequest) -> ListMemoriesAnswer | Rendered:
    """Return one page of the project's memories."""
    wanted = Filter(
        namespace=request.namespace,
        retention=request.tier,
        tags=split_tags(request.tags),
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


def split_tags(given: str | None) -> tuple[str, ...]:
    """Return the tags of a list that is written with commas."""
    return tuple(tag.strip() for tag in (given or "").split(",") if tag.strip())
