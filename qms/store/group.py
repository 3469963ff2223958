"""Group commit: many writers, one sync.

There is no writer thread. The first caller to arrive leads: it takes everybody who waits into one
group, has it written, wakes them, and hands the lead to the first who came meanwhile.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from qms.domain.changes import Change
from qms.store.draft import Draft

MAX_GROUP = 1024
_GATHER_S = 0.001
_GATHER_STEP_S = 0.00005


class Ticket:
    """One caller's plan on its way through a group."""

    def __init__(self, origin: Any, plan: Callable[[Draft], Any]) -> None:
        self.origin = origin
        self.plan = plan
        self.changes: tuple[Change, ...] = ()
        self.result: Any = None
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
        except BaseException as error:
            for ticket in group:
                ticket.error = ticket.error or error
            raise
        finally:
            for ticket in group:
                ticket.is_done = True
                if ticket is not own:
                    ticket.wake()
            with self._mutex:
                heir = self._waiting[0] if self._waiting else None
                self._is_led = heir is not None
            if heir is not None:
                heir.wake()

    def _gather(self) -> None:
        """Wait a moment for those who were in the last group: most of them are on their way."""
        if self._last_size < 2:
            return
        deadline = time.monotonic() + _GATHER_S
        while len(self._waiting) < self._last_size and time.monotonic() < deadline:
            time.sleep(_GATHER_STEP_S)
