"""memory_store and memory_update: a title names one memory of its namespace."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.entry_writes import (
    Stored,
    WriteRules,
    check_quota,
    living,
    own_entry,
    upsert,
    write_rules,
)
from qms.commands.secrets_policy import withhold
from qms.dropins.ai_memory.ai_memory_types import (
    EXAMPLE_LOCAL_ID,
    GLOBAL,
    Confidence,
    Memory,
    Priority,
    SnakeRequest,
    SnakeResponse,
    Source,
)
from qms.dropins.ai_memory.errors import in_its_words
from qms.dropins.ai_memory.memories import decoded, memory_of
from qms.features.entries.contradicted import potential_contradictions
from qms.features.entries.entries import PatchRequest, patch_entry
from qms.memory.access import AccessTier
from qms.memory.bodies import Kind
from qms.memory.entry import Document, Header, Retention
from qms.memory.entry_input import check_end, patched_document, with_end
from qms.memory.relations import AwareTime
from qms.memory.retention import MAX_TTL_SECONDS, expiry
from qms.memory.validation import instant_text
from qms.store.draft import Draft
from qms.store.view import Record

UPDATED = "updated existing memory"

_ORDER = {Retention.SHORT: 0, Retention.MID: 1, Retention.LONG: 2}


class StoreRequest(SnakeRequest, frozen=True):
    """The memory; one of the same title and namespace is updated."""

    title: Annotated[str, msgspec.Meta(min_length=1)]
    content: str
    tier: Retention = Retention.MID
    namespace: str = GLOBAL
    tags: tuple[str, ...] = ()
    priority: Priority = 5
    confidence: Confidence = 1.0
    source: Source = "claude"
    expires_at: AwareTime | None = None
    ttl_secs: Annotated[int, msgspec.Meta(ge=1, le=MAX_TTL_SECONDS)] | None = None
    agent_id: str | None = None
    metadata: dict[str, Any] | None = None


class StoreAnswer(SnakeResponse, frozen=True):
    """The id of the memory, and whether an existing one was updated."""

    id: str
    tier: str
    title: str
    namespace: str | None
    potential_contradictions: tuple[str, ...] | UnsetType = UNSET
    duplicate: bool | UnsetType = UNSET
    action: str | UnsetType = UNSET
    warnings: tuple[str, ...] | UnsetType = UNSET


class UpdateRequest(SnakeRequest, frozen=True):
    """The memory to change, and its new fields."""

    id: str
    title: str | UnsetType = UNSET
    content: str | UnsetType = UNSET
    tier: Retention | UnsetType = UNSET
    namespace: str | UnsetType = UNSET
    tags: list[str] | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    confidence: Confidence | UnsetType = UNSET
    expires_at: AwareTime | UnsetType | None = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET


class UpdateAnswer(SnakeResponse, frozen=True):
    """The memory as it is now."""

    updated: bool
    memory: Memory
    warnings: tuple[str, ...] | UnsetType = UNSET


@command(
    tier=AccessTier.WRITER,
    toolset="aiMemory",
    name="memory_store",
    help="Store a memory; one of the same title and namespace is updated",
    example={
        "title": "Project uses PostgreSQL 15",
        "content": "The main database is PostgreSQL 15 with pgvector for embeddings.",
        "tier": "long",
        "namespace": "my-app",
        "tags": ["database", "infrastructure"],
        "priority": 8,
        "source": "user",
    },
    destructive=True,
    idempotent=True,
    brief=True,
)
@in_its_words
def memory_store(call: Call, request: StoreRequest) -> StoreAnswer:
    """Store a memory, or update the one with its title and namespace."""
    entry, secrets = withhold(_entry(request), call.endpoint.secrets, call.rules.limits)
    given, writing = own_entry(entry, call), write_rules(call)
    local_id = call.new_local_id()

    def plan(draft: Draft) -> Stored:
        before = _same_title(draft, given, writing.now)
        if before is None:
            return upsert(draft, given, writing, local_id=local_id)
        return _update(draft, before, given, writing)

    stored = call.commit(plan)
    header, is_new = stored.record.header, stored.created
    contradictions = potential_contradictions(call, stored.record)
    return StoreAnswer(
        id=header.id,
        tier=header.retention,
        title=header.title,
        namespace=header.namespace,
        potential_contradictions=contradictions or UNSET,
        duplicate=UNSET if is_new else True,
        action=UNSET if is_new else UPDATED,
        warnings=(*secrets, *stored.remarks, *stored.warnings) or UNSET,
    )


@command(
    tier=AccessTier.WRITER,
    toolset="aiMemory",
    name="memory_update",
    help="Change the given fields of a memory",
    example={"id": EXAMPLE_LOCAL_ID, "priority": 9, "tags": ["database", "critical"]},
    destructive=True,
    idempotent=True,
    brief=True,
    after="memory_forget",
)
@in_its_words
def memory_update(call: Call, request: UpdateRequest) -> UpdateAnswer:
    """Change the fields that are given."""
    given = {name: getattr(request, name) for name in _FIELDS}
    patch = {_FIELDS[name]: value for name, value in given.items() if value is not UNSET}
    if isinstance(patch.get("ttlUtc"), datetime):
        patch["ttlUtc"] = instant_text(patch["ttlUtc"])
    answer = patch_entry(call, PatchRequest(id=request.id, patch=patch))
    memory = memory_of(call, decoded(answer.entry))
    return UpdateAnswer(updated=True, memory=memory, warnings=answer.warnings)


_FIELDS = {
    "title": "title",
    "content": "body",
    "tier": "retention",
    "namespace": "namespace",
    "tags": "tags",
    "priority": "priority",
    "confidence": "confidence",
    "expires_at": "ttlUtc",
    "metadata": "metadata",
}


def _entry(request: StoreRequest) -> Document:
    entry: Document = {
        "kind": Kind.NOTE.value,
        "title": request.title,
        "body": {"text": request.content},
        "retention": request.tier.value,
        "namespace": request.namespace,
        "tags": list(request.tags),
        "priority": request.priority,
        "confidence": request.confidence,
        "source": {"type": request.source},
    }
    ends = None if request.expires_at is None else instant_text(request.expires_at)
    more = {
        "ttlUtc": ends,
        "ttlSeconds": request.ttl_secs,
        "agentId": request.agent_id,
        "metadata": request.metadata,
    }
    return entry | {key: value for key, value in more.items() if value is not None}


def _same_title(draft: Draft, given: Document, now: datetime) -> Record | None:
    """Return the last changed memory with exactly this title; there may be several."""
    found = [
        record
        for one in draft.same_title(Kind.NOTE, given["namespace"], given["title"])
        if one.header.title == given["title"]
        and (record := living(draft, one.header.id, now)) is not None
    ]
    return max(found, key=lambda one: one.header.timestamps.updated_utc, default=None)


def _update(draft: Draft, before: Record, given: Document, writing: WriteRules) -> Stored:
    """Update a memory; its retention, its expiry and its priority never decrease."""
    old = before.header
    retention = max(old.retention, Retention(given["retention"]), key=_ORDER.__getitem__)
    patch = {key: given[key] for key in ("body", "confidence", "source")}
    patch |= {
        "retention": retention.value,
        "priority": max(old.priority, given["priority"]),
        "tags": given["tags"],
        "metadata": given.get("metadata", {}),
    }
    patch["ttlUtc"] = _later_end(old, given, retention, writing)
    document = patched_document(patch, before.document(), now=writing.now, rules=writing.rules)
    check_quota(draft, writing, document, before)
    return Stored(record=draft.put(document), updated=True)


def _later_end(
    old: Header, given: Document, retention: Retention, writing: WriteRules
) -> str | None:
    """Return the later of the old and the new expiry; no expiry is the latest."""
    given_end = with_end(given, writing.now).get("ttlUtc")
    check_end({"ttlUtc": given_end, "isPermanent": old.is_permanent}, writing.now)
    new = datetime.fromisoformat(given_end) if given_end else _usual_end(retention, writing)
    return None if new is None or old.ttl_utc is None else instant_text(max(new, old.ttl_utc))


def _usual_end(retention: Retention, writing: WriteRules) -> datetime | None:
    return expiry(retention, writing.now, writing.rules.lengths)
