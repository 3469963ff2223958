"""The keeper: it folds when due, takes in hand edits, recovers, and survives everything."""

import errno
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from watchdog.observers.api import BaseObserver

from qms.disk.watcher import FolderWatcher
from qms.memory.errors import StorageFullError
from qms.store.file_state import StoreFiles
from qms.store.keeper import MAX_DEBOUNCES, Keeper, KeeperOptions
from qms.store.memory_store import MemoryStore
from qms.store.options import ReloadReport, StoreOptions
from qms.store.usage import SAVE_S, Usage
from tests.support.disks import FullDisk
from tests.support.projects import edit_by_hand, ids_in, open_as, open_store, remember, text_of
from tests.support.waiting import eventually

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DEBOUNCE_S, POLL_S = 0.15, 5.0
OPTIONS = KeeperOptions(debounce_s=DEBOUNCE_S, poll_s=POLL_S, recovery_s=1.0)
QUICK = KeeperOptions(debounce_s=0.001, poll_s=0.01, recovery_s=0.01)
NEVER = KeeperOptions(debounce_s=0.001, poll_s=3600.0, recovery_s=3600.0)


class Clock:
    """The monotonic clock, set forward by hand."""

    def __init__(self) -> None:
        self._offset = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self._offset

    def advance(self, seconds: float) -> None:
        self._offset += seconds


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "p"


@pytest.fixture
def store(folder: Path) -> Iterator[MemoryStore]:
    store = open_store(folder)
    remember(store, "one", "old text")
    store.fold()
    yield store
    store.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keeper(store: MemoryStore, clock: Clock) -> Keeper:
    return Keeper(store, OPTIONS, monotonic=clock)


def settle(keeper: Keeper) -> float:
    """Tick until nothing is due now, as the thread would."""
    while (wait_s := keeper.tick()) == 0:
        pass
    return wait_s


def test_a_fold_happens_when_it_is_due_and_not_before(
    store: MemoryStore, keeper: Keeper, clock: Clock, folder: Path
) -> None:
    remember(store, "two")
    wait_s = keeper.tick()
    assert 0 < wait_s <= POLL_S
    assert ids_in(folder / "entries.jsonl") == ["p:one"]

    clock.advance(wait_s)
    settle(keeper)

    assert ids_in(folder / "entries.jsonl") == ["p:one", "p:two"]
    assert store.status().pending_journal == 0


def test_usage_is_saved_off_the_request_and_not_at_every_tick(
    store: MemoryStore, keeper: Keeper, clock: Clock, folder: Path
) -> None:
    file = folder / ".qms" / "usage.json"
    settle(keeper)
    assert not file.exists()

    store.usage.touch(["p:one"], NOW)
    settle(keeper)
    once = file.read_bytes()
    store.usage.touch(["p:one"], NOW)
    settle(keeper)
    assert file.read_bytes() == once

    clock.advance(SAVE_S)
    settle(keeper)
    assert file.read_bytes() != once


def test_an_edit_is_taken_in_after_the_debounce_time(
    store: MemoryStore, keeper: Keeper, clock: Clock, folder: Path
) -> None:
    settle(keeper)
    edit_by_hand(folder / "entries.jsonl", "old text", "new text")
    keeper.file_changed(folder / "entries.jsonl")
    assert settle(keeper) <= DEBOUNCE_S
    assert text_of(store, "one") == "old text"

    clock.advance(DEBOUNCE_S)
    settle(keeper)

    assert text_of(store, "one") == "new text"


def test_an_editor_that_never_pauses_is_looked_at_all_the_same(
    store: MemoryStore, keeper: Keeper, clock: Clock, folder: Path
) -> None:
    edit_by_hand(folder / "entries.jsonl", "old text", "new text")
    events = 0
    while text_of(store, "one") == "old text":
        keeper.file_changed(folder / "entries.jsonl")
        keeper.tick()
        clock.advance(DEBOUNCE_S * 0.9)
        events += 1
        assert events <= MAX_DEBOUNCES + 3


@pytest.mark.fault("F26")
def test_the_poll_finds_an_edit_that_nobody_told_of(
    store: MemoryStore, keeper: Keeper, clock: Clock, folder: Path
) -> None:
    edit_by_hand(folder / "entries.jsonl", "old text", "new text")
    settle(keeper)
    assert text_of(store, "one") == "old text"

    clock.advance(POLL_S)
    settle(keeper)

    assert text_of(store, "one") == "new text"


def dead_watcher() -> FolderWatcher:
    def make_observer() -> BaseObserver:
        raise OSError(errno.ENOSPC, "inotify watch limit reached")

    return FolderWatcher(make_observer)


@pytest.mark.fault("F26")
def test_with_a_dead_watcher_the_running_keeper_still_finds_the_edit(
    store: MemoryStore, folder: Path
) -> None:
    keeper, watcher = Keeper(store, QUICK), dead_watcher()
    watcher.watch(folder, keeper.file_changed)
    assert not watcher.is_alive
    keeper.start()

    edit_by_hand(folder / "entries.jsonl", "old text", "new text")

    eventually(lambda: text_of(store, "one") == "new text")
    keeper.stop()


@pytest.mark.fault("F26")
def test_without_the_poll_a_dead_watcher_would_hide_the_edit(
    store: MemoryStore, folder: Path
) -> None:
    keeper, watcher = Keeper(store, NEVER), dead_watcher()
    watcher.watch(folder, keeper.file_changed)

    edit_by_hand(folder / "entries.jsonl", "old text", "new text")
    settle(keeper)

    assert text_of(store, "one") == "old text"


