"""Measures the recent embedding rate and estimates the time for the backlog."""

import math

RECENT_BATCHES = 16
"""How many recent batches count: few, since searches and imports change the rate."""


class EmbeddingRate:
    """The measured rate; one thread calls `note`, any thread reads."""

    def __init__(self) -> None:
        self._recent: tuple[tuple[int, float], ...] = ()

    def note(self, entries: int, seconds: float) -> None:
        """Record an embedded batch."""
        if entries > 0:
            self._recent = (*self._recent, (entries, seconds))[-RECENT_BATCHES:]

    def seconds_for(self, entries: int) -> int | None:
        """Return the estimated time for this number of entries, or None before the first batch."""
        if entries <= 0:
            return 0
        recent = self._recent
        if not recent:
            return None
        embedded = sum(count for count, _ in recent)
        return math.ceil(entries * sum(seconds for _, seconds in recent) / embedded)
