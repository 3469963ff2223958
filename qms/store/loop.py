"""Background loops: a thread calls a function, waits as long as it returns, and can be woken."""

import logging
import os
import sys
import threading
from collections.abc import Callable

PAUSE_S = 1.0
"""How long a loop waits after a failure, so that it never spins."""

STOP_WAIT_S = 30.0
"""How long `stop` waits for running work by default."""

_LOW_PRIORITY = 15

log = logging.getLogger(__name__)


class Loop:
    """Calls `tick` repeatedly; `tick` returns the seconds until its next call.

    Anything that `tick` raises is logged, and the loop continues. With `gives_way` the thread runs
    at low priority.
    """

    def __init__(
        self,
        name: str,
        tick: Callable[[], float],
        *,
        gives_way: bool = False,
        first_after_s: float = 0.0,
        stop_wait_s: float = STOP_WAIT_S,
    ) -> None:
        self._tick = tick
        self._first_after_s = first_after_s
        self._is_low_priority = gives_way
        self._stop_wait_s = stop_wait_s
        self._changed = threading.Condition()
        self._is_woken = False
        self._is_stopping = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def is_alive(self) -> bool:
        """Say whether the loop is running."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wake(self) -> None:
        """Call `tick` now, before its time."""
        with self._changed:
            self._is_woken = True
            self._changed.notify_all()

    def stop(self) -> None:
        """Stop the loop and wait, for a limited time, until the last `tick` returns."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(self._stop_wait_s)

    def _run(self) -> None:
        if self._is_low_priority and sys.platform == "linux":
            # On Linux each thread has a priority, and the threads that it starts inherit it.
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOW_PRIORITY)
        wait_s = self._first_after_s
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._is_woken or self._is_stopping, min(wait_s, threading.TIMEOUT_MAX)
                )
                self._is_woken = False
            if self._is_stopping:
                return
            wait_s = self._guarded_tick()

    def _guarded_tick(self) -> float:
        try:
            return self._tick()
        except BaseException:  # a panic of a native library is no Exception
            log.exception("background work failed", extra={"loop": self._thread.name})
            return PAUSE_S
