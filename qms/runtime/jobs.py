"""Timed jobs: what time asks of every open store, at the start and every few minutes."""

import logging
from collections.abc import Callable
from datetime import datetime
from functools import partial

from qms.config.settings import Settings
from qms.domain.access import SYSTEM_USER
from qms.domain.errors import QmsError
from qms.runtime.loop import Loop
from qms.service.moving import finish_moves
from qms.service.touching import settle
from qms.store.catalog import Catalog
from qms.store.memory_store import MemoryStore
from qms.store.options import Origin
from qms.upkeep.expire import expire, expired_ids

PERIOD_S = 180.0
"""An expired entry is hidden from its last second on; this is how long it stays in the file."""

LOADING_S = 5.0
"""How soon stores that are still being loaded get their first turn."""

log = logging.getLogger(__name__)


class Jobs:
    """One thread that goes round all open stores."""

    def __init__(
        self,
        catalog: Catalog,
        settings: Callable[[], Settings],
        clock: Callable[[], datetime],
        *,
        begin: Callable[[], None] = lambda: None,
    ) -> None:
        self._catalog = catalog
        self._settings = settings
        self._clock = clock
        self._begin: Callable[[], None] | None = begin
        self._loop = Loop("jobs", self.tick, gives_way=True)

    def start(self) -> None:
        """Begin to go round."""
        self._loop.start()

    def stop(self) -> None:
        """Return after the last job has ended."""
        self._loop.stop()

    def tick(self) -> float:
        """Give every open store its turn and return the seconds until the next round."""
        begin, self._begin = self._begin, None
        if begin is not None:
            begin()
        projects = self._catalog.projects
        opened = [store for one in projects if (store := self._catalog.loaded(one)) is not None]
        for store in opened:
            self._attempt(store)
        return PERIOD_S if len(opened) == len(projects) else LOADING_S

    def _attempt(self, store: MemoryStore) -> None:
        try:
            finish_moves(store, self._catalog, self._settings())
            # Before the expiry, so that nothing goes which somebody has recalled in time.
            settle(store, self._settings().global_.retention, self._clock())
            self._expire(store)
        except QmsError as error:
            # Read-only or closed: the entries stay hidden, and the next round tries again.
            log.debug("upkeep postponed", extra={"project": store.project, "reason": error.message})

    def _expire(self, store: MemoryStore) -> None:
        now = self._clock()
        keep = self._settings().global_.retention.archive_expired
        origin = Origin(command="expire", user=SYSTEM_USER, at_utc=now)
        while due := expired_ids(store.view, now):
            removed = store.commit(origin, partial(expire, ids=due, now=now, keep=keep))
            log.info("entries expired", extra={"project": store.project, "count": len(removed)})
