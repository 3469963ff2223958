"""The watcher: it calls back for what changes a file, and never takes the server down."""

import errno
import queue
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from qms.disk.watcher import FolderWatcher
from tests.support.waiting import BOUND_S, eventually


class Calls:
    """The names that the watcher called back with."""

    def __init__(self) -> None:
        self._names: queue.Queue[str] = queue.Queue()

    def __call__(self, path: Path) -> None:
        self._names.put(path.name)

    def wait_for(self, name: str) -> None:
        while self._names.get(timeout=BOUND_S) != name:
            pass

    def until(self, name: str) -> list[str]:
        seen = []
        while (found := self._names.get(timeout=BOUND_S)) != name:
            seen.append(found)
        return seen


@pytest.fixture
def watcher() -> Iterator[FolderWatcher]:
    watcher = FolderWatcher()
    yield watcher
    watcher.stop()


def save_in_place(path: Path) -> None:
    path.write_bytes(b"new\n")


def save_by_rename(path: Path) -> None:
    other = path.with_name("entries.jsonl~")
    other.write_bytes(b"new\n")
    other.replace(path)


def move_in_from_elsewhere(path: Path) -> None:
    other = path.parent.parent / "elsewhere"
    other.write_bytes(b"new\n")
    other.replace(path)


def remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("save", [save_in_place, save_by_rename, move_in_from_elsewhere, remove])
def test_every_way_to_save_a_file_calls_back(
    tmp_path: Path, watcher: FolderWatcher, save: Callable[[Path], None]
) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    path = folder / "entries.jsonl"
    path.write_bytes(b"old\n")
    calls = Calls()
    watcher.watch(folder, calls)

    save(path)

    calls.wait_for("entries.jsonl")


def test_each_folder_has_its_own_callback_and_folders_below_have_none(
    tmp_path: Path, watcher: FolderWatcher
) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    (first / ".qms").mkdir(parents=True)
    second.mkdir()
    calls, others = Calls(), Calls()
    watcher.watch(first, calls)
    watcher.watch(second, others)

    (first / ".qms" / "journal.wal").write_bytes(b"x")
    (second / "theirs").write_bytes(b"x")
    (first / "last").write_bytes(b"x")

    assert calls.until("last") == []
    others.wait_for("theirs")


def test_reading_a_file_is_no_change(tmp_path: Path, watcher: FolderWatcher) -> None:
    (tmp_path / "read").write_bytes(b"x")
    calls = Calls()
    watcher.watch(tmp_path, calls)

    (tmp_path / "read").read_bytes()
    (tmp_path / "last").write_bytes(b"x")

    assert "read" not in calls.until("last")


def test_a_callback_that_fails_does_not_end_the_watching(
    tmp_path: Path, watcher: FolderWatcher
) -> None:
    calls = Calls()

    def fail_once(path: Path) -> None:
        calls(path)
        if path.name == "first":
            raise ValueError("no")

    watcher.watch(tmp_path, fail_once)
    (tmp_path / "first").write_bytes(b"x")
    calls.wait_for("first")
    (tmp_path / "second").write_bytes(b"x")

    calls.wait_for("second")


def test_a_folder_no_longer_watched_calls_nobody(tmp_path: Path, watcher: FolderWatcher) -> None:
    calls, sentinel = Calls(), Calls()
    other = tmp_path / "other"
    other.mkdir()
    watcher.watch(tmp_path, calls)
    watcher.watch(other, sentinel)
    watcher.unwatch(tmp_path)
    watcher.unwatch(tmp_path)

    (tmp_path / "x").write_bytes(b"x")
    (other / "y").write_bytes(b"y")
    sentinel.wait_for("y")
    watcher.watch(tmp_path, calls)
    (tmp_path / "z").write_bytes(b"z")

    assert calls.until("z") == []


@pytest.mark.fault("F26")
def test_a_dead_observer_is_noticed_and_revived(tmp_path: Path) -> None:
    observers: list[BaseObserver] = []

    def make_observer() -> BaseObserver:
        observers.append(Observer())
        return observers[-1]

    watcher, calls = FolderWatcher(make_observer), Calls()
    watcher.watch(tmp_path, calls)
    observers[0].stop()
    observers[0].join(BOUND_S)
    assert not watcher.is_alive

    assert watcher.revive()
    (tmp_path / "x").write_bytes(b"x")

    calls.wait_for("x")
    watcher.stop()


@pytest.mark.fault("F26")
def test_no_watches_left_is_a_state_and_not_an_error(tmp_path: Path) -> None:
    is_exhausted = True

    def make_observer() -> BaseObserver:
        if is_exhausted:
            raise OSError(errno.EMFILE, "inotify instance limit reached")
        return Observer()

    watcher, calls = FolderWatcher(make_observer), Calls()
    watcher.watch(tmp_path, calls)
    assert not watcher.is_alive
    assert not watcher.revive()

    is_exhausted = False
    assert watcher.revive()
    (tmp_path / "x").write_bytes(b"x")

    calls.wait_for("x")
    watcher.stop()


def test_a_folder_that_is_not_there_yet_is_watched_once_it_is(
    tmp_path: Path, watcher: FolderWatcher
) -> None:
    folder, calls = tmp_path / "later", Calls()
    watcher.watch(folder, calls)
    assert not watcher.is_alive

    folder.mkdir()
    assert watcher.revive()
    (folder / "x").write_bytes(b"x")

    calls.wait_for("x")


def test_a_folder_removed_and_made_again_is_watched_again(
    tmp_path: Path, watcher: FolderWatcher
) -> None:
    folder, calls = tmp_path / "store", Calls()
    folder.mkdir()
    watcher.watch(folder, calls)
    folder.rmdir()
    calls.wait_for("store")

    eventually(lambda: not watcher.is_alive)

    folder.mkdir()
    assert watcher.revive()
    (folder / "x").write_bytes(b"x")

    calls.wait_for("x")


def test_stop_ends_all_threads_and_may_be_called_twice(tmp_path: Path) -> None:
    observer = Observer()
    watcher = FolderWatcher(lambda: observer)
    watcher.watch(tmp_path, Calls())

    watcher.stop()
    watcher.stop()

    assert not observer.is_alive()
