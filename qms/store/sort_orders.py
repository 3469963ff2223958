"""Sorted orders of one store's records, updated as the store changes.

The whole store is sorted once per sort key; after that a list costs only what changed since the
last one. A returned list never changes: its reader sees one moment of the store.
"""

import threading
from bisect import bisect_left, insort
from collections.abc import Callable, Mapping
from typing import Any

import immutables

from qms.memory.changes import ChangeSet
from qms.memory.entry import CurationTier
from qms.store.memory_store import MemoryStore
from qms.store.view import Record, StoreView

SortValue = tuple[Any, ...]

_FEW = 256
"""Up to this many changes are moved one by one; for more, sorting all is cheaper."""

REMEMBERED = 20_000
"""Beyond this many unread changes the order is sorted from scratch."""

_TRUST = {tier: rank for rank, tier in enumerate(CurationTier)}


def _by_update(record: Record) -> SortValue:
    # The journal's sequence comes first: it increases even if the clock goes back.
    return (record.order, record.header.timestamps.updated_utc, record.header.id)


def _by_creation(record: Record) -> SortValue:
    return (record.header.timestamps.created_utc, record.header.id)


def _by_title(record: Record) -> SortValue:
    return (record.header.title.casefold(), record.header.id)


def _by_priority(record: Record) -> SortValue:
    return (record.header.priority, record.header.id)


def _by_relevance(record: Record) -> SortValue:
    # A list has no query: relevance is what the header says of the entry.
    header = record.header
    trust = _TRUST[header.curation_tier]
    return (header.pinned, trust, header.priority, header.confidence, record.order, header.id)


SORT_VALUES: dict[str, Callable[[Record], SortValue]] = {
    "updated": _by_update,
    "created": _by_creation,
    "title": _by_title,
    "priority": _by_priority,
    "relevance": _by_relevance,
}
"""What each sort key compares; the id comes last, so that no two records are equal."""


class SortOrders:
    """Every sorted order of one store that was requested."""

    def __init__(
        self,
        store: MemoryStore,
        *,
        values: Mapping[str, Callable[[Record], SortValue]] = SORT_VALUES,
        remembered: int = REMEMBERED,
    ) -> None:
        self._store = store
        self._values = values
        self._remembered = remembered
        self._lock = threading.Lock()
        self._notes_lock = threading.Lock()  # apart, so that a commit never waits for a sort
        self._orderings: dict[str, _Ordering] = {}
        store.subscribe(self._note)

    def sorted_by(self, key: str) -> list[Record]:
        """Return all records in ascending order of `key`; the list is never changed again."""
        with self._lock:
            with self._notes_lock:
                if key not in self._orderings:
                    self._orderings[key] = _Ordering(self._values[key], self._remembered)
                ordering = self._orderings[key]
                changed = ordering.take_notes()
            # The view is read after the notes: every change that they name is visible in it.
            return ordering.advance(changed, self._store.view)

    def _note(self, _sequence: int, change_set: ChangeSet) -> None:
        with self._notes_lock:
            for ordering in self._orderings.values():
                ordering.note(change_set)


class _Ordering:
    """One sorted order and the changes since it was last requested."""

    def __init__(self, value_of: Callable[[Record], SortValue], remembered: int) -> None:
        self._value_of = value_of
        self._remembered = remembered
        self._records: list[Record] = []
        self._placed: immutables.Map[str, Record] = immutables.Map()
        self._seen: StoreView | None = None
        self._changed: set[str] | None = None

    def note(self, change_set: ChangeSet) -> None:
        if self._changed is None:
            return
        self._changed.update(change.id for change in change_set.changes)
        if len(self._changed) > self._remembered:
            self._changed = None

    def take_notes(self) -> set[str] | None:
        """Return which entries changed since the last call, or None when too many did."""
        changed, self._changed = self._changed, set()
        return changed

    def advance(self, changed: set[str] | None, view: StoreView) -> list[Record]:
        if changed is None or self._has_moved_unnoted(view):
            self._placed = view.records
            self._records = sorted(view.records.values(), key=self._value_of)
        elif changed:
            self._merge(changed, view, self._placed)
        self._seen = view
        return self._records

    def _has_moved_unnoted(self, view: StoreView) -> bool:
        """Say whether entries changed without a commit: a hand edit that the journal refused."""
        seen = self._seen
        return (
            seen is not None and seen.sequence == view.sequence and seen.records is not view.records
        )

    def _merge(
        self, changed: set[str], view: StoreView, placed: immutables.Map[str, Record]
    ) -> None:
        moved = {
            entry_id: view.get(entry_id)
            for entry_id in changed
            if placed.get(entry_id) is not view.get(entry_id)
        }
        gone = [record for entry_id in moved if (record := placed.get(entry_id)) is not None]
        new = [record for record in moved.values() if record is not None]
        if len(moved) > _FEW:
            self._records = [item for item in self._records if item.header.id not in moved]
            self._records += new
            self._records.sort(key=self._value_of)
        elif moved:
            self._records = self._moved_one_by_one(gone, new)
        self._placed = _updated(placed, moved)

    def _moved_one_by_one(self, gone: list[Record], new: list[Record]) -> list[Record]:
        records = self._records.copy()
        for record in gone:
            del records[bisect_left(records, self._value_of(record), key=self._value_of)]
        for record in new:
            insort(records, record, key=self._value_of)
        return records


def _updated(
    placed: immutables.Map[str, Record], moved: dict[str, Record | None]
) -> immutables.Map[str, Record]:
    changes = placed.mutate()
    for entry_id, record in moved.items():
        if record is not None:
            changes[entry_id] = record
        elif entry_id in changes:
            del changes[entry_id]
    return changes.finish()
