"""Looking again and again for something that another process does, for so long and no longer."""

import time
from collections.abc import Callable, Iterator


class Patience:
    """A clock and a way to wait; each look may take its own time, which counts as well."""

    def __init__(
        self,
        *,
        pause: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pause = pause
        self._monotonic = monotonic

    def looks(self, *, every_s: float, limit_s: float) -> Iterator[None]:
        """Yield for the first look, then for another after each pause, until the limit is over."""
        deadline = self._monotonic() + limit_s
        yield
        while self._monotonic() < deadline:
            self._pause(every_s)
            yield
