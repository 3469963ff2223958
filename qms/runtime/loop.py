"""A thread that does what is due, and waits until more is, or until it is woken."""

import logging
import os
import sys
import threading
from collections.abc import Callable

PAUSE_S = 1.0
"""How long what failed is left alone, so that no loop spins."""

STOP_WAIT_S = 30.0
"""How long `stop` waits for work that has begun, unless the loop says otherwise."""

_LOW_PRIORITY = 15

log = logging.getLogger(__name__)


class Loop:
    """Calls `tick` again and again; it returns how many seconds nothing will be due.

    Whatever `tick` raises is logged, and the loop goes on.
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
        self._gives_way = gives_way
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
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """Have `tick` called now rather than when it asked for."""
        with self._changed:
            self._is_woken = True
            self._changed.notify_all()

    def stop(self) -> None:
        """Return after the last call of `tick` has ended, or after the wait for it."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(self._stop_wait_s)

    def _run(self) -> None:
        if self._gives_way and sys.platform == "linux":
            # Linux has a priority for each thread, and threads that this one makes inherit it.
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
