"""The keeper of the configuration: an edit of the file is in force soon, watched or not."""

import errno
from datetime import UTC, datetime
from pathlib import Path

import pytest
from watchdog.observers.api import BaseObserver

from qms.app.jobs import SettingsKeeper
from qms.config.configuration import Configuration
from qms.disk.disk import Disk
from qms.disk.watcher import FolderWatcher
from tests.support.projects import edit_by_hand
from tests.support.waiting import eventually

TEXT = """\
[global]
serviceName = "before"
pollSeconds = %s
debounceMilliseconds = 5
[users.admin]
tier = "admin"
keys = [{ id = "k", sha256 = "%s" }]
"""


def configured(tmp_path: Path, poll_s: float) -> Configuration:
    path = tmp_path / "QuickMemoryServer.toml"
    path.write_text(TEXT % (poll_s, "0" * 64), encoding="utf-8")
    clock = datetime(2026, 5, 1, tzinfo=UTC)
    configuration = Configuration(path, Disk(), lambda: clock)
    configuration.load()
    return configuration


def dead_watcher() -> FolderWatcher:
    def make_observer() -> BaseObserver:
        raise OSError(errno.ENOSPC, "inotify watch limit reached")

    return FolderWatcher(make_observer)


def test_a_watched_edit_is_in_force_without_the_poll(tmp_path: Path) -> None:
    configuration, watcher = configured(tmp_path, 3600), FolderWatcher()
    keeper = SettingsKeeper(configuration, watcher)
    keeper.start()

    edit_by_hand(configuration.path, "before", "after")

    eventually(lambda: configuration.settings.global_.service_name == "after")
    keeper.stop()
    watcher.stop()


@pytest.mark.fault("F26")
def test_with_a_dead_watcher_the_poll_finds_the_edit(tmp_path: Path) -> None:
    configuration, watcher = configured(tmp_path, 0.05), dead_watcher()
    keeper = SettingsKeeper(configuration, watcher)
    keeper.start()

    edit_by_hand(configuration.path, "before", "after")

    eventually(lambda: configuration.settings.global_.service_name == "after")
    keeper.stop()


@pytest.mark.fault("F26")
def test_the_poll_revives_the_watcher_of_every_folder(tmp_path: Path) -> None:
    now = 100.0
    configuration, watcher = configured(tmp_path, 5), FolderWatcher()
    keeper = SettingsKeeper(configuration, watcher, monotonic=lambda: now)
    folder = tmp_path / "store"
    watcher.watch(folder, lambda _path: None)
    assert watcher.is_alive is False
    folder.mkdir()

    now += 5
    keeper.tick()

    eventually(lambda: watcher.is_alive)
    watcher.stop()


def test_another_file_beside_the_configuration_wakes_nobody(tmp_path: Path) -> None:
    now = 100.0
    keeper = SettingsKeeper(configured(tmp_path, 5), dead_watcher(), monotonic=lambda: now)

    keeper.file_changed(tmp_path / "something else")

    assert keeper.tick() == 5
