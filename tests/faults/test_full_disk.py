"""There is no room on the disk, or a write takes only part of its bytes."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec
import pytest

from qms.memory.errors import StorageFullError
from qms.store.memory_store import MemoryStore
from qms.store.options import FoldOutcome
from tests.support.failing_disks import FullDisk, ShortWrites
from tests.support.script import CHANGES, STATES, ScriptedDisk, Teller, assert_story_whole
from tests.support.stores import (
    State,
    abandon,
    applied,
    assert_files_whole,
    assert_state,
    open_store,
    state_of,
    write,
)


def check_end(folder: Path, teller: Teller) -> None:
    abandon(teller.store)
    assert_story_whole(folder)


def tell_with(folder: Path, disk: FullDisk) -> None:
    """Tell the story on a disk that fills up, and check what holds while it is full and after."""

    def make_room(store: MemoryStore) -> None:
        if disk.is_full and store.is_read_only:
            with pytest.raises(StorageFullError) as refusal:
                write(store, {"x": "refused"})
            assert refusal.value.code == "storageFull"
            assert not store.recover()
        assert state_of(store).get("a") == STATES[teller.told].get("a"), "reading stopped"
        assert_files_whole(folder)
        disk.is_full = False
        assert store.recover()

    teller = Teller(folder, disk, mend=make_room)
    teller.tell()
    assert disk.is_full or not disk.was_full or teller.refusals + teller.postponed > 0
    disk.is_full = False
    check_end(folder, teller)


def tell_with_each(folder: Path, make: Callable[[int], FullDisk]) -> None:
    """Tell the story once for each write that can meet the end of the room."""
    writes = count_writes(folder / "whole")
    assert writes > 30
    for number in range(1, writes + 1):
        tell_with(folder / f"p{number}", make(number))


def count_writes(folder: Path) -> int:
    disk = FullDisk()
    tell_with(folder, disk)
    return disk.writes


@pytest.mark.fault("F04")
@pytest.mark.parametrize("tears", [False, True])
def test_a_full_disk_refuses_writes_and_goes_on_when_there_is_room(
    tmp_path: Path, tears: bool
) -> None:
    tell_with_each(tmp_path, partial(FullDisk, tears=tears))


@pytest.mark.fault("F04")
def test_without_undoing_half_a_write_the_check_fails(tmp_path: Path) -> None:
    class Forgetful(FullDisk):
        def truncate(self, descriptor: int, size: int) -> None:
            return

    with pytest.raises((AssertionError, msgspec.DecodeError)):
        tell_with_each(tmp_path, Forgetful)


@pytest.mark.fault("F04")
def test_without_heeding_a_full_disk_the_check_fails(tmp_path: Path) -> None:
    class Deaf(FullDisk):
        def write(self, descriptor: int, data: bytes | memoryview) -> int:
            try:
                return super().write(descriptor, data)
            except OSError:
                return len(data)

    with pytest.raises(AssertionError):
        tell_with_each(tmp_path, Deaf)


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    subprocess.run(command, check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(store: MemoryStore, state: State) -> State:
    """Write until the disk is full; return what was acknowledged."""
    for number in range(1000):
        changes = {f"big{number}": f"{number} " + "x" * 20_000}
        try:
            write(store, {**changes})
        except StorageFullError:
            return state
        state = applied(state, {**changes})
    raise AssertionError("the disk never was full")


@pytest.mark.needs("mount")
@pytest.mark.fault("F04")
def test_a_disk_of_one_megabyte_fills_up_and_loses_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk"):
        folder = tmp_path / "disk" / "p"
        ballast = tmp_path / "disk" / "ballast"
        ballast.write_bytes(bytes(520_000))  # room for a second copy of the journal, later
        store = open_store(folder)
        write(store, CHANGES[0])
        assert store.fold() is FoldOutcome.FOLDED

        state = fill(store, STATES[1])

        assert len(state) > len(STATES[1])
        assert store.is_read_only
        assert store.fold() is FoldOutcome.POSTPONED
        assert not store.recover()
        assert state_of(store) == state
        assert_files_whole(folder)
        abandon(store)
        assert_state(folder, state)

        ballast.unlink()
        store = open_store(folder)
        assert store.recover()
        write(store, {"after": "there is room"})
        store.close()
        assert_state(folder, applied(state, {"after": "there is room"}))
        assert_files_whole(folder)


@pytest.mark.fault("F05")
@pytest.mark.parametrize("most", [1, 7, 100])
def test_short_writes_are_continued(tmp_path: Path, most: int) -> None:
    disk = ShortWrites(most)
    teller = Teller(tmp_path / "p", disk)

    teller.tell()

    assert disk.writes > 50
    check_end(tmp_path / "p", teller)


@pytest.mark.fault("F05")
def test_without_writing_the_rest_the_check_fails(tmp_path: Path) -> None:
    class Hasty(ShortWrites):
        def write_all(self, descriptor: int, data: bytes) -> None:
            self.write(descriptor, data)

    def tell_hastily() -> None:
        teller = Teller(tmp_path / "p", disk)
        teller.tell()
        check_end(tmp_path / "p", teller)

    disk: ScriptedDisk = Hasty(100)
    with pytest.raises(AssertionError):
        tell_hastily()
