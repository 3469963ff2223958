"""Translates a filter into terms and ranges of the keyword index.

An entry passes here exactly when it passes `memory.filters`.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

import msgspec

from qms.index.indexed_entry import IndexDocument
from qms.memory.filters import Filter, matches_document, matches_header
from qms.memory.retention import is_expired

CREATED = "created"
UPDATED = "updated"
EXPIRES = "expires"
PRIORITY = "priority"
CONFIDENCE = "confidence"

NEVER = (1 << 63) - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LONGEST_PLAIN_TERM = 200


class Range(msgspec.Struct, frozen=True):
    """The accepted values of a number field: from `low`, below `high` if there is one."""

    field: str
    low: int | float | None = None
    high: int | float | None = None


def microseconds(instant: datetime) -> int:
    """Return an instant as the integer that is indexed."""
    return (instant - _EPOCH) // _MICROSECOND


def filter_terms(document: IndexDocument) -> list[str]:
    """Return the terms of an entry that filters can require."""
    header = document.header
    single = {
        "kind": header.kind.value,
        "tier": header.curation_tier.value,
        "retention": header.retention.value,
        "namespace": header.namespace,
        "epicSlug": header.epic_slug,
        "epicCase": header.epic_case,
        "agentId": header.agent_id,
        "conversationId": document.conversation_id,
        "sourceType": document.source_type,
        "pinned": str(header.pinned),
    }
    return [
        *(_term(name, value) for name, value in single.items() if value is not None),
        *(_term("tag", tag) for tag in header.tags),
        *(_metadata_term(key, value) for key, value in document.metadata.items()),
    ]


def numbers(document: IndexDocument) -> dict[str, int | float]:
    """Return the numbers of an entry that filters can compare."""
    header = document.header
    ends = header.ttl_utc if not header.is_permanent else None
    return {
        CREATED: microseconds(header.timestamps.created_utc),
        UPDATED: microseconds(header.timestamps.updated_utc),
        EXPIRES: NEVER if ends is None else microseconds(ends),
        PRIORITY: header.priority,
        CONFIDENCE: header.confidence,
    }


def required_terms(wanted: Filter) -> list[list[str]]:
    """Return groups of terms; an entry that passes has one term of each group."""
    return [list(group) for group in _groups(wanted)]


def _groups(wanted: Filter) -> Iterator[Iterable[str]]:
    if wanted.kinds:
        yield [_term("kind", kind.value) for kind in wanted.kinds]
    if wanted.tiers:
        yield [_term("tier", tier.value) for tier in wanted.tiers]
    if wanted.any_tags:
        yield [_term("tag", tag) for tag in wanted.any_tags]
    for tag in wanted.tags:
        yield [_term("tag", tag)]
    for name, value in _single_values(wanted).items():
        if value is not None:
            yield [_term(name, str(value))]
    for key, value in (wanted.metadata or {}).items():
        yield [_metadata_term(key, value)]


def _single_values(wanted: Filter) -> dict[str, Any]:
    return {
        "kind": wanted.kind and wanted.kind.value,
        "tier": wanted.tier and wanted.tier.value,
        "tag": wanted.tag,
        "retention": wanted.retention and wanted.retention.value,
        "namespace": wanted.namespace,
        "epicSlug": wanted.epic_slug,
        "epicCase": wanted.epic_case,
        "agentId": wanted.agent_id,
        "conversationId": wanted.conversation_id,
        "sourceType": wanted.source_type,
        "pinned": wanted.pinned,
    }


def required_ranges(wanted: Filter | None, now: datetime | None) -> list[Range]:
    """Return the ranges of entries that pass the filter and have not expired `now`."""
    found = [] if now is None else [Range(EXPIRES, microseconds(now) + 1)]
    if wanted is None:
        return found
    for field, after, before in (
        (CREATED, wanted.created_after, wanted.created_before),
        (UPDATED, wanted.updated_after, wanted.updated_before),
    ):
        if after is not None or before is not None:
            found.append(Range(field, _optional(after), _optional(before)))
    if wanted.min_priority is not None:
        found.append(Range(PRIORITY, wanted.min_priority))
    if wanted.min_confidence is not None:
        found.append(Range(CONFIDENCE, wanted.min_confidence))
    return found


class Conditions(msgspec.Struct, frozen=True):
    """Which entries a search may return: those that pass the filter and have not expired."""

    wanted: Filter | None = None
    now: datetime | None = None
    without: Collection[str] = ()

    def allow(self, document: IndexDocument) -> bool:
        """Say whether an entry of the overlay meets the conditions."""
        return (
            document.id not in self.without
            and (self.now is None or not is_expired(document.header, self.now))
            and (self.wanted is None or _matches(self.wanted, document))
        )


def _matches(wanted: Filter, document: IndexDocument) -> bool:
    return matches_header(wanted, document.header) and (
        not _needs_more(wanted) or matches_document(wanted, _as_document(document))
    )


def _needs_more(wanted: Filter) -> bool:
    return (
        wanted.conversation_id is not None
        or wanted.source_type is not None
        or bool(wanted.metadata)
    )


def _as_document(document: IndexDocument) -> dict[str, Any]:
    return {
        "body": {"conversationId": document.conversation_id},
        "source": {"type": document.source_type},
        "metadata": document.metadata,
    }


def _optional(instant: datetime | None) -> int | None:
    return None if instant is None else microseconds(instant)


def _term(name: str, value: str) -> str:
    # Tantivy silently does not index a term that is too long.
    if len(value) > _LONGEST_PLAIN_TERM:
        value = "#" + blake2b(value.encode(), digest_size=16).hexdigest()
    return f"{name}={value}"


def _metadata_term(key: str, value: Any) -> str:
    text = json.dumps([key, _canonical(value)], sort_keys=True, ensure_ascii=False)
    return "metadata=" + blake2b(text.encode(), digest_size=16).hexdigest()


def _canonical(value: Any) -> Any:
    # One form for values that are equal by ==: 1, 1.0 and true.
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items()}
    return value
