"""Waiting for what another thread does, with a bound."""

import threading
import time
from collections.abc import Callable

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
