"""Watches the memory of a test process, gives back what is free, and fails above a limit.

A closed store and its indexes refer to each other, and so do sessions of a model. The collector
counts objects, not megabytes: it leaves such garbage for a long time.
"""

import gc
from collections import Counter
from collections.abc import Callable

import psutil

from qms.app.allocator import give_back

MAX_MEGABYTES = 1024
GROWTH_TO_COLLECT = 64


class MemoryWatch:
    """The memory of this process after each test, and the modules that it grew in."""

    def __init__(
        self,
        now: Callable[[], int],
        collect: Callable[[], None],
        *,
        limit: int = MAX_MEGABYTES,
    ) -> None:
        self._now = now
        self._collect = collect
        self._limit = limit
        self._last = self._collected = now()
        self._is_told = False
        self.growth: Counter[str] = Counter()

    def note(self, module: str) -> None:
        """Count what a test of this module has added, after giving back what is free."""
        if self._now() - self._collected >= GROWTH_TO_COLLECT:
            self._collect()
            self._collected = self._now()
        now = self._now()
        self.growth[module] += now - self._last
        self._last = now

    def complaint(self) -> str | None:
        """Return what is wrong once more stays in use than the limit, and say it once."""
        if self._is_told or self._now() <= self._limit:
            return None
        self._collect()
        if self._now() <= self._limit:
            return None
        self._is_told = True
        most = ", ".join(f"{name} (+{grown} MB)" for name, grown in self.growth.most_common(3))
        return (
            f"this test process keeps {self._now()} MB, more than {self._limit};"
            f" modules that grew most: {most}"
        )


def watch_this_process() -> MemoryWatch:
    """Return a watch on the process that runs the tests."""
    return MemoryWatch(_resident, _collect_all)


def _collect_all() -> None:
    gc.unfreeze()
    gc.collect()
    give_back()


def _resident() -> int:
    return int(psutil.Process().memory_info().rss) >> 20
