"""When vectors are saved: soon enough that a kill costs little, seldom enough to cost little."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

SAVE_FROM = 1000
"""So many entries without a place in the file are saved at once."""

SAVE_AFTER_S = 15.0
"""Fewer wait so long, while others are still being embedded."""

COST_FACTOR = 20
"""Between two saves lie so many times the seconds that the last one took: 5 % of the time."""


class SavePace:
    """Remembers since when something is unsaved, and what saving costs."""

    def __init__(self) -> None:
        self._unsaved_since = math.inf
        self._not_before = -math.inf

    def due_in(self, now: float, unsaved: int, *, is_quiet: bool) -> float:
        """Return in how many seconds to save, 0 for now, infinity when there is nothing to."""
        if not unsaved:
            self._unsaved_since = math.inf
            return math.inf
        self._unsaved_since = min(self._unsaved_since, now)
        is_due = is_quiet or unsaved >= SAVE_FROM
        due_at = now if is_due else self._unsaved_since + SAVE_AFTER_S
        return max(0.0, due_at - now, self._not_before - now)

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Measure a save, so that the next one keeps its distance."""
        began = time.monotonic()
        try:
            yield
        finally:
            ended = time.monotonic()
            self._not_before = ended + COST_FACTOR * (ended - began)
            self._unsaved_since = math.inf
