"""The keeper: one store's thread, which reloads hand edits, folds, recovers and saves usage."""

import logging
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from qms.store.loop import PAUSE_S, Loop
from qms.store.memory_store import MemoryStore
from qms.store.options import FoldOutcome

MAX_DEBOUNCES = 4
"""If the file never stops changing, it is read after this many debounce times."""

log = logging.getLogger(__name__)


class KeeperOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The intervals of a keeper, in seconds."""

    debounce_s: float = 0.15
    poll_s: float = 5.0
    recovery_s: float = 1.0
    check_s: float = 60.0


class Keeper:
    """The background work of one store until it is stopped; it does not close the store."""

    def __init__(
        self,
        store: MemoryStore,
        options: KeeperOptions,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._options = options
        self._monotonic = monotonic
        self._loop = Loop(f"keeper-{store.project}", self.tick)
        self._lock = threading.Lock()
        self._look_at = monotonic() + options.poll_s
        self._first_event_at: float | None = None
        self._unsettled_looks = 0
        self._knows_of_fold = False
        self._fold_not_before = -math.inf
        self._recover_at = -math.inf
        self._check_at = -math.inf

    def start(self) -> None:
        """Start the thread."""
        self._loop.start()

    def stop(self) -> None:
        """Stop the thread and wait for it; nothing is folded any more."""
        self._loop.stop()

    def configure(self, options: KeeperOptions) -> None:
        """Use other intervals from now on."""
        with self._lock:
            self._options = options
            self._look_at = min(self._look_at, self._monotonic() + options.poll_s)
        self._loop.wake()

    def file_changed(self, path: Path) -> None:  # noqa: ARG002 - what the watcher calls back with
        """Read the file once it has not changed for the debounce time."""
        self._expect_change()
        self._loop.wake()

    def wake(self) -> None:
        """Wake the thread for a possible fold; costs nothing if one is already scheduled."""
        if not self._knows_of_fold:
            self._loop.wake()

    def tick(self) -> float:
        """Do what is due and return the seconds until something is due again."""
        now = self._monotonic()
        tasks = (
            self._prepare,
            self._look,
            self._fold,
            self._recover,
            self._save_usage,
            self._check_files,
        )
        waits = [self._attempt(task, now) for task in tasks]
        return max(0.0, min(waits))

    def _attempt(self, task: Callable[[float], float], now: float) -> float:
        try:
            return task(now)
        except Exception:  # the job loop: a task that fails must not stop the others
            log.exception("store upkeep failed", extra={"project": self._store.project})
            return PAUSE_S

    def _expect_change(self) -> None:
        with self._lock:
            now, debounce_s = self._monotonic(), self._options.debounce_s
            if self._first_event_at is None:
                self._first_event_at = now
            latest = self._first_event_at + MAX_DEBOUNCES * debounce_s
            self._look_at = min(now + debounce_s, latest)

    def _prepare(self, _now: float) -> float:
        """Do now what a load leaves for the first write; costs nothing after that."""
        self._store.prepare()
        return math.inf

    def _look(self, now: float) -> float:
        """Apply hand edits of the file."""
        with self._lock:
            options = self._options
            if now < self._look_at:
                return self._look_at - now
            self._first_event_at = None
            self._look_at = now + options.poll_s
        if self._store.look().settled:
            self._unsettled_looks = 0
            return options.poll_s
        # The file is being written or cannot be read: retry soon, with growing intervals.
        wait_s = min(options.debounce_s * (1 << self._unsettled_looks), options.poll_s)
        self._unsettled_looks = min(self._unsettled_looks + 1, 16)
        with self._lock:
            self._look_at = min(self._look_at, now + wait_s)
        return wait_s

    def _fold(self, now: float) -> float:
        """Fold when it is due."""
        # Before asking: a commit that follows the answer has to wake this thread.
        self._knows_of_fold = False
        due_in_s = self._store.fold_due_in(now)
        if due_in_s is None:
            return math.inf
        self._knows_of_fold = True
        wait_s = max(due_in_s, self._fold_not_before - now)
        if wait_s > 0:
            return wait_s
        self._fold_not_before = now + PAUSE_S
        outcome = self._store.fold()
        if outcome is FoldOutcome.FOLDED:
            self._fold_not_before = now
            return 0.0
        if outcome is FoldOutcome.FILE_CHANGED:
            self._expect_change()
            return self._options.debounce_s
        return PAUSE_S

    def _recover(self, now: float) -> float:
        """Try to leave read-only mode."""
        if now < self._recover_at:
            return self._recover_at - now
        self._recover_at = now + self._options.recovery_s
        if not self._store.recover():
            return self._options.recovery_s
        self._recover_at = -math.inf
        return math.inf

    def _check_files(self, now: float) -> float:
        """Check the server's own files for damage; only new content is read."""
        if now >= self._check_at:
            self._check_at = now + self._options.check_s
            self._store.check_files()
        return self._check_at - now

    def _save_usage(self, now: float) -> float:
        """Save usage when it is due; the next tick asks again."""
        if self._store.usage.due_in(now) <= 0:
            self._store.usage.save(self._store.view.records, now)
        return math.inf
