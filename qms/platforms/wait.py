"""Polls for something that another process does, with a time limit."""

import time
from collections.abc import Callable, Iterator


class Patience:
    """A clock and a sleep function; the time that each poll takes counts as well."""

    def __init__(
        self,
        *,
        pause: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pause = pause
        self._monotonic = monotonic

    def looks(self, *, every_s: float, limit_s: float) -> Iterator[None]:
        """Yield once for the first poll, then after each pause, until the limit is reached."""
        deadline = self._monotonic() + limit_s
        yield
        while self._monotonic() < deadline:
            self._pause(every_s)
            yield
