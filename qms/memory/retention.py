"""Retention arithmetic: when an entry expires, and whether it has expired."""

from datetime import datetime, timedelta

import msgspec

from qms.memory.entry import Header, Retention

MAX_TTL_SECONDS = 365 * 86400
"""The longest `ttlSeconds` of a request: one year."""

MAX_SECONDS = 10 * 365 * 86400
"""The longest finite retention: ten years."""


class RetentionLengths(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How long an entry of each retention lives, in seconds; 0 is forever."""

    short_seconds: int = 6 * 3600
    mid_seconds: int = 7 * 86400
    long_seconds: int = 0
    short_extend_seconds: int = 3600
    mid_extend_seconds: int = 86400
    archive_expired: bool = True

    def seconds(self, retention: Retention) -> int:
        """Return the length of one retention."""
        match retention:
            case Retention.SHORT:
                return self.short_seconds
            case Retention.MID:
                return self.mid_seconds
            case Retention.LONG:
                return self.long_seconds

    def extension_seconds(self, retention: Retention) -> int:
        """Return the least time that an entry lives after a use; 0 when use does not extend it."""
        match retention:
            case Retention.SHORT:
                return self.short_extend_seconds
            case Retention.MID:
                return self.mid_extend_seconds
            case Retention.LONG:
                return 0


def expiry(retention: Retention, now: datetime, lengths: RetentionLengths) -> datetime | None:
    """Return when an entry whose retention is set `now` expires, or None for never."""
    seconds = lengths.seconds(retention)
    return now + timedelta(seconds=seconds) if seconds else None


def is_expired(header: Header, now: datetime) -> bool:
    """Say whether the entry has expired; it has at the very instant of its expiry."""
    return header.ttl_utc is not None and not header.is_permanent and header.ttl_utc <= now
