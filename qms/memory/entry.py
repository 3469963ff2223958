"""An entry: the unit of memory, its typed fields, and the header that stays in RAM.

The stored form of an entry is its *document*, a JSON object in the order its author gave it, with
fields that this version does not know. `Entry` is the typed reading of a document and `Header` the
part of it that lists, filters, rights and the graph need; neither is ever written back in place
of the document.
"""

import re
from enum import StrEnum
from typing import Annotated, Any

import msgspec

from qms.memory.bodies import Kind
from qms.memory.relations import AwareTime, Relation

SCHEMA_VERSION = 1

LOCAL_ID = re.compile(r"[A-Za-z0-9._~-]{1,128}")
NAMESPACE = re.compile(r"[^\s/\0]{1,128}")
AGENT_ID = re.compile(r"[A-Za-z0-9_\-:@./]{1,128}")

AGENT_ID_CHARACTERS = 128

Document = dict[str, Any]

_NOT_IN_AGENT_ID = re.compile(r"[^A-Za-z0-9_\-:@./]+")


class CurationTier(StrEnum):
    """How far an entry is trusted."""

    PROVISIONAL = "provisional"
    CURATED = "curated"
    CANONICAL = "canonical"


class Retention(StrEnum):
    """How long an entry lives."""

    SHORT = "short"
    MID = "mid"
    LONG = "long"


class Timestamps(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """When an entry was made, last changed, and when its source says it was true."""

    created_utc: AwareTime
    updated_utc: AwareTime
    source_utc: AwareTime | None = None


class Header(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The part of every entry that stays decoded in RAM."""

    id: str
    kind: Kind
    title: str
    timestamps: Timestamps
    schema_version: int = SCHEMA_VERSION
    tags: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    retention: Retention = Retention.LONG
    ttl_utc: AwareTime | None = None
    priority: int = 5
    confidence: float = 1.0
    curation_tier: CurationTier = CurationTier.PROVISIONAL
    is_permanent: bool = False
    pinned: bool = False
    agent_id: str | None = None
    namespace: str | None = None
    epic_slug: str | None = None
    epic_case: str | None = None


class Entry(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The typed reading of a whole document; also the source of the entry's JSON Schema."""

    schema_version: int = SCHEMA_VERSION
    id: str
    project: str | None = None
    kind: Kind
    title: str
    body: dict[str, Any]
    tags: list[str] = []
    keywords: list[str] = []
    source: dict[str, Any] | None = None
    relations: list[Relation] = []
    timestamps: Timestamps
    retention: Retention = Retention.LONG
    ttl_utc: AwareTime | None = None
    priority: Annotated[int, msgspec.Meta(ge=1, le=10)] = 5
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1.0
    curation_tier: CurationTier = CurationTier.PROVISIONAL
    is_permanent: bool = False
    pinned: bool = False
    agent_id: str | None = None
    namespace: str | None = None
    epic_slug: str | None = None
    epic_case: str | None = None
    metadata: dict[str, Any] = {}
    embedding: list[float] | None = None


FIELD_ORDER: tuple[str, ...] = Entry.__struct_encode_fields__
"""The order in which a new entry's known fields are written."""

REQUIRED_FIELDS: frozenset[str] = frozenset(
    {"schemaVersion", "id", "kind", "title", "body", "timestamps"}
)
"""Fields that are written even when they equal a default."""

FIELD_DEFAULTS: dict[str, Any] = {
    "tags": [],
    "keywords": [],
    "source": None,
    "relations": [],
    "retention": Retention.LONG.value,
    "ttlUtc": None,
    "priority": 5,
    "confidence": 1.0,
    "curationTier": CurationTier.PROVISIONAL.value,
    "isPermanent": False,
    "pinned": False,
    "agentId": None,
    "namespace": None,
    "epicSlug": None,
    "epicCase": None,
    "metadata": {},
    "embedding": None,
}
"""Known fields that are left out of the stored form when they equal this value."""


def agent_named(name: str) -> str | None:
    """Return the agent id made from a name, or None for an empty name."""
    return _NOT_IN_AGENT_ID.sub("-", name)[:AGENT_ID_CHARACTERS] or None


def split_id(entry_id: str) -> tuple[str, str]:
    """Return project and local part; the project is empty when the id names none."""
    project, colon, local = entry_id.partition(":")
    return (project, local) if colon else ("", entry_id)
