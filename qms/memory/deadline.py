"""Deadline: ends a read when its time is up or its client is gone."""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from qms.memory.errors import UnavailableError

ROWS_PER_CHECK = 1000
"""Rows that a read processes between two checks."""

T = TypeVar("T")


class Deadline:
    """How long a read may take; any thread may cancel it."""

    def __init__(
        self, seconds: float = math.inf, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._monotonic = monotonic
        self._seconds = seconds
        self._ends_s = monotonic() + seconds
        self._is_cancelled = False

    def restart(self) -> None:
        """Start the time again: until now the read waited for a thread."""
        self._ends_s = self._monotonic() + self._seconds

    def cancel(self) -> None:
        """End the read at its next check: its client is gone."""
        self._is_cancelled = True

    def check(self) -> None:
        """Raise `UnavailableError` when the read has to end."""
        if self._is_cancelled:
            raise UnavailableError("the client is gone, so the command was stopped")
        if self._monotonic() > self._ends_s:
            raise UnavailableError(
                f"the command took longer than the limit readSeconds of {self._seconds:g} s:"
                " ask for less, or try again later",
                limit="readSeconds",
                maximum=self._seconds,
            )

    def rows(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items, checking now and after every `ROWS_PER_CHECK` of them."""
        for number, item in enumerate(items):
            if number % ROWS_PER_CHECK == 0:
                self.check()
            yield item

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Wait for a store or an index inside this block: that time does not count."""
        began_s = self._monotonic()
        try:
            yield
        finally:
            self._ends_s += self._monotonic() - began_s


NO_DEADLINE = Deadline()
"""For commands without a waiting client: on files, in the background."""
