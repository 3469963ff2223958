"""Relations: typed, weighted edges that belong to their source entry."""

import re
from datetime import datetime
from typing import Annotated, Any

import msgspec

MEANINGFUL_TYPES = frozenset(
    {
        "ref",
        "relatedTo",
        "supersedes",
        "contradicts",
        "derivedFrom",
        "partOf",
        "mentions",
        "answers",
    }
)
"""The relation types that the server itself acts on; any other well-formed one is traversed."""

RELATION_TYPE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
TYPE_RULE = "must be a letter and up to 63 letters, digits, _ or - after it"

AwareTime = Annotated[datetime, msgspec.Meta(tz=True)]


class Relation(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """One edge from the entry that carries it to `target_id`."""

    type: str
    target_id: str
    weight: float = 1.0
    created_utc: AwareTime | None = None
    metadata: dict[str, Any] | None = None