def test_watcher_and_keeper_together_take_in_an_edit_without_the_poll(
    store: MemoryStore, folder: Path
) -> None:
    keeper, watcher = Keeper(store, NEVER), FolderWatcher()
    watcher.watch(folder, keeper.file_changed)
    keeper.start()

    edit_by_hand(folder / "entries.jsonl", "old text", "new text")

    eventually(lambda: text_of(store, "one") == "new text")
    watcher.stop()
    keeper.stop()


def test_a_commit_wakes_the_keeper_for_its_fold(folder: Path) -> None:
    store = open_store(folder, options=StoreOptions(fold_after_s=0.001))
    keeper = Keeper(store, NEVER)
    store.subscribe(lambda *_: keeper.wake())
    keeper.start()

    remember(store, "one")

    eventually(lambda: ids_in(folder / "entries.jsonl"))
    keeper.stop()
    store.close()


def test_a_full_disk_is_tried_again_until_it_takes_writes(folder: Path, clock: Clock) -> None:
    disk = FullDisk()
    store = open_store(folder, disk=disk)
    keeper = Keeper(store, OPTIONS, monotonic=clock)
    disk.is_full = True
    with pytest.raises(StorageFullError):
        remember(store, "one")
    assert settle(keeper) <= OPTIONS.recovery_s
    assert store.is_read_only

    disk.is_full = False
    clock.advance(OPTIONS.recovery_s)
    settle(keeper)

    assert not store.status().read_only
    remember(store, "one")
    store.close()


class StumblingStore(MemoryStore):
    """A real store with duties that raise, as a bug would."""

    def __init__(self, files: StoreFiles, notes: list[str], usage: Usage) -> None:
        super().__init__(files, notes, usage)
        self.failing: set[str] = set()
        self.calls: list[str] = []
        self.unsettled_looks = 0

    def _duty(self, name: str) -> None:
        self.calls.append(name)
        if name in self.failing:
            raise ValueError(f"{name} does not work")

    def look(self) -> ReloadReport:
        self._duty("look")
        if self.unsettled_looks:
            self.unsettled_looks -= 1
            return ReloadReport(settled=False)
        return super().look()

    def fold_due_in(self, now: float) -> float | None:
        self._duty("fold")
        return super().fold_due_in(now)

    def recover(self) -> bool:
        self._duty("recover")
        return super().recover()


@pytest.fixture
def stumbling(folder: Path) -> Iterator[StumblingStore]:
    store = open_as(StumblingStore, folder)
    remember(store, "one", "old text")
    store.fold()
    yield store
    store.close()


@pytest.mark.parametrize("failing", ["look", "fold", "recover"])
def test_a_duty_that_raises_keeps_no_other_from_being_done(
    stumbling: StumblingStore, clock: Clock, failing: str
) -> None:
    keeper = Keeper(stumbling, OPTIONS, monotonic=clock)
    stumbling.failing = {failing}
    clock.advance(POLL_S)

    assert keeper.tick() > 0

    assert stumbling.calls == ["look", "fold", "recover"]


def test_the_thread_survives_what_its_duties_raise(stumbling: StumblingStore, folder: Path) -> None:
    stumbling.failing = {"look", "fold", "recover"}
    keeper = Keeper(stumbling, QUICK)
    keeper.start()
    eventually(lambda: {"look", "fold", "recover"} <= set(stumbling.calls))

    stumbling.failing = set()
    edit_by_hand(folder / "entries.jsonl", "old text", "new text")
    keeper.file_changed(folder / "entries.jsonl")

    eventually(lambda: text_of(stumbling, "one") == "new text")
    keeper.stop()


def test_a_file_in_the_middle_of_a_save_is_looked_at_less_and_less_often(
    stumbling: StumblingStore, clock: Clock
) -> None:
    stumbling.unsettled_looks = 20
    keeper = Keeper(stumbling, OPTIONS, monotonic=clock)
    clock.advance(POLL_S)
    waits = []
    for _ in range(8):
        waits.append(round(keeper.tick(), 2))
        clock.advance(waits[-1] + 0.01)

    assert waits[:3] == [0.15, 0.3, 0.6]
    assert max(waits) <= POLL_S


def test_a_held_file_is_not_folded_over_and_does_not_make_the_keeper_spin(
    store: MemoryStore, keeper: Keeper, clock: Clock, folder: Path
) -> None:
    (folder / "entries.jsonl").write_bytes(b"")
    store.reload()
    clock.advance(POLL_S)
    settle(keeper)
    remember(store, "two")
    clock.advance(POLL_S)

    waits = [keeper.tick() for _ in range(3)]

    assert store.status().held
    assert all(wait_s > 0 for wait_s in waits)
    assert (folder / "entries.jsonl").read_bytes() == b""


def test_new_times_apply_at_once(store: MemoryStore, clock: Clock, folder: Path) -> None:
    keeper = Keeper(store, NEVER, monotonic=clock)
    edit_by_hand(folder / "entries.jsonl", "old text", "new text")

    keeper.configure(OPTIONS)
    clock.advance(POLL_S)
    settle(keeper)

    assert text_of(store, "one") == "new text"


def test_stop_ends_the_thread_and_folds_nothing(store: MemoryStore, folder: Path) -> None:
    before = threading.active_count()
    keeper = Keeper(store, NEVER)
    keeper.start()
    keeper.stop()
    remember(store, "two")

    keeper.stop()

    assert threading.active_count() <= before
    assert ids_in(folder / "entries.jsonl") == ["p:one"]
