"""Where a command runs: on the event loop when it needs nothing but RAM, else in a thread."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from qms.config.keys import KeyMatch
from qms.domain.errors import QmsError, UnavailableError
from qms.service.commands import Services
from qms.telemetry import metrics

log = logging.getLogger(__name__)

WRITING_THREADS = 64
"""How many commands write at once: those that wait together share one sync."""

READING_THREADS = 4
"""How many commands read at once: more would only take the interpreter from one another, and from
the event loop, which then answers nobody."""

WAITING_THREADS = 64
"""How many more may wait for stores that are being loaded, out of the way of those that work."""

MAX_QUEUED = 512
"""How many commands may wait for a thread of either kind; the next one is told to come back."""

RETRY_AFTER_S = 1

T = TypeVar("T")


class Door(StrEnum):
    """The way by which a command came in."""

    API = "api"
    MCP = "mcp"
    ADMIN = "admin"


class _Crew:
    """Some threads, and before them a queue that never grows beyond its limit."""

    def __init__(self, threads: int) -> None:
        self._limiter = CapacityLimiter(threads)
        self._most = threads + MAX_QUEUED
        self._count = 0

    async def run(self, work: Callable[[], T]) -> T:
        if self._count >= self._most:
            raise UnavailableError(
                "the server has more to do than it can: try again in a moment",
                retryAfterSeconds=RETRY_AFTER_S,
            )
        self._count += 1
        try:
            return await to_thread.run_sync(work, limiter=self._limiter)
        finally:
            self._count -= 1


class Runner:
    """The threads that all doors of the server share."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._writing = _Crew(WRITING_THREADS)
        self._reading = _Crew(READING_THREADS)
        self._waiting = _Crew(WAITING_THREADS)

    async def run(
        self,
        who: KeyMatch,
        project: str,
        command: str,
        work: Callable[[], T],
        *,
        is_short: bool = True,
        door: Door = Door.API,
    ) -> T:
        """Return what `work`, a call of this command, returns; `is_short` allows it inline.

        Raises:
            UnavailableError: too many commands wait already.
        """
        with _measured(door, command if self._services.knows(command) else "unknown"):
            if is_short and self._services.runs_inline(who, project, command):
                answer = work()
            else:
                answer = await self._crew(who, project, command).run(work)
        log.debug(
            "command answered", extra={"project": project, "command": command, "user": who.user}
        )
        return answer

    def _crew(self, who: KeyMatch, project: str, command: str) -> _Crew:
        if self._services.waits_for_store(who, project, command):
            return self._waiting
        return self._reading if self._services.only_reads(command) else self._writing


@contextmanager
def _measured(door: Door, command: str) -> Iterator[None]:
    outcome, began = "internal", time.perf_counter()
    metrics.COMMANDS_RUNNING.inc()
    try:
        yield
        outcome = "ok"
    except QmsError as error:
        outcome = error.code
        raise
    finally:
        metrics.COMMANDS_RUNNING.dec()
        _count(door, command, outcome).inc()
        _duration(door, command).observe(time.perf_counter() - began)


# Every call counts, and to look a metric up by its labels takes longer than to count.
_count = cache(metrics.REQUESTS.labels)
_duration = cache(metrics.REQUEST_SECONDS.labels)
