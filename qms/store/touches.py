"""Touches: uses of entries whose consequences are not in the entries yet.

They wait in RAM until somebody has them settled; what a crash costs is a little of a lifespan.
"""

import threading
from collections.abc import Iterable
from datetime import datetime

import msgspec

from qms.files.usage import Usage, Use


class Touch(msgspec.Struct, frozen=True):
    """When an entry was last used, how often in all, and how much of that was rewarded."""

    at_utc: datetime
    uses: int
    rewarded: int = 0


class Touches:
    """What uses of one store's entries wait for; any thread may call any method."""

    def __init__(self, usage: Usage) -> None:
        self._usage = usage
        self._lock = threading.Lock()
        self._waiting: dict[str, datetime] = {}
        self.settling = threading.Lock()
        """Held by whoever settles, so that nothing is rewarded twice."""

    def count(self, entry_ids: Iterable[str], now: datetime) -> dict[str, Touch]:
        """Count a use of each of these entries and return what is known of each."""
        ids = list(entry_ids)
        self._usage.touch(ids, now)
        return {one: self._touch(one, now) for one in ids}

    def defer(self, entry_ids: Iterable[str], now: datetime) -> None:
        """Let the uses of these entries, now, wait to be settled."""
        with self._lock:
            for entry_id in entry_ids:
                self._waiting[entry_id] = max(now, self._waiting.get(entry_id, now))

    def waiting(self) -> dict[str, Touch]:
        """Return what waits, by entry."""
        with self._lock:
            waiting = dict(self._waiting)
        return {one: self._touch(one, at) for one, at in waiting.items()}

    def settle(self, settled: dict[str, Touch], rewarded: Iterable[str]) -> None:
        """Let go what was settled, unless it was used again meanwhile."""
        for entry_id in rewarded:
            self._usage.reward(entry_id, settled[entry_id].uses)
        with self._lock:
            for entry_id, touch in settled.items():
                if self._waiting.get(entry_id) == touch.at_utc:
                    del self._waiting[entry_id]

    def _touch(self, entry_id: str, at_utc: datetime) -> Touch:
        use = self._usage.of(entry_id) or Use(0, at_utc)
        return Touch(at_utc, use.count, use.rewarded)
