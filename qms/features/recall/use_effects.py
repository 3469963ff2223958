"""Effects of use on an entry: a later end, promotion to long, a higher priority."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from qms.memory.entry import Header, Retention
from qms.memory.retention import RetentionLengths, expiry, is_expired
from qms.memory.validation import instant_text, normalise
from qms.store.draft import Draft
from qms.store.pending_uses import Touch

PROMOTED_AFTER = 5
"""This many uses promote an entry from mid to long retention."""

RAISED_EVERY = 10
"""Every time this many uses are reached, the entry's priority rises by one."""

MAX_PRIORITY = 10

SMALL_SHARE = 60
"""An extension that gains less than one 60th of its length can wait for others."""


def follow_up(header: Header, touch: Touch, lengths: RetentionLengths) -> dict[str, Any]:
    """Return the fields that a use changes; none for a permanent or expired entry."""
    if header.is_permanent or is_expired(header, touch.at_utc):
        return {}
    fields: dict[str, Any] = {}
    if header.retention is Retention.MID and touch.uses >= PROMOTED_AFTER:
        fields["retention"] = Retention.LONG.value
        fields["ttlUtc"] = _text(_end_when_promoted(header, touch.at_utc, lengths))
    elif (end := _extended(header, touch.at_utc, lengths)) is not None:
        fields["ttlUtc"] = _text(end)
    raised = min(MAX_PRIORITY, header.priority + raises(touch))
    if raised > header.priority:
        fields["priority"] = raised
    return fields


def can_wait(header: Header, touch: Touch, lengths: RetentionLengths) -> bool:
    """Say whether a use changes nothing, or only gives a slightly later end."""
    fields = follow_up(header, touch, lengths)
    if set(fields) != {"ttlUtc"} or header.ttl_utc is None:
        return not fields
    extension = lengths.extension_seconds(header.retention)
    gained = touch.at_utc + timedelta(seconds=extension) - header.ttl_utc
    return gained < timedelta(seconds=extension / SMALL_SHARE)


def apply_touches(
    draft: Draft, touches: Mapping[str, Touch], lengths: RetentionLengths
) -> list[str]:
    """Apply the effects of these uses, and return the entries whose priority rises.

    This runs inside the writer, since entries may have changed or been removed. `updatedUtc`
    stays: the content did not change.
    """
    for entry_id, touch in touches.items():
        record = draft.get(entry_id)
        fields = follow_up(record.header, touch, lengths) if record is not None else {}
        if record is not None and fields:
            document = record.document()
            draft.put(normalise({**document, **fields}, like=document), is_newer=False)
    return [one for one, touch in touches.items() if raises(touch) and draft.get(one) is not None]


def raises(touch: Touch) -> int:
    """Return by how much the priority rises for the uses since the last rise."""
    return touch.uses // RAISED_EVERY - touch.rewarded // RAISED_EVERY


def _extended(header: Header, now: datetime, lengths: RetentionLengths) -> datetime | None:
    seconds = lengths.extension_seconds(header.retention)
    end = now + timedelta(seconds=seconds)
    is_later = header.ttl_utc is not None and seconds > 0 and end > header.ttl_utc
    return end if is_later else None


def _end_when_promoted(header: Header, now: datetime, lengths: RetentionLengths) -> datetime | None:
    end = expiry(Retention.LONG, now, lengths)
    return None if end is None or header.ttl_utc is None else max(end, header.ttl_utc)


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else instant_text(instant)
