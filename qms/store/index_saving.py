"""When indexes are saved: soon enough that a kill costs little, seldom enough to cost little."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

SAVE_AFTER_S = 15.0
"""So long something waits for others or for a quiet moment."""

COST_FACTOR = 20
"""Between two saves lie so many times the seconds that the last one took: 5 % of the time."""


class SavePace:
    """Remembers since when something is unsaved, and what saving costs.

    So many unsaved things as `at_once` says do not wait.
    """

    def __init__(self, at_once: float = math.inf) -> None:
        self._at_once = at_once
        self._unsaved_since = math.inf
        self._not_before = -math.inf

    def due_in(self, now: float, unsaved: int, *, is_quiet: bool) -> float:
        """Return in how many seconds to save, 0 for now, infinity when there is nothing to."""
        if not unsaved:
            self._unsaved_since = math.inf
            return math.inf
        self._unsaved_since = min(self._unsaved_since, now)
        is_due = is_quiet or unsaved >= self._at_once
        due_at = now if is_due else self._unsaved_since + SAVE_AFTER_S
        return max(0.0, due_at - now, self._not_before - now)

    @contextmanager
    def saving(self, now: float) -> Iterator[None]:
        """Measure a save that begins now, so that the next one keeps its distance."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._not_before = now + (1 + COST_FACTOR) * (time.monotonic() - began)
            self._unsaved_since = math.inf
