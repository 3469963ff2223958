"""Where a command runs: on the event loop when it needs nothing but RAM, else in a thread."""

import logging
from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from qms.config.keys import KeyMatch
from qms.service.commands import Services

log = logging.getLogger(__name__)

THREADS = 64
"""How many commands run at once: writers that wait together share one sync."""

WAITING_THREADS = 64
"""How many more may wait for stores that are being loaded, out of the way of those that work."""

T = TypeVar("T")


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
    ) -> T:
        """Return what `work`, a call of this command, returns; `is_short` allows it inline."""
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
