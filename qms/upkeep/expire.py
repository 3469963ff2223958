"""Expiry: entries past their end leave the store for the archive."""

from collections.abc import Iterable
from datetime import datetime
from itertools import islice

from qms.domain.lifecycle import is_expired
from qms.store.draft import Draft
from qms.store.view import StoreView

REASON = "expired"

MAX_BATCH = 1000
"""So many entries leave in one change: what is written meanwhile does not wait for more."""


def expired_ids(view: StoreView, now: datetime, *, most: int = MAX_BATCH) -> list[str]:
    """Return the entries that are past their end, at most so many."""
    found = (one for one, record in view.records.items() if is_expired(record.header, now))
    return list(islice(found, most))


def expire(draft: Draft, ids: Iterable[str], now: datetime, *, keep: bool) -> list[str]:
    """Take out those that are still past their end, and return them.

    Inside the writer, since a recall may have extended one meanwhile. With `keep` they go to the
    archive.
    """
    removed = []
    for entry_id in ids:
        record = draft.get(entry_id)
        if record is not None and is_expired(record.header, now):
            draft.remove(entry_id, reason=REASON, keep=keep)
            removed.append(entry_id)
    return removed
