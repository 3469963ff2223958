"""The journal ends in the middle of a record, or a byte of the server's own files is flipped."""

import logging
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from qms.store.journal import read_journal
from qms.store.memory_store import MemoryStore
from tests.support.stores import (
    Changes,
    State,
    UnsyncedDisk,
    abandon,
    applied,
    open_store,
    state_of,
    write,
)

FOLDED: State = {"a": "a1", "b": "b1", "spoiled": "s1"}
WRITES: list[Changes] = [{"a": "a2"}, {"c": "c1", "d": "d1"}, {"b": None}, {"a": "a3"}]
BAD_LINE = "{this line was spoiled by hand"


def make_store(folder: Path) -> list[State]:
    """Leave a store with a folded file, a bad line in it, and records in the journal.

    Return what it holds after each number of records.
    """
    store = open_store(folder, disk=UnsyncedDisk())
    write(store, {**FOLDED})
    store.fold()
    path = folder / "entries.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    spoiled = [BAD_LINE if '"p:spoiled"' in line else line for line in lines]
    path.write_text("\n".join(spoiled) + "\n", encoding="utf-8")
    store.reload()
    store.fold()
    states = [state_of(store)]
    assert states == [FOLDED], "the entry of a bad line keeps its last good version"
    for changes in WRITES:
        write(store, changes)
        states.append(state_of(store))
    abandon(store)
    return states


def ends_of_records(data: bytes) -> list[int]:
    """Return the lengths at which a journal ends with a whole record."""
    return [n for n in range(8, len(data) + 1) if _is_whole(data[:n])]


def _is_whole(data: bytes) -> bool:
    content = read_journal(data)
    return content.good_bytes == len(data)


def open_with(
    folder: Path, name: str, data: bytes, disk: UnsyncedDisk | None = None
) -> MemoryStore:
    """Open a store one of whose files holds these bytes."""
    (folder / ".qms" / "journal.wal.damaged-1").unlink(missing_ok=True)
    (folder / ".qms" / name).write_bytes(data)
    return open_store(folder, disk=disk or UnsyncedDisk())


def check_torn_tails(folder: Path, log: pytest.LogCaptureFixture, disk: UnsyncedDisk) -> None:
    """Check every length that a journal may be torn to."""
    states = make_store(folder)
    data = (folder / ".qms" / "journal.wal").read_bytes()
    ends = ends_of_records(data)
    assert len(ends) == len(states)
    for length in range(len(data) + 1):
        log.clear()
        store = open_with(folder, "journal.wal", data[:length], disk)
        found = states[max(0, sum(end <= length for end in ends) - 1)]
        assert state_of(store) == found, length
        is_torn = length not in (0, *ends)
        assert ("journal tail cut" in log.messages) is is_torn, length
        write(store, {"next": "after the cut"})
        abandon(store)
        again = open_store(folder, disk=UnsyncedDisk())
        assert state_of(again) == applied(found, {"next": "after the cut"}), length
        assert again.problems()[1:] == [], "more than the bad line is reported"
        abandon(again)


@pytest.mark.fault("F08")
def test_a_torn_tail_of_any_length_is_cut_and_all_before_it_is_there(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)

    check_torn_tails(tmp_path / "p", caplog, UnsyncedDisk())


@pytest.mark.fault("F08")
def test_without_cutting_the_tail_the_check_fails(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class KeepsTheTail(UnsyncedDisk):
        def rename(self, source: Path, target: Path) -> None:
            if target.name != "journal.wal":
                super().rename(source, target)

    caplog.set_level(logging.WARNING)
    with pytest.raises(AssertionError):
        check_torn_tails(tmp_path / "p", caplog, KeepsTheTail())


def check_flipped_bytes(
    folder: Path,
    name: str,
    log: pytest.LogCaptureFixture,
    change: Callable[[bytearray], object] = bytearray.copy,
) -> None:
    """Check that one flipped byte anywhere is found, and nothing wrong is ever loaded."""
    states = make_store(folder)
    data = (folder / ".qms" / name).read_bytes()
    journal = (folder / ".qms" / "journal.wal").read_bytes()
    for position in range(len(data)):
        flipped = bytearray(data)
        flipped[position] ^= 0x10
        change(flipped)
        log.clear()
        store = open_with(folder, name, bytes(flipped))
        assert log.messages, f"nobody said that byte {position} is wrong"
        check_damage(store, folder / ".qms" / name, bytes(flipped), states)
        abandon(store)
        (folder / ".qms" / "journal.wal").write_bytes(journal)


def check_damage(store: MemoryStore, path: Path, damaged: bytes, states: list[State]) -> None:
    codes = {problem.code for problem in store.problems()}
    if path.name in ("base.json", "folding.json"):
        assert state_of(store) == states[-1], "a damaged base changed the entries"
        return
    if "journalDamaged" in codes:
        assert state_of(store) in without_one_write(states), "more than one write was lost"
        aside = path.with_name("journal.wal.damaged-1")
        assert aside.read_bytes() == damaged, "the damaged file was not kept"
    else:
        # Damage in the last record cannot be told from a torn tail: it is cut and logged.
        assert state_of(store) == states[-2], "damage in the middle was not reported"


def without_one_write(states: list[State]) -> list[State]:
    """Return what the store holds when one write at the most is missing."""
    found = [states[-1]]
    for lost in range(len(WRITES)):
        state = states[0]
        for number, changes in enumerate(WRITES):
            state = state if number == lost else applied(state, changes)
        found.append(state)
    return found


@pytest.mark.fault("F09")
def test_a_damaged_record_costs_itself_alone_and_is_named(tmp_path: Path) -> None:
    states = make_store(tmp_path / "p")
    path = tmp_path / "p" / ".qms" / "journal.wal"
    data = path.read_bytes()
    sequences = [one.sequence for one in read_journal(data).records]
    spoiled = data.replace(b'"c1"', b'"c?"')
    assert spoiled != data

    store = open_with(tmp_path / "p", "journal.wal", spoiled)

    assert state_of(store) == without_one_write(states)[2]
    assert "c" not in state_of(store)
    (problem,) = [one for one in store.problems() if one.code == "journalDamaged"]
    assert problem.reason == (
        f"writes {sequences[1]} cannot be read; 3 others were replayed;"
        " the damaged file is .qms/journal.wal.damaged-1"
    )
    write(store, {"next": "after it"})
    store.fold()
    expected = state_of(store)
    abandon(store)
    again = open_store(tmp_path / "p", disk=UnsyncedDisk())
    assert state_of(again) == expected
    abandon(again)


@pytest.mark.fault("F09")
@pytest.mark.parametrize("name", ["journal.wal", "base.json", "folding.json"])
def test_a_flipped_byte_is_found_and_changes_no_entry(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    caplog.set_level(logging.WARNING)

    check_flipped_bytes(tmp_path / "p", name, caplog)


@pytest.mark.fault("F09")
def test_without_the_checksum_of_the_journal_the_check_fails(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def make_sum_right(data: bytearray) -> None:
        position = 8
        while position + 8 < len(data):
            length = int.from_bytes(data[position : position + 4], "little")
            content = data[position + 8 : position + 8 + length]
            data[position + 4 : position + 8] = zlib.crc32(content).to_bytes(4, "little")
            position += 8 + length

    with pytest.raises((AssertionError, msgspec.DecodeError)):
        check_flipped_bytes(tmp_path / "p", "journal.wal", caplog, make_sum_right)
