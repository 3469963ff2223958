"""The archive as ai-memory shows it."""

from collections import Counter
from typing import Annotated

import msgspec

from qms.codec.documents import instant_text
from qms.service.ai_memory.memories import memory_of
from qms.service.ai_memory.shapes import (
    MAX_ARCHIVED,
    IdRequest,
    Memory,
    Offset,
    SnakeRequest,
    SnakeResponse,
)
from qms.service.archive import Days, PurgeRequest, RestoreRequest, purge_archive, restore_entry
from qms.service.calls import Call
from qms.service.requests import NoArguments
from qms.store.archive import Archived

ArchiveLimit = Annotated[int, msgspec.Meta(ge=1, le=MAX_ARCHIVED)]


class ArchiveListRequest(SnakeRequest, frozen=True):
    """Which archived memories."""

    namespace: str | None = None
    limit: ArchiveLimit = 50
    offset: Offset = 0


class ArchivedMemory(Memory, frozen=True, kw_only=True):
    """A memory as it left, when and why."""

    archived_at: str
    archive_reason: str


class ArchiveListAnswer(SnakeResponse, frozen=True):
    """Archived memories, the last archived first."""

    archived: list[ArchivedMemory]
    count: int


class MemoryRestored(SnakeResponse, frozen=True):
    """That it lives again."""

    restored: bool
    id: str


class ArchivePurgeRequest(SnakeRequest, frozen=True):
    """What to let go for good: everything, or what is older."""

    older_than_days: Days | None = None


class ArchivePurged(SnakeResponse, frozen=True):
    """How many versions are gone."""

    purged: int


class ArchiveCounts(SnakeResponse, frozen=True):
    """How many versions the archive holds, by namespace; the empty one is that of those without."""

    total: int
    by_namespace: dict[str, int]


def memory_archive_list(call: Call, request: ArchiveListRequest) -> ArchiveListAnswer:
    """Return archived memories."""
    found = [
        one
        for one in reversed(call.store.archive.entries())
        if request.namespace in (None, one.entry.get("namespace"))
    ]
    page = found[request.offset : request.offset + request.limit]
    shown = [_archived(call, one) for one in page]
    return ArchiveListAnswer(archived=shown, count=len(shown))


def memory_archive_restore(call: Call, request: IdRequest) -> MemoryRestored:
    """Bring a memory back, without an end."""
    restore_entry(call, RestoreRequest(id=request.id))
    return MemoryRestored(restored=True, id=call.full_id(request.id))


def memory_archive_purge(call: Call, request: ArchivePurgeRequest) -> ArchivePurged:
    """Let archived memories go for good."""
    days = request.older_than_days
    done = purge_archive(call, PurgeRequest(older_than_days=days, all=days is None))
    return ArchivePurged(purged=done.purged)


def memory_archive_stats(call: Call, _request: NoArguments) -> ArchiveCounts:
    """Count what the archive holds."""
    found = call.store.archive.entries()
    counts = Counter(one.entry.get("namespace") or "" for one in found)
    return ArchiveCounts(total=len(found), by_namespace=dict(sorted(counts.items())))


def _archived(call: Call, one: Archived) -> ArchivedMemory:
    return ArchivedMemory(
        **msgspec.structs.asdict(memory_of(call, one.entry)),
        archived_at=instant_text(one.archived_utc),
        archive_reason=one.reason,
    )
