"""Tools for one memory: get, delete, promote and link; and memory_forget for many."""

import msgspec
from msgspec import UNSET

from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.requests import Conditions
from qms.dropins.ai_memory.ai_memory_types import (
    DERIVED_FROM,
    EXAMPLE_LOCAL_ID,
    OTHER_LOCAL_ID,
    TYPE_OF_LINK,
    IdRequest,
    LinkType,
    Memory,
    MemoryLink,
    SnakeRequest,
    SnakeResponse,
    link_of_type,
)
from qms.dropins.ai_memory.errors import in_its_words
from qms.dropins.ai_memory.memories import decoded, memory_of
from qms.features.archive.forget import ForgetRequest, forget_entries
from qms.features.entries.entries import DeleteRequest, GetRequest, delete_entry, get_entry
from qms.features.lifespan.lifespan import PromoteRequest, promote_entry
from qms.features.links.links import LinkRequest, LinksRequest, link_entries, links_of
from qms.memory.access import AccessTier
from qms.memory.entry import Retention
from qms.memory.errors import invalid
from qms.memory.filters import Filter
from qms.memory.validation import instant_text


class MemoryWithLinks(Memory, frozen=True, kw_only=True):
    """A memory and its relations."""

    links: list[MemoryLink]


class MemoryDeleted(SnakeResponse, frozen=True):
    """Whether the memory was archived."""

    deleted: bool


class MemoryPromoted(SnakeResponse, frozen=True):
    """The new tier of the memory."""

    promoted: bool
    id: str
    tier: str


class ForgetMemoriesRequest(SnakeRequest, Conditions, frozen=True):
    """The memories to archive; one of the three fields is required."""

    namespace: str | None = None
    pattern: str | None = None
    tier: Retention | None = None


class MemoriesForgotten(SnakeResponse, frozen=True):
    """The number of archived memories."""

    deleted: int


class LinkMemoriesRequest(SnakeRequest, frozen=True):
    """The relation: its source, its target and its type."""

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


@command(
    tier=AccessTier.READER,
    toolset="aiMemory",
    name="memory_get",
    help="Get a memory by its id, with its links",
    example={"id": EXAMPLE_LOCAL_ID},
    read_only=True,
    idempotent=True,
    brief=True,
)
@in_its_words
def memory_get(call: Call, request: IdRequest) -> MemoryWithLinks:
    """Return a memory with its relations, and count the read."""
    entry = get_entry(call, GetRequest(id=request.id)).entry
    memory = memory_of(call, decoded(entry))
    return MemoryWithLinks(**msgspec.structs.asdict(memory), links=all_links(call, request.id))


@command(
    tier=AccessTier.WRITER,
    toolset="aiMemory",
    name="memory_delete",
    help="Delete a memory; it goes to the archive",
    example={"id": EXAMPLE_LOCAL_ID},
    destructive=True,
    brief=True,
)
@in_its_words
def memory_delete(call: Call, request: IdRequest) -> MemoryDeleted:
    """Move a memory to the archive."""
    return MemoryDeleted(deleted=delete_entry(call, DeleteRequest(id=request.id)).deleted)


@command(
    tier=AccessTier.WRITER,
    toolset="aiMemory",
    name="memory_promote",
    help="Make a memory long-term, without an end",
    example={"id": EXAMPLE_LOCAL_ID},
    idempotent=True,
    brief=True,
)
@in_its_words
def memory_promote(call: Call, request: IdRequest) -> MemoryPromoted:
    """Give a memory long retention."""
    promote_entry(call, PromoteRequest(id=request.id))
    return MemoryPromoted(promoted=True, id=call.full_id(request.id), tier=Retention.LONG.value)


@command(
    tier=AccessTier.WRITER,
    toolset="aiMemory",
    name="memory_forget",
    help="Delete all memories of a pattern, namespace or tier",
    example={"namespace": "my-app", "tier": "short"},
    destructive=True,
    idempotent=True,
)
@in_its_words
def memory_forget(call: Call, request: ForgetMemoriesRequest) -> MemoriesForgotten:
    """Archive every matching memory; those that the caller may not delete stay."""
    wanted = Filter(namespace=request.namespace, retention=request.tier)
    if request.pattern is None and wanted == Filter():
        raise invalid("pattern", "pattern, namespace or tier is required")
    done = forget_entries(call, ForgetRequest(pattern=request.pattern, filter=wanted))
    return MemoriesForgotten(deleted=done.forgotten)


@command(
    tier=AccessTier.WRITER,
    toolset="aiMemory",
    name="memory_link",
    help="Link two memories",
    example={"source_id": EXAMPLE_LOCAL_ID, "target_id": OTHER_LOCAL_ID, "relation": "supersedes"},
    idempotent=True,
    brief=True,
)
@in_its_words
def memory_link(call: Call, request: LinkMemoriesRequest) -> MemoriesLinked:
    """Relate a memory to another; an existing relation is no error."""
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


@command(
    tier=AccessTier.READER,
    toolset="aiMemory",
    name="memory_get_links",
    help="Get the links of a memory, in both directions",
    example={"id": EXAMPLE_LOCAL_ID},
    read_only=True,
    idempotent=True,
    brief=True,
)
@in_its_words
def memory_get_links(call: Call, request: IdRequest) -> MemoryLinks:
    """Return the relations of a memory."""
    links = all_links(call, request.id)
    return MemoryLinks(links=links, count=len(links))


def all_links(call: Call, entry_id: str) -> list[MemoryLink]:
    """Return the relations of a memory, with those to the sources of a consolidation.

    The sources are archived, and other answers do not show relations to archived entries.
    """
    links = [
        MemoryLink(
            source_id=link.source_id,
            target_id=link.target_id,
            relation=link_of_type(link.type),
            created_at=link.created_utc,
        )
        for link in links_of(call, LinksRequest(id=entry_id))
    ]
    record = call.visible(call.find(entry_id))
    known = {(link.target_id, link.relation) for link in links}
    sources = [
        MemoryLink(
            source_id=record.header.id,
            target_id=one.target_id,
            relation=link_of_type(one.type),
            created_at=instant_text(one.created_utc) if one.created_utc else UNSET,
        )
        for one in record.header.relations
        if one.type == DERIVED_FROM
    ]
    return [*links, *(one for one in sources if (one.target_id, one.relation) not in known)]
