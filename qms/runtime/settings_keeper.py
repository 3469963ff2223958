"""The keeper of the configuration: it takes over edits of the file, and revives the watcher."""

import time
from collections.abc import Callable
from pathlib import Path

from qms.files.watcher import FolderWatcher
from qms.runtime.loop import Loop
from qms.service.configuration import Configuration


class SettingsKeeper:
    """Looks at the configuration file after an event, and from time to time without one."""

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
        self._look_at = monotonic() + self._poll_s

    def start(self) -> None:
        """Begin to look after the configuration."""
        self._watcher.watch(self._configuration.path.parent, self.file_changed)
        self._loop.start()

    def stop(self) -> None:
        """Return after the last look has ended."""
        self._watcher.unwatch(self._configuration.path.parent)
        self._loop.stop()

    def file_changed(self, path: Path) -> None:
        """Look at the configuration once nobody has changed it for the debounce time."""
        if path.name == self._configuration.path.name:
            debounce_s = self._configuration.settings.global_.debounce_milliseconds / 1000
            self._look_at = self._monotonic() + debounce_s
            self._loop.wake()

    def tick(self) -> float:
        """Take over an edit when a look is due, and return the seconds until the next one."""
        now = self._monotonic()
        if now < self._look_at:
            return self._look_at - now
        self._look_at = now + self._poll_s
        self._watcher.revive()
        self._configuration.reload()
        return max(0.0, self._look_at - now)

    @property
    def _poll_s(self) -> float:
        return self._configuration.settings.global_.poll_seconds
