"""One memory at a time: get, delete, promote, link; and forgetting many at once."""

import msgspec

from qms.domain.entry import Retention
from qms.domain.queries import Filter
from qms.service.ai_memory.memories import decoded, memory_of
from qms.service.ai_memory.shapes import (
    TYPE_OF_LINK,
    IdRequest,
    LinkType,
    Memory,
    MemoryLink,
    SnakeRequest,
    SnakeResponse,
    link_of_type,
)
from qms.service.calls import Call
from qms.service.entries import DeleteRequest, GetRequest, delete_entry, get_entry
from qms.service.forgetting import ForgetRequest, forget_entries
from qms.service.lifecycle import PromoteRequest, promote_entry
from qms.service.links import LinkRequest, LinksRequest, link_entries, links_of


class MemoryWithLinks(Memory, frozen=True, kw_only=True):
    """A memory and its relations."""

    links: list[MemoryLink]


class MemoryDeleted(SnakeResponse, frozen=True):
    """That it is in the archive."""

    deleted: bool


class MemoryPromoted(SnakeResponse, frozen=True):
    """How long it lives now."""

    promoted: bool
    id: str
    tier: str


class ForgetMemoriesRequest(SnakeRequest, frozen=True):
    """What to forget; one of the three is needed."""

    namespace: str | None = None
    pattern: str | None = None
    tier: Retention | None = None


class MemoriesForgotten(SnakeResponse, frozen=True):
    """How many memories are in the archive now."""

    deleted: int


class LinkMemoriesRequest(SnakeRequest, frozen=True):
    """From which memory to which, and how they relate."""

    source_id: str
    target_id: str
    relation: LinkType = "related_to"


class MemoriesLinked(SnakeResponse, frozen=True):
    """The relation."""

    linked: bool
    source_id: str
    target_id: str
    relation: str


class MemoryLinks(SnakeResponse, frozen=True):
    """The relations of a memory, in both directions."""

    links: list[MemoryLink]
    count: int


def memory_get(call: Call, request: IdRequest) -> MemoryWithLinks:
    """Return a memory with its relations, and count that it was read."""
    entry = get_entry(call, GetRequest(id=request.id)).entry
    memory = memory_of(call, decoded(entry))
    return MemoryWithLinks(**msgspec.structs.asdict(memory), links=_links(call, request.id))


def memory_delete(call: Call, request: IdRequest) -> MemoryDeleted:
    """Move a memory to the archive."""
    return MemoryDeleted(deleted=delete_entry(call, DeleteRequest(id=request.id)).deleted)


def memory_promote(call: Call, request: IdRequest) -> MemoryPromoted:
    """Let a memory live for ever."""
    promote_entry(call, PromoteRequest(id=request.id))
    return MemoryPromoted(promoted=True, id=call.full_id(request.id), tier=Retention.LONG.value)


def memory_forget(call: Call, request: ForgetMemoriesRequest) -> MemoriesForgotten:
    """Move every memory that matches to the archive; what the caller may not delete stays."""
    wanted = Filter(namespace=request.namespace, retention=request.tier)
    done = forget_entries(call, ForgetRequest(pattern=request.pattern, filter=wanted))
    return MemoriesForgotten(deleted=done.forgotten)


def memory_link(call: Call, request: LinkMemoriesRequest) -> MemoriesLinked:
    """Relate a memory to another; one that is there already is as good."""
    type_ = TYPE_OF_LINK.get(request.relation, request.relation)
    link_entries(
        call, LinkRequest(source_id=request.source_id, target_id=request.target_id, type=type_)
    )
    return MemoriesLinked(
        linked=True,
        source_id=call.full_id(request.source_id),
        target_id=call.full_id(request.target_id),
        relation=request.relation,
    )


def memory_get_links(call: Call, request: IdRequest) -> MemoryLinks:
    """Return the relations of a memory."""
    links = _links(call, request.id)
    return MemoryLinks(links=links, count=len(links))


def _links(call: Call, entry_id: str) -> list[MemoryLink]:
    return [
        MemoryLink(
            source_id=link.source_id,
            target_id=link.target_id,
            relation=link_of_type(link.type),
            created_at=link.created_utc,
        )
        for link in links_of(call, LinksRequest(id=entry_id))
    ]
