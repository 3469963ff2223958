"""What follows from use: a later end, promotion to long, a higher priority."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from qms.codec.documents import instant_text, normalise
from qms.domain.entry import Header, Retention
from qms.domain.lifecycle import RetentionLengths, expiry, is_expired
from qms.store.draft import Draft
from qms.store.touches import Touch

PROMOTED_AFTER = 5
"""So many uses make an entry of mid retention one that stays."""

RAISED_EVERY = 10
"""Each time so many uses are full, the entry weighs one more."""

MAX_PRIORITY = 10

SMALL_SHARE = 60
"""An extension that gains less than this part of its length can wait for others."""


def follow_up(header: Header, touch: Touch, lengths: RetentionLengths) -> dict[str, Any]:
    """Return the fields that a use changes; what is permanent, or had ended by then, stays."""
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
    """Say whether nothing follows from a use, or only a slightly later end."""
    fields = follow_up(header, touch, lengths)
    if set(fields) != {"ttlUtc"} or header.ttl_utc is None:
        return not fields
    extension = lengths.extension_seconds(header.retention)
    gained = touch.at_utc + timedelta(seconds=extension) - header.ttl_utc
    return gained < timedelta(seconds=extension / SMALL_SHARE)


def apply_touches(
    draft: Draft, touches: Mapping[str, Touch], lengths: RetentionLengths
) -> list[str]:
    """Change what follows from these uses, and return the entries that were rewarded for them.

    Inside the writer, since entries may have changed or gone meanwhile. `updatedUtc` stays: nobody
    has written anything.
    """
    for entry_id, touch in touches.items():
        record = draft.get(entry_id)
        fields = follow_up(record.header, touch, lengths) if record is not None else {}
        if record is not None and fields:
            document = record.document()
            draft.put(normalise({**document, **fields}, like=document), is_newer=False)
    return [one for one, touch in touches.items() if raises(touch) and draft.get(one) is not None]


def raises(touch: Touch) -> int:
    """Return how many times enough uses have come together since the last reward."""
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
