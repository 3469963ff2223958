"""Filters, sort keys and pages of lists and searches."""

from enum import StrEnum
from typing import Annotated, Any

import msgspec

from qms.memory.bodies import Kind
from qms.memory.entry import CurationTier, Header, Retention
from qms.memory.errors import invalid
from qms.memory.relations import AwareTime

DEFAULT_PAGE_SIZE = 50


class Include(StrEnum):
    """How much of each entry an answer carries."""

    IDS = "ids"
    SUMMARY = "summary"
    SNIPPET = "snippet"
    FULL = "full"


class Format(StrEnum):
    """How an answer is written."""

    JSON = "json"
    TOON = "toon"
    TOON_COMPACT = "toonCompact"


class Filter(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Conditions that all must hold; After is inclusive, Before exclusive.

    Lists become sets when they are decoded: each is compared with every entry of a store.
    """

    kinds: frozenset[Kind] = frozenset()
    tags: frozenset[str] = frozenset()
    any_tags: frozenset[str] = frozenset()
    tiers: frozenset[CurationTier] = frozenset()
    retention: Retention | None = None
    namespace: str | None = None
    epic_slug: str | None = None
    epic_case: str | None = None
    conversation_id: str | None = None
    agent_id: str | None = None
    source_type: str | None = None
    created_after: AwareTime | None = None
    created_before: AwareTime | None = None
    updated_after: AwareTime | None = None
    updated_before: AwareTime | None = None
    min_priority: Annotated[int, msgspec.Meta(ge=1, le=10)] | None = None
    min_confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    pinned: bool | None = None
    metadata: dict[str, Any] | None = None
    kind: Kind | None = None
    tier: CurationTier | None = None
    tag: str | None = None

    @property
    def names_kinds(self) -> bool:
        """Say whether the filter names kinds: without, chunks of documents are left out."""
        return bool(self.kinds) or self.kind is not None

    @property
    def needs_document(self) -> bool:
        """Say whether the filter needs more than the header."""
        texts = (self.conversation_id, self.source_type)
        return any(text is not None for text in texts) or bool(self.metadata)


class Page(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Which part of a list to answer with."""

    size: int = DEFAULT_PAGE_SIZE
    cursor: str | None = None


class Sort(msgspec.Struct, frozen=True):
    """A sort key and its direction."""

    key: str
    descending: bool


SORT_KEYS = ("updated", "created", "title", "priority", "relevance")


def parse_sort(text: str) -> Sort:
    """Return the sort that `text` names, a leading minus meaning descending.

    Raises:
        InvalidInputError: the key is not one that lists sort by.
    """
    key = text.removeprefix("-")
    if key not in SORT_KEYS:
        raise invalid(
            "sort", f"{text[:64]!r} is not one of {', '.join(SORT_KEYS)}, with - before it"
        )
    return Sort(key, text.startswith("-"))


def matches_header(wanted: Filter, header: Header) -> bool:
    """Say whether the header fulfils every condition that a header can decide."""
    return (
        _matches_what(wanted, header)
        and _matches_where(wanted, header)
        and _matches_weight(wanted, header)
        and _matches_when(wanted, header)
    )


def matches_document(wanted: Filter, document: dict[str, Any]) -> bool:
    """Say whether the document fulfils the conditions that need more than the header."""
    if wanted.conversation_id is not None:
        body = document.get("body")
        if not isinstance(body, dict) or body.get("conversationId") != wanted.conversation_id:
            return False
    if wanted.source_type is not None:
        source = document.get("source")
        if not isinstance(source, dict) or source.get("type") != wanted.source_type:
            return False
    if wanted.metadata:
        metadata = document.get("metadata") or {}
        return all(
            key in metadata and metadata[key] == value for key, value in wanted.metadata.items()
        )
    return True


def _matches_what(wanted: Filter, header: Header) -> bool:
    if wanted.kinds and header.kind not in wanted.kinds:
        return False
    if wanted.kind and header.kind != wanted.kind:
        return False
    if not wanted.tags.issubset(header.tags):
        return False
    if wanted.tag is not None and wanted.tag not in header.tags:
        return False
    return not (wanted.any_tags and wanted.any_tags.isdisjoint(header.tags))


def _matches_where(wanted: Filter, header: Header) -> bool:
    return (
        (wanted.namespace is None or header.namespace == wanted.namespace)
        and (wanted.epic_slug is None or header.epic_slug == wanted.epic_slug)
        and (wanted.epic_case is None or header.epic_case == wanted.epic_case)
        and (wanted.agent_id is None or header.agent_id == wanted.agent_id)
    )


def _matches_weight(wanted: Filter, header: Header) -> bool:
    return (
        (not wanted.tiers or header.curation_tier in wanted.tiers)
        and (wanted.tier is None or header.curation_tier == wanted.tier)
        and (wanted.retention is None or header.retention == wanted.retention)
        and (wanted.min_priority is None or header.priority >= wanted.min_priority)
        and (wanted.min_confidence is None or header.confidence >= wanted.min_confidence)
        and (wanted.pinned is None or header.pinned == wanted.pinned)
    )


def _matches_when(wanted: Filter, header: Header) -> bool:
    created, updated = header.timestamps.created_utc, header.timestamps.updated_utc
    return (
        (wanted.created_after is None or created >= wanted.created_after)
        and (wanted.created_before is None or created < wanted.created_before)
        and (wanted.updated_after is None or updated >= wanted.updated_after)
        and (wanted.updated_before is None or updated < wanted.updated_before)
    )
