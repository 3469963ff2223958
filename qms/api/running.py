"""Where a command runs: on the event loop when it needs nothing but RAM, else in a thread."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from qms.config.keys import KeyMatch
from qms.domain.errors import QmsError
from qms.service.commands import Services
from qms.telemetry import metrics

log = logging.getLogger(__name__)

THREADS = 64
"""How many commands run at once: writers that wait together share one sync."""

WAITING_THREADS = 64
"""How many more may wait for stores that are being loaded, out of the way of those that work."""

T = TypeVar("T")


class Door(StrEnum):
    """The way by which a command came in."""

    API = "api"
    MCP = "mcp"
    ADMIN = "admin"


class Runner:
    """The threads that all doors of the server share."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._working = CapacityLimiter(THREADS)
        self._waiting = CapacityLimiter(WAITING_THREADS)

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
        """Return what `work`, a call of this command, returns; `is_short` allows it inline."""
        with _measured(door, command if self._services.knows(command) else "unknown"):
            if is_short and self._services.runs_inline(who, project, command):
                answer = work()
            else:
                is_early = self._services.waits_for_store(who, project)
                limiter = self._waiting if is_early else self._working
                answer = await to_thread.run_sync(work, limiter=limiter)
        log.debug(
            "command answered", extra={"project": project, "command": command, "user": who.user}
        )
        return answer


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
        metrics.REQUESTS.labels(door, command, outcome).inc()
        metrics.REQUEST_SECONDS.labels(door, command).observe(time.perf_counter() - began)
