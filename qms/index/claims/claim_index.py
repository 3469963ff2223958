"""The claim index of one store: finds claims by subject and title.

A cache in RAM. A commit only records which entries changed; their claims are read by the next
request, or by the indexer in the background.
"""

import threading
from collections.abc import Iterator
from itertools import islice

import msgspec

from qms.index.claims.claims import Claim, Disagreement, claim_of, disagreement
from qms.memory.changes import ChangeSet
from qms.store.memory_store import MemoryStore
from qms.store.view import Record

COMPARED = 20
"""A claim is compared with at most this many others of its subject or title, the latest ones."""

REMEMBERED = 1000
"""How many parsed claims are cached: the latest ones are compared most."""

AT_ONCE = 200
"""How many unread entries a request reads, at most; the indexer reads the rest."""


class Clash(msgspec.Struct, frozen=True):
    """An entry whose claim contradicts another one, and why."""

    entry_id: str
    reason: Disagreement


class ClaimIndex:
    """Entries by the subject and title of their claims; any thread may call any method."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._notes_lock = threading.Lock()  # apart, so that a commit never waits for reading
        self._unread: dict[str, None] = dict.fromkeys(sorted(store.view.records))
        self._ids: dict[int, dict[str, None]] = {}
        self._keys: dict[str, tuple[int, ...]] = {}
        self._read: dict[str, tuple[Record, Claim | None]] = {}
        store.subscribe(self._note)

    @property
    def unread(self) -> int:
        """Return how many changed entries are not read yet."""
        return len(self._unread)

    def read(self, most: int = AT_ONCE) -> None:
        """Read at most `most` changed entries, the last changed first."""
        with self._lock:
            with self._notes_lock:
                chosen = [self._unread.popitem()[0] for _ in range(min(most, len(self._unread)))]
            for entry_id in reversed(chosen):
                self._enter(entry_id)

    def against(self, record: Record) -> Iterator[Clash]:
        """Yield the entries whose claims disagree with an entry's, the latest first."""
        claim = self._claim(record)
        if claim is None:
            return
        for entry_id in self._about(claim):
            other = self._store.view.get(entry_id)
            claimed = self._claim(other) if other is not None else None
            reason = disagreement(claim, claimed) if claimed is not None else None
            if reason is not None and entry_id != record.header.id:
                yield Clash(entry_id, reason)

    def _about(self, claim: Claim) -> dict[str, None]:
        """Return the entries of the same subject, then those of the same title."""
        with self._lock:
            latest = [islice(reversed(self._ids.get(key, {})), COMPARED) for key in claim.keys]
            return dict.fromkeys(one for ids in reversed(latest) for one in ids)

    def _claim(self, record: Record) -> Claim | None:
        kept = self._read.get(record.header.id)
        if kept is not None and kept[0] is record:
            return kept[1]
        claim = claim_of(record.header, record.document())
        with self._notes_lock:
            self._read[record.header.id] = (record, claim)
            if len(self._read) > REMEMBERED:
                del self._read[next(iter(self._read))]
        return claim

    def _note(self, _sequence: int, change_set: ChangeSet) -> None:
        with self._notes_lock:
            for change in change_set.changes:
                self._unread.pop(change.id, None)
                self._unread[change.id] = None

    def _enter(self, entry_id: str) -> None:
        for key in self._keys.pop(entry_id, ()):
            ids = self._ids[key]
            del ids[entry_id]
            if not ids:
                del self._ids[key]
        record = self._store.view.get(entry_id)
        claim = self._claim(record) if record is not None else None
        if claim is not None:
            self._keys[entry_id] = claim.keys
            for key in claim.keys:
                self._ids.setdefault(key, {})[entry_id] = None
