"""Types of ai-memory: its field names, formats, relations and memories."""

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.requests import Request, Response
from qms.text.flags import Flag

EXAMPLE_LOCAL_ID = "01931c6e-0000-7000-8000-000000000000"
OTHER_LOCAL_ID = "01931c6e-0000-7000-8000-000000000001"
"""Values for the examples of tools."""

GLOBAL = "global"
"""The namespace of a memory that names none."""

MAX_LISTED = 200
MAX_ARCHIVED = 1000

Priority = Annotated[int, msgspec.Meta(ge=1, le=10)]
Confidence = Annotated[float, msgspec.Meta(ge=0, le=1)]
Limit = Annotated[int, msgspec.Meta(ge=1, le=MAX_LISTED)]
Offset = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]
Source = Literal["user", "claude", "hook", "api", "cli", "import", "consolidation", "system"]
LinkType = Literal["related_to", "supersedes", "contradicts", "derived_from"]

DERIVED_FROM = "derivedFrom"

TYPE_OF_LINK = {"related_to": "relatedTo", "derived_from": DERIVED_FROM}
"""The relation types whose names differ."""

_LINK_OF_TYPE = {type_: link for link, type_ in TYPE_OF_LINK.items()}


class TextFormat(StrEnum):
    """The format of a list of memories."""

    JSON = "json"
    TOON = "toon"
    TOON_COMPACT = "toon_compact"


class SnakeRequest(Request, frozen=True, rename="lower"):
    """A request whose keys are written with underscores."""


class SnakeResponse(Response, frozen=True, rename="lower"):
    """An answer whose keys are written with underscores."""


class IdRequest(SnakeRequest, frozen=True):
    """The id of a memory, with or without the project."""

    id: str


class Memory(SnakeResponse, frozen=True):
    """An entry in the form of ai-memory."""

    id: str
    tier: str
    namespace: str | None
    title: str
    content: str
    tags: list[str]
    priority: int
    confidence: float
    source: str
    access_count: int
    created_at: str
    updated_at: str
    last_accessed_at: str | None
    expires_at: str | None
    metadata: dict[str, Any]
    score: float | UnsetType = UNSET
    flags: tuple[Flag, ...] | UnsetType = UNSET


class MemoryLink(SnakeResponse, frozen=True):
    """A relation between two memories."""

    source_id: str
    target_id: str
    relation: str
    created_at: str | UnsetType = UNSET


def link_of_type(type_: str) -> str:
    """Return ai-memory's name for a type of relation."""
    return _LINK_OF_TYPE.get(type_, type_)
