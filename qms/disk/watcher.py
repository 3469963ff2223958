"""Watches folders and calls back when a file in one of them changes.

Watching is optional. It may fail to start (the system's limit of watches), die, or lose its folder;
then there are no calls, `revive` tries again, and the slow poll of the caller finds changes.
"""

import contextlib
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

from watchdog.events import (
    DirDeletedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

Callback = Callable[[Path], None]

_EVENTS: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    FileClosedEvent,
    DirDeletedEvent,
]
"""Events that change a file. Reads are excluded: our own reads would trigger callbacks."""

_CANNOT_WATCH = (OSError, RuntimeError)
"""No folder, no watches or descriptors left, or no thread available."""

log = logging.getLogger(__name__)


class FolderWatcher:
    """Calls back for changes in folders, not in their subfolders, from its own thread."""

    def __init__(self, make_observer: Callable[[], BaseObserver] = Observer) -> None:
        self._make_observer = make_observer
        self._lock = threading.Lock()
        self._observer: BaseObserver | None = None
        self._callbacks: dict[Path, Callback] = {}
        self._watches: dict[Path, ObservedWatch] = {}
        self._is_failing = False

    @property
    def is_alive(self) -> bool:
        """Say whether every requested folder is being watched."""
        with self._lock:
            return all(self._is_watched(folder) for folder in self._callbacks)

    def watch(self, folder: Path, callback: Callback) -> None:
        """Call `callback` with the path of each file that changes in `folder` from now on.

        The callback runs in the watcher's thread: it must be short and not call the watcher.
        """
        with self._lock:
            self._drop(folder)
            self._callbacks[folder] = callback
            self._establish()

    def unwatch(self, folder: Path) -> None:
        """Stop watching a folder; nothing happens when it was not watched."""
        with self._lock:
            self._callbacks.pop(folder, None)
            self._drop(folder)

    def revive(self) -> bool:
        """Watch folders again that are no longer watched; say whether all are watched."""
        with self._lock:
            return self._establish()

    def stop(self) -> None:
        """Stop watching all folders."""
        with self._lock:
            self._callbacks.clear()
            self._stop_observer()

    def _establish(self) -> bool:
        try:
            for folder in self._callbacks:
                if not self._is_watched(folder):
                    self._schedule(folder)
        except _CANNOT_WATCH as error:
            self._note(str(error))
            return False
        self._note(None)
        return True

    def _schedule(self, folder: Path) -> None:
        observer = self._running_observer()
        self._drop(folder)
        handler = _Handler(self._callbacks[folder])
        self._watches[folder] = observer.schedule(
            handler, str(folder), recursive=False, event_filter=_EVENTS
        )

    def _running_observer(self) -> BaseObserver:
        if self._observer is None or not self._observer.is_alive():
            self._stop_observer()
            self._observer = self._make_observer()
            self._observer.start()
        return self._observer

    def _is_watched(self, folder: Path) -> bool:
        watch, observer = self._watches.get(folder), self._observer
        if watch is None or observer is None or not observer.is_alive():
            return False
        return any(emitter.watch == watch and emitter.is_alive() for emitter in observer.emitters)

    def _drop(self, folder: Path) -> None:
        watch = self._watches.pop(folder, None)
        if watch is not None and self._observer is not None:
            with contextlib.suppress(KeyError):  # its observer was stopped
                self._observer.unschedule(watch)

    def _stop_observer(self) -> None:
        observer, self._observer = self._observer, None
        self._watches.clear()
        if observer is None:
            return
        with contextlib.suppress(*_CANNOT_WATCH):  # one that never started cannot be joined
            observer.stop()
            observer.join()

    def _note(self, failure: str | None) -> None:
        if failure is not None and not self._is_failing:
            log.warning("folders not watched, polling only", extra={"reason": failure})
        if failure is None and self._is_failing:
            log.info("folders watched again")
        self._is_failing = failure is not None


class _Handler(FileSystemEventHandler):
    def __init__(self, callback: Callback) -> None:
        self._callback = callback

    def dispatch(self, event: FileSystemEvent) -> None:
        try:
            for path in (event.src_path, event.dest_path):
                if path:
                    self._callback(Path(os.fsdecode(path)))
        except Exception:  # the watcher loop: an error would end the thread for every folder
            log.exception("watcher callback failed")
