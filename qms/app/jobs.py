"""Timed jobs: expiry, uses and moves of every open store; saving key uses; reloading settings."""

import logging
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

from qms.auth.key_uses import KeyUse, write_key_uses
from qms.auth.keyring import EndedKeyUse, Keyring
from qms.config.configuration import Configuration
from qms.config.settings import Settings
from qms.disk.disk import Disk
from qms.disk.watcher import FolderWatcher
from qms.features.lifespan.expire import expire, expired_ids
from qms.features.recall.uses import settle
from qms.features.transfer.move import finish_moves
from qms.memory.access import SYSTEM_USER, SystemRight
from qms.memory.errors import QmsError
from qms.store.catalog import Catalog
from qms.store.loop import Loop
from qms.store.memory_store import MemoryStore
from qms.store.options import Origin
from qms.telemetry.audit_chain import AuditedChange, AuditEvent
from qms.telemetry.audit_log import AuditLog


class SettingsKeeper:
    """Checks the configuration file after a watcher event and at every poll."""

    def __init__(
        self,
        configuration: Configuration,
        watcher: FolderWatcher,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._configuration = configuration
        self._watcher = watcher
        self._monotonic = monotonic
        self._loop = Loop("settings-keeper", self.tick)
        self._check_at = monotonic() + self._poll_s

    def start(self) -> None:
        """Start to watch and poll the configuration file."""
        self._watcher.watch(self._configuration.path.parent, self.file_changed)
        self._loop.start()

    def stop(self) -> None:
        """Stop, and wait for a check that is running."""
        self._watcher.unwatch(self._configuration.path.parent)
        self._loop.stop()

    def file_changed(self, path: Path) -> None:
        """Schedule a check for when the file has not changed for the debounce time."""
        if path.name == self._configuration.path.name:
            debounce_s = self._configuration.settings.global_.debounce_milliseconds / 1000
            self._check_at = self._monotonic() + debounce_s
            self._loop.wake()

    def tick(self) -> float:
        """Reload an edited file when a check is due; return the seconds until the next one."""
        now = self._monotonic()
        if now < self._check_at:
            return self._check_at - now
        self._check_at = now + self._poll_s
        self._watcher.revive()
        self._configuration.reload()
        return max(0.0, self._check_at - now)

    @property
    def _poll_s(self) -> float:
        return self._configuration.settings.global_.poll_seconds


SAVE_EVERY_S = 60.0


class KeySaver:
    """Saves in the background until it is stopped, and once more at the stop."""

    def __init__(
        self, keyring: Keyring, configuration: Configuration, path: Path, disk: Disk
    ) -> None:
        self._keyring = keyring
        self._configuration = configuration
        self._path = path
        self._disk = disk
        self._saved: dict[str, KeyUse] = {}
        self._loop = Loop("key-saver", self.tick)

    def start(self) -> None:
        """Start the thread."""
        self._loop.start()

    def stop(self) -> None:
        """Stop the thread and save once more."""
        self._loop.stop()
        self.tick()

    def tick(self) -> float:
        """Save changed uses and return the seconds until the next save."""
        self._keyring.follow(self._configuration.settings)
        uses = self._keyring.uses()
        if uses != self._saved:
            try:
                write_key_uses(self._path, uses, self._disk)
                self._saved = uses
            except OSError as error:
                log.warning("last use of keys not saved", extra={"reason": error.strerror})
        return SAVE_EVERY_S


def audit_ended_key(audit: AuditLog, use: EndedKeyUse) -> None:
    """Record the use of an expired or revoked key in the audit log."""
    change = AuditedChange(op=f"refuse {use.reason}", id=f"key:{use.key_id}")
    event = AuditEvent(
        at_utc=use.at_utc,
        user=use.user,
        key_id=use.key_id,
        command="authenticate",
        changes=(change,),
    )
    audit.note(event)


PERIOD_S = 180.0
"""An expired entry is hidden at once and stays in the file for at most this long."""

LOADING_S = 5.0
"""The period while stores are still being loaded."""

log = logging.getLogger(__name__)


class Jobs:
    """One thread that runs the jobs of all open stores."""

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
        """Start the thread."""
        self._loop.start()

    def stop(self) -> None:
        """Return after the last job has ended."""
        self._loop.stop()

    def tick(self) -> float:
        """Run the jobs of every open store and return the seconds until the next run."""
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
            # Before the expiry, so that an entry which was recalled in time stays.
            settle(store, self._settings().global_.retention, self._clock())
            self._expire(store)
        except QmsError as error:
            # Read-only or closed: the entries stay hidden, and the next run tries again.
            log.debug("jobs postponed", extra={"project": store.project, "reason": error.message})

    def _expire(self, store: MemoryStore) -> None:
        now = self._clock()
        keep = self._settings().global_.retention.archive_expired
        right = SystemRight.EXPIRY
        origin = Origin(command="expire", user=SYSTEM_USER, at_utc=now, right=right)
        while due := expired_ids(store.view, now):
            removed = store.commit(origin, partial(expire, ids=due, now=now, keep=keep))
            log.info("entries expired", extra={"project": store.project, "count": len(removed)})
