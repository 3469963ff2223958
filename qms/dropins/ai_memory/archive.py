"""The archive tools of ai-memory."""

from collections import Counter
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.requests import Conditions, NoArguments
from qms.dropins.ai_memory.ai_memory_types import (
    EXAMPLE_LOCAL_ID,
    MAX_ARCHIVED,
    IdRequest,
    Memory,
    Offset,
    SnakeRequest,
    SnakeResponse,
)
from qms.dropins.ai_memory.errors import in_its_words
from qms.dropins.ai_memory.memories import memory_of
from qms.features.archive.archive import (
    Days,
    PurgeRequest,
    RestoreRequest,
    purge_archive,
    restore_entry,
)
from qms.memory.access import AccessTier
from qms.memory.validation import instant_text
from qms.store.archive_lines import Archived

ArchiveLimit = Annotated[int, msgspec.Meta(ge=1, le=MAX_ARCHIVED)]


class ArchiveListRequest(SnakeRequest, frozen=True):
    """The filter and the page of archived memories."""

    namespace: str | None = None
    limit: ArchiveLimit = 50
    offset: Offset = 0


class ArchivedMemory(Memory, frozen=True, kw_only=True):
    """An archived memory, with the time and reason."""

    archived_at: str
    archive_reason: str


class ArchiveListAnswer(SnakeResponse, frozen=True):
    """Archived memories, the last archived first."""

    archived: list[ArchivedMemory]
    count: int


class MemoryRestored(SnakeResponse, frozen=True):
    """Whether the memory was restored."""

    restored: bool
    id: str


class ArchivePurgeRequest(SnakeRequest, Conditions, frozen=True):
    """The archived memories to delete permanently: all, or the older ones."""

    # No null: it would delete everything.
    older_than_days: Days | UnsetType = UNSET


class ArchivePurged(SnakeResponse, frozen=True):
    """The number of deleted versions."""

    purged: int


class ArchiveCounts(SnakeResponse, frozen=True):
    """The number of archived versions by namespace; the empty one counts those without one."""

    total: int
    by_namespace: dict[str, int]


@command(
    tier=AccessTier.READER,
    toolset="aiMemory",
    name="memory_archive_list",
    help="List archived memories",
    example={"limit": 10},
    read_only=True,
    idempotent=True,
)
@in_its_words
def memory_archive_list(call: Call, request: ArchiveListRequest) -> ArchiveListAnswer:
    """Return archived memories."""
    found = [
        one
        for one in reversed(call.store.archive.entries(call.deadline))
        if request.namespace in (None, one.entry.get("namespace"))
    ]
    page = found[request.offset : request.offset + request.limit]
    shown = [_archived(call, one) for one in page]
    return ArchiveListAnswer(archived=shown, count=len(shown))


@command(
    tier=AccessTier.CURATOR,
    toolset="aiMemory",
    name="memory_archive_restore",
    help="Bring an archived memory back, without an end",
    example={"id": EXAMPLE_LOCAL_ID},
)
@in_its_words
def memory_archive_restore(call: Call, request: IdRequest) -> MemoryRestored:
    """Restore a memory, without an expiry."""
    restore_entry(call, RestoreRequest(id=request.id))
    return MemoryRestored(restored=True, id=call.full_id(request.id))


@command(
    tier=AccessTier.ADMIN,
    toolset="aiMemory",
    name="memory_archive_purge",
    help="Let archived memories go for good, all or those older than some days",
    example={"older_than_days": 30},
    destructive=True,
    idempotent=True,
)
@in_its_words
def memory_archive_purge(call: Call, request: ArchivePurgeRequest) -> ArchivePurged:
    """Delete archived memories permanently."""
    days = None if request.older_than_days is UNSET else request.older_than_days
    done = purge_archive(call, PurgeRequest(older_than_days=days, all=days is None))
    return ArchivePurged(purged=done.purged)


@command(
    tier=AccessTier.READER,
    toolset="aiMemory",
    name="memory_archive_stats",
    help="Count the archived memories by namespace",
    read_only=True,
    idempotent=True,
)
@in_its_words
def memory_archive_stats(call: Call, _request: NoArguments) -> ArchiveCounts:
    """Count the archived versions."""
    found = call.store.archive.entries(call.deadline)
    counts = Counter(one.entry.get("namespace") or "" for one in found)
    return ArchiveCounts(total=len(found), by_namespace=dict(sorted(counts.items())))


def _archived(call: Call, one: Archived) -> ArchivedMemory:
    return ArchivedMemory(
        **msgspec.structs.asdict(memory_of(call, one.entry)),
        archived_at=instant_text(one.archived_utc),
        archive_reason=one.reason,
    )
