"""Touches: uses of entries whose effects (TTL, promotion, priority) are not stored yet.

They wait in RAM until they are settled; a crash loses at most a TTL extension.
"""

import threading
from collections.abc import Iterable
from datetime import datetime

import msgspec

from qms.store.usage import Usage, Use


class Touch(msgspec.Struct, frozen=True):
    """When an entry was last used, how often in all, and up to which count it was rewarded."""

    at_utc: datetime
    uses: int
    rewarded: int = 0


class Touches:
    """The unsettled touches of one store; any thread may call any method."""

    def __init__(self, usage: Usage) -> None:
        self._usage = usage
        self._lock = threading.Lock()
        self._waiting: dict[str, datetime] = {}
        self.settling = threading.Lock()
        """Held while touches are settled, so that nothing is rewarded twice."""

    def count(self, entry_ids: Iterable[str], now: datetime) -> dict[str, Touch]:
        """Count a use of each of these entries and return the touch of each."""
        ids = list(entry_ids)
        self._usage.touch(ids, now)
        return {one: self._touch(one, now) for one in ids}

    def defer(self, entry_ids: Iterable[str], now: datetime) -> None:
        """Record a use of these entries, to be settled later."""
        with self._lock:
            for entry_id in entry_ids:
                self._waiting[entry_id] = max(now, self._waiting.get(entry_id, now))

    def waiting(self) -> dict[str, Touch]:
        """Return the unsettled touches, by entry."""
        with self._lock:
            waiting = dict(self._waiting)
        return {one: self._touch(one, at) for one, at in waiting.items()}

    def settle(self, settled: dict[str, Touch], rewarded: Iterable[str]) -> None:
        """Drop settled touches, unless the entry was used again since."""
        for entry_id in rewarded:
            self._usage.reward(entry_id, settled[entry_id].uses)
        with self._lock:
            for entry_id, touch in settled.items():
                if self._waiting.get(entry_id) == touch.at_utc:
                    del self._waiting[entry_id]

    def _touch(self, entry_id: str, at_utc: datetime) -> Touch:
        use = self._usage.of(entry_id) or Use(0, at_utc)
        return Touch(at_utc, use.count, use.rewarded)
