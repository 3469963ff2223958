"""memory_recall: what any word or the sense of a context brings, and its use."""

from typing import Annotated

import msgspec

from qms.domain.queries import Filter, Include
from qms.domain.relations import AwareTime
from qms.search.profiles import ProfileName
from qms.service.ai_memory.finding import scored_memories, split_tags
from qms.service.ai_memory.memories import as_rows
from qms.service.ai_memory.shapes import Memory, SnakeRequest, SnakeResponse, TextFormat
from qms.service.answers import Rendered
from qms.service.calls import Call
from qms.service.recalling import DEFAULT_LIMIT, MAX_LIMIT, RecallAnswer, RecallRequest, recall


class RecallMemoriesRequest(SnakeRequest, frozen=True):
    """What you are trying to remember, and what narrows it."""

    context: Annotated[str, msgspec.Meta(min_length=1)]
    namespace: str | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT
    tags: str | None = None
    since: AwareTime | None = None
    until: AwareTime | None = None
    format: TextFormat = TextFormat.TOON_COMPACT


class RecallMemoriesAnswer(SnakeResponse, frozen=True):
    """The memories, best first, and what found them."""

    memories: list[Memory]
    count: int
    mode: str


def memory_recall(call: Call, request: RecallMemoriesRequest) -> RecallMemoriesAnswer | Rendered:
    """Return the memories that a context brings, and count them as used."""
    wanted = Filter(
        namespace=request.namespace,
        tags=split_tags(request.tags),
        created_after=request.since,
        created_before=request.until,
    )
    found = recall(
        call,
        RecallRequest(
            context=request.context,
            limit=request.limit,
            filter=wanted,
            profile=ProfileName.AI_MEMORY,
            include=Include.FULL,
        ),
    )
    assert isinstance(found, RecallAnswer)
    memories = scored_memories(call, found.results)
    if request.format is TextFormat.JSON:
        return RecallMemoriesAnswer(memories=memories, count=len(memories), mode=found.mode)
    return as_rows(memories, request.format, mode=found.mode)
