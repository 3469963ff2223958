"""Group commit: several writers share one sync.

There is no writer thread. The first caller leads: it writes all waiting tickets as one group, wakes
their callers, and hands the lead to the first ticket that arrived since.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from qms.memory.changes import Change
from qms.store.draft import Draft
from qms.store.options import Origin

MAX_GROUP = 1024
_GATHER_S = 0.001
_GATHER_STEP_S = 0.00005


class Ticket:
    """One caller's plan, and its outcome once its group is written."""

    def __init__(self, origin: Origin, plan: Callable[[Draft], Any]) -> None:
        self.origin = origin
        self.plan = plan
        self.changes: tuple[Change, ...] = ()
        self.result: Any = None
        self.sequence: int | None = None
        """The sequence of its changes; None if it made none."""
        self.error: BaseException | None = None
        self.is_done = False
        self._gate = threading.Lock()
        self._gate.acquire()

    def wait(self) -> None:
        """Wait until the plan is done or this caller has to lead."""
        self._gate.acquire()

    def wake(self) -> None:
        """End the wait."""
        self._gate.release()


class GroupCommit:
    """The queue in front of one store's writer."""

    def __init__(self, write: Callable[[list[Ticket]], None]) -> None:
        self._write = write
        self._mutex = threading.Lock()
        self._waiting: list[Ticket] = []
        self._is_led = False
        self._last_size = 1

    @property
    def waiting(self) -> int:
        """Return how many tickets wait for the next group."""
        with self._mutex:
            return len(self._waiting)

    def submit(self, ticket: Ticket) -> None:
        """Return after the ticket's group was written; `write` puts its outcome into it."""
        with self._mutex:
            self._waiting.append(ticket)
            leads = not self._is_led
            self._is_led = True
        if not leads:
            ticket.wait()
            if ticket.is_done:
                return
        self._lead(ticket)

    def _lead(self, own: Ticket) -> None:
        self._gather()
        with self._mutex:
            group, self._waiting = self._waiting[:MAX_GROUP], self._waiting[MAX_GROUP:]
        self._last_size = len(group)
        try:
            self._write(group)
        except BaseException as error:  # goes to the threads that wait for their tickets
            for ticket in group:
                ticket.error = ticket.error or error
            raise
        finally:
            for ticket in group:
                ticket.is_done = True
                if ticket is not own:
                    ticket.wake()
            with self._mutex:
                next_leader = self._waiting[0] if self._waiting else None
                self._is_led = next_leader is not None
            if next_leader is not None:
                next_leader.wake()

    def _gather(self) -> None:
        """Wait at most 1 ms for as many tickets as the last group had: most callers write again."""
        if self._last_size < 2:
            return
        deadline = time.monotonic() + _GATHER_S
        while len(self._waiting) < self._last_size and time.monotonic() < deadline:
            time.sleep(_GATHER_STEP_S)
