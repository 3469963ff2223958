"""Who goes first: somebody waits for a search, while an import and its indexing take their time.

Python runs one thread at a time and knows no priorities. Whoever works long therefore stops now and
then, and goes on when no search is under way, or after a moment all the same. Work that nobody
waits for stands back while an import has the server for itself.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOST_WAIT_S = 0.02
"""How long work waits at one stop, so that many searches slow it down but never end it."""

ENTRIES_A_STOP = 20
"""How many entries are worked on between two stops."""

PAUSE_S = 0.1
"""Calls of an import that follow each other this closely are one."""

SEARCHED_S = 2.0
"""Whoever searched so lately will search again, and wants the indexes to keep up."""

MOST_BEHIND = 1_500
"""While somebody searches, an import waits for the words of more: each makes a search longer."""

MOST_CATCH_UP_S = 2.0
"""So long a call of an import waits for them, whatever keeps them from being written."""

LONGEST_S = 5.0
"""So long indexing stands back; what a longer import brings in is indexed meanwhile."""


class Precedence:
    """Lets searches go before work that takes long; any thread may call any method."""

    def __init__(
        self,
        monotonic: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._monotonic = monotonic
        self._pause = pause
        self._searches = self._imports = 0
        self._searched_at = self._imported_at = self._importing_since = -math.inf
        self._changed = threading.Condition()

    @contextmanager
    def first(self) -> Iterator[None]:
        """Go before all who give way, inside this block."""
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
        """Go before what nobody waits for, inside this block."""
        with self._changed:
            if not self._is_importing():
                self._importing_since = self._monotonic()
            self._imports += 1
        try:
            yield
        finally:
            with self._changed:
                self._imports -= 1
                self._imported_at = self._monotonic()

    def give_way(self) -> None:
        """Wait for the searches under way, for a moment at most."""
        if self._searches:
            with self._changed:
                self._changed.wait_for(lambda: not self._searches, MOST_WAIT_S)

    @property
    def is_import_alone(self) -> bool:
        """Say whether an import is under way, not for long yet, and nobody searches meanwhile."""
        now = self._monotonic()
        return (
            self._is_importing()
            and now - self._importing_since < LONGEST_S
            and not self._is_searched()
        )

    def wait_for(self, count_behind: Callable[[], int]) -> None:
        """Wait, if somebody searches, until few imported entries are behind, or for a while."""
        deadline = self._monotonic() + MOST_CATCH_UP_S
        while self._is_searched() and count_behind() > MOST_BEHIND and self._monotonic() < deadline:
            self._pause(MOST_WAIT_S)

    def _is_searched(self) -> bool:
        return self._searches > 0 or self._monotonic() - self._searched_at <= SEARCHED_S

    def _is_importing(self) -> bool:
        return self._imports > 0 or self._monotonic() - self._imported_at < PAUSE_S
