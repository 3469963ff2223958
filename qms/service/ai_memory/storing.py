"""memory_store and memory_update: a title is one memory of its namespace."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.codec.documents import header_of, instant_text
from qms.domain.access import check_edit
from qms.domain.bodies import Kind
from qms.domain.entry import Document, Header, Retention
from qms.domain.lifecycle import MAX_TTL_SECONDS, expiry
from qms.domain.relations import AwareTime
from qms.ingest.entries import patched_document, with_end
from qms.ingest.withhold import withhold
from qms.service.ai_memory.memories import decoded, memory_of
from qms.service.ai_memory.shapes import (
    GLOBAL,
    Confidence,
    Memory,
    Priority,
    SnakeRequest,
    SnakeResponse,
    Source,
)
from qms.service.calls import Call
from qms.service.contradictions import potential_contradictions
from qms.service.entries import PatchRequest, patch_entry
from qms.service.writing import Stored, Writing, check_quota, living, own_entry, upsert, writing_for
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
    """Where the memory is; whether it was there before."""

    id: str
    tier: str
    title: str
    namespace: str | None
    potential_contradictions: tuple[str, ...] | UnsetType = UNSET
    duplicate: bool | UnsetType = UNSET
    action: str | UnsetType = UNSET
    warnings: tuple[str, ...] | UnsetType = UNSET


class UpdateRequest(SnakeRequest, frozen=True):
    """Which memory, and the fields that change."""

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


def memory_store(call: Call, request: StoreRequest) -> StoreAnswer:
    """Store a memory, or bring the one of its title and namespace up to date."""
    entry, secrets = withhold(_entry(request), call.endpoint.secrets)
    given, writing = own_entry(entry, call), writing_for(call)
    local_id = call.new_local_id()

    def plan(draft: Draft) -> Stored:
        before = _namesake(draft, given, writing.now)
        if before is None:
            return upsert(draft, given, writing, local_id=local_id)
        return _renew(draft, before, given, writing)

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
        warnings=(*secrets, *stored.warnings) or UNSET,
    )


def memory_update(call: Call, request: UpdateRequest) -> UpdateAnswer:
    """Change the fields that are given."""
    given = {name: getattr(request, name) for name in _FIELDS}
    patch = {_FIELDS[name]: value for name, value in given.items() if value is not UNSET}
    if isinstance(patch.get("ttlUtc"), datetime):
        patch["ttlUtc"] = instant_text(patch["ttlUtc"])
    answer = patch_entry(call, PatchRequest(id=request.id, patch=patch))
    return UpdateAnswer(updated=True, memory=memory_of(call, decoded(answer.entry)))


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


def _namesake(draft: Draft, given: Document, now: datetime) -> Record | None:
    """Return the living memory of this very title; a person may have made several."""
    found = [
        record
        for one in draft.same_title(Kind.NOTE, given["namespace"], given["title"])
        if one.header.title == given["title"]
        and (record := living(draft, one.header.id, now)) is not None
    ]
    return max(found, key=lambda one: one.header.timestamps.updated_utc, default=None)


def _renew(draft: Draft, before: Record, given: Document, writing: Writing) -> Stored:
    """Update a memory: neither its retention nor its end nor its priority ever sinks."""
    old = before.header
    retention = max(old.retention, Retention(given["retention"]), key=_ORDER.__getitem__)
    patch = {key: given[key] for key in ("body", "confidence", "source")}
    patch |= {
        "retention": retention.value,
        "priority": max(old.priority, given["priority"]),
        "tags": given["tags"] or list(old.tags),
        "metadata": given.get("metadata", {}),
    }
    patch["ttlUtc"] = _later_end(old, given, retention, writing)
    document = patched_document(patch, before.document(), now=writing.now, rules=writing.rules)
    check_edit(writing.caller.access, old, header_of(document))
    check_quota(draft, writing, document, before)
    return Stored(record=draft.put(document), updated=True)


def _later_end(old: Header, given: Document, retention: Retention, writing: Writing) -> str | None:
    """Return the later of the old end and the new one; none is the latest."""
    asked = with_end(given, writing.now).get("ttlUtc")
    new = datetime.fromisoformat(asked) if asked else _usual_end(retention, writing)
    return None if new is None or old.ttl_utc is None else instant_text(max(new, old.ttl_utc))


def _usual_end(retention: Retention, writing: Writing) -> datetime | None:
    return expiry(retention, writing.now, writing.rules.lengths)
