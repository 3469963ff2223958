"""Expiry: moves expired entries from the store to the archive."""

from collections.abc import Iterable
from datetime import datetime
from itertools import islice

from qms.memory.retention import is_expired
from qms.store.draft import Draft
from qms.store.view import StoreView

MAX_BATCH = 1000
"""At most this many entries expire in one change, so that other writes do not wait longer."""


def expired_ids(view: StoreView, now: datetime, *, most: int = MAX_BATCH) -> list[str]:
    """Return the ids of expired entries, at most `most`."""
    found = (one for one, record in view.records.items() if is_expired(record.header, now))
    return list(islice(found, most))


def expire(draft: Draft, ids: Iterable[str], now: datetime, *, keep: bool) -> list[str]:
    """Remove those entries that are still expired, and return their ids.

    This runs inside the writer, since a recall may have extended one. With `keep` they go to the
    archive.
    """
    return [entry_id for entry_id in ids if draft.expire(entry_id, now, keep=keep)]
