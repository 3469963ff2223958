"""Reads ai-memory exports: one JSON object with `memories` and `links`, of any size."""

import hashlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from qms.disk.json_frames import CHUNK_BYTES, Framed, Framer, Lost
from qms.features.transfer.importers.items import Broken, Found, Item, Opener, decode, text_of
from qms.features.transfer.meter import Meter
from qms.memory.bodies import Kind
from qms.memory.entry import LOCAL_ID, Retention
from qms.memory.ids import derived_local_id
from qms.memory.relations import AwareTime
from qms.memory.validation import instant_text

_TYPES = {"related_to": "relatedTo", "derived_from": "derivedFrom"}
_ITEM_LEVEL = 2
"""Memories and links are items of arrays in one object."""


class _Memory(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    content: str
    id: str = ""
    tier: Retention = Retention.MID
    namespace: str | None = None
    tags: list[str] = []
    priority: int = 5
    confidence: float = 1.0
    source: str | None = None
    created_at: AwareTime | None = None
    expires_at: AwareTime | None = None
    metadata: dict[str, Any] | None = None


class _Link(msgspec.Struct, frozen=True, kw_only=True):
    source_id: str
    target_id: str
    relation: str = "related_to"
    created_at: AwareTime | None = None


class _Probe(msgspec.Struct, frozen=True):
    source_id: Any = None
    target_id: Any = None


Relations = dict[str, list[dict[str, Any]]]


def read_ai_memory(
    open_file: Opener, project: str, now: datetime, meter: Meter | None = None
) -> Iterator[Item]:
    """Yield every memory with its links, expired ones as Broken; the meter counts the links."""
    meter = meter or Meter()
    relations: Relations = {}
    for _, value in _values(open_file):
        if isinstance(value, _Link) and value.source_id != value.target_id:
            meter.add_row()
            relations.setdefault(value.source_id, []).append(_relation(value, project))
    for place, value in _values(open_file):
        if isinstance(value, Broken):
            yield value
        elif isinstance(value, _Memory):
            if value.expires_at is not None and value.expires_at <= now:
                yield Broken(place, "expires_at", "is in the past: the memory has expired")
            else:
                yield Found(place, _document(value, relations))


def _document(memory: _Memory, relations: Relations) -> dict[str, Any]:
    # Without an expiry there, it has none here: only long retention has none.
    is_long = memory.expires_at is None
    metadata = dict(memory.metadata or {})
    more = {
        "namespace": text_of(memory.namespace),
        "agentId": text_of(metadata.pop("agent_id", None)),
        "source": {"type": memory.source} if memory.source else None,
        "ttlUtc": instant_text(memory.expires_at) if memory.expires_at else None,
        "timestamps": _timestamps(memory),
        "relations": relations.get(memory.id),
        "metadata": metadata or None,
    }
    return {
        "id": _local_id(memory.id or f"{memory.namespace}\0{memory.title}"),
        "kind": Kind.NOTE.value,
        "title": memory.title,
        "body": {"text": memory.content},
        "tags": memory.tags,
        "retention": (Retention.LONG if is_long else memory.tier).value,
        "priority": memory.priority,
        "confidence": memory.confidence,
        **{key: value for key, value in more.items() if value is not None},
    }


def _timestamps(memory: _Memory) -> dict[str, str] | None:
    return {"createdUtc": instant_text(memory.created_at)} if memory.created_at else None


def _relation(link: _Link, project: str) -> dict[str, Any]:
    made = {
        "type": _TYPES.get(link.relation, link.relation),
        "targetId": f"{project}:{_local_id(link.target_id)}",
    }
    created = {"createdUtc": instant_text(link.created_at)} if link.created_at else {}
    return made | created


def _local_id(given: str) -> str:
    if LOCAL_ID.fullmatch(given):
        return given
    return derived_local_id(hashlib.sha256(b"ai-memory\0" + given.encode()).digest())


def _values(open_file: Opener) -> Iterator[tuple[str, _Memory | _Link | Broken]]:
    for framed in _frames(open_file):
        place = f"byte {framed.offset:,}"
        if isinstance(framed, Lost):
            yield place, Broken(place, "", framed.reason)
            continue
        probe = decode(framed.data, _Probe, place)
        if isinstance(probe, Broken):
            yield place, probe
        elif probe.source_id is not None and probe.target_id is not None:
            yield place, decode(framed.data, _Link, place)
        else:
            yield place, decode(framed.data, _Memory, place)


def _frames(open_file: Opener) -> Iterator[Framed]:
    framer = Framer(_ITEM_LEVEL, splits=False)
    with open_file() as file:
        while chunk := file.read(CHUNK_BYTES):
            yield from framer.feed(chunk)
    yield from framer.end()
