"""Waiting for what another thread does, with a bound."""

import threading
import time
from collections.abc import Callable

from qms.platforms.wait import Patience

BOUND_S = 30.0
"""Far beyond what anything here takes on a busy machine."""

_LOOK_AGAIN_S = 0.002


def eventually(condition: Callable[[], object], *, bound_s: float = BOUND_S) -> None:
    """Return once `condition` holds; fail when it does not within the bound."""
    end = time.monotonic() + bound_s
    never = threading.Event()
    while not condition():
        assert time.monotonic() < end, "the condition did not come true in time"
        never.wait(_LOOK_AGAIN_S)


class PausesOnly:
    """A monotonic clock that only pauses move: waiting takes no time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses = 0

    def pause(self, seconds: float) -> None:
        """Wait."""
        self.now += seconds
        self.pauses += 1

    def patience(self) -> Patience:
        """Return what waits by this clock."""
        return Patience(pause=self.pause, monotonic=lambda: self.now)
