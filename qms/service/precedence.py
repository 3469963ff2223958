"""Who goes first: somebody waits for a search, while an import and its indexing take their time.

Python runs one thread at a time and knows no priorities. Whoever works long therefore stops now and
then, and goes on when no search is under way, or after a moment all the same.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

MOST_WAIT_S = 0.02
"""How long work waits at one stop, so that many searches slow it down but never end it."""

ENTRIES_A_STOP = 20
"""How many entries are worked on between two stops."""


class Precedence:
    """Lets searches go before work that takes long; any thread may call any method."""

    def __init__(self) -> None:
        self._searches = 0
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
                self._changed.notify_all()

    def give_way(self) -> None:
        """Wait for the searches under way, for a moment at most."""
        if self._searches:
            with self._changed:
                self._changed.wait_for(lambda: not self._searches, MOST_WAIT_S)
