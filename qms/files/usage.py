"""Usage: how often entries were read, and when last; beside the entries, never in them.

A cache: without the file, ranking forgets a habit and nothing else. `touch` works in RAM; `save`
writes the file as a whole, away from requests.
"""

import logging
import math
import threading
from collections.abc import Container, Iterable, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from qms.fsio.disk import Disk

log = logging.getLogger(__name__)

SAVE_S = 60.0
"""How long touches may wait for a save: what a crash can cost."""

_FORMAT = 1


class Use(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """How often an entry was read, when last, and up to which count that was rewarded."""

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
        """Return how often entries were read, as it goes on; those never read are not in it."""
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
        """Remember that an entry has got what its first `count` reads bring."""
        with self._lock:
            self._rewarded[entry_id] = count
            self._is_changed = True

    def forget(self, entry_id: str, living: Container[str]) -> None:
        """Drop what is known of an entry, in the file too."""
        with self._lock:
            self._last.pop(entry_id, None)
            self._rewarded.pop(entry_id, None)
            self._is_changed = self._counts.pop(entry_id, None) is not None or self._is_changed
        self.save(living)

    def due_in(self, now_s: float) -> float:
        """Return the seconds until a save is due (`now_s`: monotonic), endless for nothing."""
        return self._saved_at + SAVE_S - now_s if self._is_changed else math.inf

    def save(self, living: Container[str], now_s: float = -math.inf) -> None:
        """Write what changed since the last time, of entries that are still there.

        A disk that does not take it is logged and tried again later.
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
        except (OSError, ValueError) as error:
            log.warning("usage begins anew", extra={"reason": type(error).__name__})
            return {}
        return found.entries if found.format == _FORMAT else {}
