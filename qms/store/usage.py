"""Usage: how often each entry was read, and when last; stored beside the entries, never in them.

A cache: without the file only ranking changes. `touch` works in RAM; `save` writes the whole file,
outside of requests.
"""

import logging
import math
import threading
from collections.abc import Container, Iterable, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from qms.disk.damage import set_aside
from qms.disk.disk import Disk
from qms.memory.errors import UNDECODABLE

log = logging.getLogger(__name__)

SAVE_S = 60.0
"""How long touches may wait for a save: a crash loses at most these."""

_FORMAT = 1


class Use(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """How often an entry was read, when last, and up to which count it was rewarded."""

    count: int
    last_utc: datetime
    rewarded: int = 0


class _File(msgspec.Struct, frozen=True):
    format: int
    entries: dict[str, Use]


class Usage:
    """The usage of one store's entries, by id; any thread may call any method."""

    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk = disk
        self._path = path
        self._lock = threading.Lock()
        self._saving = threading.Lock()
        self._last: dict[str, datetime] = {}
        self._counts: dict[str, int] = {}
        self._rewarded: dict[str, int] = {}
        self._is_changed = False
        self._saved_at = -math.inf
        for entry_id, use in self._read().items():
            self._counts[entry_id], self._last[entry_id] = use.count, use.last_utc
            if use.rewarded:
                self._rewarded[entry_id] = use.rewarded

    @property
    def counts(self) -> Mapping[str, int]:
        """Return the live read counts by id, without entries that were never read."""
        return self._counts

    def of(self, entry_id: str) -> Use | None:
        """Return the use of an entry, or None when it was never read."""
        with self._lock:
            if entry_id not in self._counts:
                return None
            return self._use(entry_id)

    def touch(self, entry_ids: Iterable[str], now: datetime) -> None:
        """Count a read of each of these entries."""
        with self._lock:
            for entry_id in entry_ids:
                self._counts[entry_id] = self._counts.get(entry_id, 0) + 1
                self._last[entry_id] = now
                self._is_changed = True

    def reward(self, entry_id: str, count: int) -> None:
        """Record that the effects of an entry's first `count` reads are stored."""
        with self._lock:
            self._rewarded[entry_id] = count
            self._is_changed = True

    def forget(self, entry_id: str, living: Container[str]) -> None:
        """Drop the usage of an entry, and of all that are not living, in the file too."""
        with self._lock:
            for kept in (self._last, self._rewarded, self._counts):
                kept.pop(entry_id, None)
            self._is_changed = True
        self.save(living)

    def due_in(self, now_s: float) -> float:
        """Return the seconds until a save is due (`now_s`: monotonic), infinity for no change."""
        return self._saved_at + SAVE_S - now_s if self._is_changed else math.inf

    def save(self, living: Container[str], now_s: float = -math.inf) -> None:
        """Write the usage of existing entries, if it changed.

        A failed write is logged and tried again later.
        """
        with self._saving:
            with self._lock:
                if not self._is_changed:
                    return
                for entry_id in [one for one in self._counts if one not in living]:
                    del self._counts[entry_id], self._last[entry_id]
                    self._rewarded.pop(entry_id, None)
                uses = {entry_id: self._use(entry_id) for entry_id in self._counts}
                self._is_changed = False
            self._saved_at = now_s
            try:
                self._disk.put(self._path, msgspec.json.encode(_File(_FORMAT, uses)))
            except OSError as error:
                self._is_changed = True
                log.warning("usage not saved", extra={"reason": error.strerror})

    def _use(self, entry_id: str) -> Use:
        rewarded = self._rewarded.get(entry_id, 0)
        return Use(self._counts[entry_id], self._last[entry_id], rewarded)

    def _read(self) -> dict[str, Use]:
        try:
            found = msgspec.json.decode(self._disk.read(self._path), type=_File)
        except FileNotFoundError:
            return {}
        except OSError as error:
            log.warning("usage not read", extra={"reason": error.strerror})
            return {}
        except UNDECODABLE as error:
            set_aside(self._disk, self._path, error)
            return {}
        return found.entries if found.format == _FORMAT else {}
