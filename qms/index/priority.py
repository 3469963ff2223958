"""Priority: long work pauses until no search is running, embedding until no import is running.

Python runs one thread at a time and has no priorities. Every pause has a limit.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOST_WAIT_S = 0.02
"""How long work waits at one pause, so that many searches slow it down but never stop it."""

IMPORT_WAIT_S = 1.0
"""How long embedding waits for an import: one batch of vectors a second is always made."""

ENTRIES_A_STOP = 20
"""How many entries are processed between two pauses."""

SEARCHED_S = 1.0
"""For this long after a search another one is expected."""


class Priority:
    """Gives searches priority over long work; any thread may call any method."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._searches = self._imports = 0
        self._searched_at = -math.inf
        self._changed = threading.Condition()

    @contextmanager
    def first(self) -> Iterator[None]:
        """Run this block as a search: other work yields to it."""
        with self._changed:
            self._searches += 1
        try:
            yield
        finally:
            with self._changed:
                self._searches -= 1
                self._searched_at = self._monotonic()
                self._changed.notify_all()

    @contextmanager
    def importing(self) -> Iterator[None]:
        """Run this block as an import: embedding yields to it."""
        with self._changed:
            self._imports += 1
        try:
            yield
        finally:
            with self._changed:
                self._imports -= 1
                self._changed.notify_all()

    def wait_for_imports(self) -> None:
        """Wait for running imports, at most 1 s."""
        if self._imports:
            with self._changed:
                self._changed.wait_for(lambda: not self._imports, IMPORT_WAIT_S)

    def give_way(self) -> None:
        """Wait for running searches, at most 20 ms."""
        if self._searches:
            with self._changed:
                self._changed.wait_for(lambda: not self._searches, MOST_WAIT_S)

    @property
    def is_searched(self) -> bool:
        """Say whether a search runs, or ran in the last second."""
        return self._searches > 0 or self._monotonic() - self._searched_at <= SEARCHED_S

    @property
    def searches(self) -> int:
        """Return how many searches are under way."""
        return self._searches
