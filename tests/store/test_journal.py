"""The journal, as it behaves on a healthy disk."""

import errno
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.disk.disk import Disk
from qms.memory.changes import ChangeSet, Put, Remove
from qms.store.journal import Journal, JournalRecord, Operation, encode_record, read_journal
from tests.support.boxes import NOW, entry, line_of


def record(sequence: int, *, operation: Operation = Operation.COMMIT) -> JournalRecord:
    line = line_of(entry(f"e{sequence}"))
    changes = (
        Put(f"p:e{sequence}", msgspec.Raw(line), "0" * 16, created=True),
        Remove("p:gone", msgspec.Raw(line), "expired"),
    )
    change_set = ChangeSet(
        changes=changes, command="upsertEntry", user="alice", at_utc=NOW, agent_id="ai:one"
    )
    return JournalRecord(sequence, operation, change_set)


def opened(path: Path) -> Journal:
    journal = Journal(Disk(), path)
    journal.start(journal.load())
    return journal


def sequences(path: Path) -> list[int]:
    return [one.sequence for one in read_journal(path.read_bytes()).records]


def test_a_fresh_journal_is_empty_and_ready(tmp_path: Path) -> None:
    journal = opened(tmp_path / "journal.wal")

    assert not journal.is_broken
    assert sequences(tmp_path / "journal.wal") == []
    journal.close()


def test_what_was_appended_is_read_again_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "journal.wal"
    written = [record(1), record(2, operation=Operation.ADOPT), record(3)]
    journal = opened(path)
    for one in written:
        journal.append(encode_record(one))
    journal.close()

    content = Journal(Disk(), path).load()
    assert content.records == written
    assert content.good_bytes == path.stat().st_size == journal.size
    assert (content.torn_bytes, content.damaged) == (0, False)


def test_several_records_in_one_append_are_several_records(tmp_path: Path) -> None:
    path = tmp_path / "journal.wal"
    journal = opened(path)
    journal.append(b"".join(encode_record(record(number)) for number in (1, 2, 3)))
    journal.close()

    assert sequences(path) == [1, 2, 3]


def test_a_reopened_journal_goes_on_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "journal.wal"
    for number in (1, 2, 3):
        journal = opened(path)
        journal.append(encode_record(record(number)))
        journal.close()

    assert sequences(path) == [1, 2, 3]


def test_a_cut_drops_what_stood_before_and_keeps_what_came_after(tmp_path: Path) -> None:
    path = tmp_path / "journal.wal"
    journal = opened(path)
    journal.append(encode_record(record(1)))
    offset = journal.size
    journal.append(encode_record(record(2)))
    journal.cut(offset)
    journal.append(encode_record(record(3)))
    journal.cut(0 if sequences(path) != [2, 3] else journal.size)

    assert sequences(path) == []
    journal.append(encode_record(record(4)))
    assert sequences(path) == [4]
    journal.close()


def test_a_repair_keeps_every_record(tmp_path: Path) -> None:
    path = tmp_path / "journal.wal"
    journal = opened(path)
    journal.append(encode_record(record(1)))
    journal.close()
    assert journal.is_broken
    journal.repair()
    journal.append(encode_record(record(2)))

    assert sequences(path) == [1, 2]
    journal.close()


class StumblingDisk(Disk):
    """Fails at the next write, which takes half of its bytes, or at the next sync."""

    def __init__(self) -> None:
        self.fails_at = ""

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        if self.fails_at == "write":
            self.fails_at = "rest"
            return super().write(descriptor, data[: len(data) // 2])
        if self.fails_at == "rest":
            raise OSError(errno.ENOSPC, "full")
        return super().write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        if self.fails_at == "sync":
            raise OSError(errno.EIO, "broken")
        super().sync(descriptor)


@pytest.mark.fault("F04")
def test_half_of_a_record_does_not_stay_in_front_of_the_next(tmp_path: Path) -> None:
    path, disk = tmp_path / "journal.wal", StumblingDisk()
    journal = Journal(disk, path)
    journal.start(journal.load())
    disk.fails_at = "write"
    with pytest.raises(OSError, match="full"):
        journal.append(encode_record(record(1)))
    disk.fails_at = ""

    assert path.stat().st_size == journal.size
    journal.append(encode_record(record(2)))
    assert sequences(path) == [2]
    journal.close()


@pytest.mark.fault("F03")
def test_a_journal_whose_sync_failed_is_written_anew_before_it_goes_on(tmp_path: Path) -> None:
    path, disk = tmp_path / "journal.wal", StumblingDisk()
    journal = Journal(disk, path)
    journal.start(journal.load())
    journal.append(encode_record(record(1)))
    before = path.stat().st_ino
    disk.fails_at = "sync"
    with pytest.raises(OSError, match="broken"):
        journal.append(encode_record(record(2)))
    disk.fails_at = ""

    assert journal.is_broken
    journal.repair()
    journal.append(encode_record(record(3)))
    assert sequences(path) == [1, 3]
    assert path.stat().st_ino != before
    journal.close()


class NotingDisk(Disk):
    """Notes which names it gave, which folders it synced, and when something was appended."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, Path | None]] = []

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self.notes.append(("name", target))

    def sync_folder(self, folder: Path) -> None:
        super().sync_folder(folder)
        self.notes.append(("sync", folder))

    def append_note(self) -> None:
        self.notes.append(("append", None))


def append(journal: Journal, disk: NotingDisk, number: int) -> None:
    journal.append(encode_record(record(number)))
    disk.append_note()


def assert_names_last(disk: NotingDisk, *folders: Path) -> None:
    """Check that before each append every new name, and these folders, were synced."""
    unsynced = set(folders)
    for what, path in disk.notes:
        match what, path:
            case "name", Path():
                unsynced.add(path.parent)
            case "sync", Path():
                unsynced.discard(path)
            case _:
                assert unsynced == set()


@pytest.mark.fault("F06")
def test_a_new_journal_is_appended_to_once_its_name_and_its_folders_last(tmp_path: Path) -> None:
    path, disk = tmp_path / "p" / ".qms" / "journal.wal", NotingDisk()
    leading = [tmp_path, tmp_path / "p"]
    journal = Journal(disk, path, leading=leading)
    journal.start(journal.load())
    append(journal, disk, 1)
    journal.close()

    assert ("name", path) in disk.notes
    assert_names_last(disk, *leading, path.parent)


@pytest.mark.fault("F06")
def test_an_empty_journal_that_is_found_is_appended_to_once_its_name_lasts(tmp_path: Path) -> None:
    path, disk = tmp_path / "journal.wal", NotingDisk()
    opened(path).close()
    journal = Journal(disk, path)
    journal.start(journal.load())
    append(journal, disk, 1)
    journal.close()

    assert_names_last(disk, tmp_path)


@pytest.mark.fault("F06")
@pytest.mark.parametrize("verb", ["cut", "repair"])
def test_a_journal_written_anew_is_appended_to_once_its_new_name_lasts(
    tmp_path: Path, verb: str
) -> None:
    path, disk = tmp_path / "journal.wal", NotingDisk()
    journal = Journal(disk, path)
    journal.start(journal.load())
    append(journal, disk, 1)
    disk.notes.clear()

    if verb == "cut":
        journal.cut(journal.size)
    else:
        journal.repair()
    append(journal, disk, 2)
    journal.close()

    assert ("name", path) in disk.notes
    assert_names_last(disk)


def test_loading_changes_nothing_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "journal.wal"
    path.write_bytes(b"QMSJRNL1 torn")
    Journal(Disk(), path).load()

    assert path.read_bytes() == b"QMSJRNL1 torn"


def test_a_file_that_is_no_journal_is_damage_and_kept_aside(tmp_path: Path) -> None:
    path = tmp_path / "journal.wal"
    path.write_bytes(b"something else entirely")
    journal = Journal(Disk(), path)
    content = journal.load()
    journal.start(content)
    journal.append(encode_record(record(1)))
    journal.close()

    assert content.damaged
    assert (tmp_path / "journal.wal.damaged-1").read_bytes() == b"something else entirely"
    assert sequences(path) == [1]


def test_a_record_out_of_order_does_not_count() -> None:
    magic = b"QMSJRNL1"
    content = read_journal(magic + encode_record(record(5)) + encode_record(record(5)))

    assert [one.sequence for one in content.records] == [5]
    assert content.torn_bytes


@given(st.binary(max_size=200))
def test_no_bytes_make_reading_fail(data: bytes) -> None:
    for start in (b"", b"QMSJRNL1", b"QMSJRNL1" + encode_record(record(1))):
        content = read_journal(start + data)
        assert content.good_bytes <= max(len(start + data), len(b"QMSJRNL1"))
        if content.salvaged is not None:
            again = read_journal(content.salvaged)
            assert (again.records, again.torn_bytes) == (content.records, 0)


def test_reading_goes_on_behind_a_damaged_record() -> None:
    frames = [encode_record(record(number)) for number in range(1, 6)]
    frames[1] = frames[1][:-3] + b"???"
    frames[2] = b'garbage \x01{"changes"' + frames[2][4:]

    content = read_journal(b"QMSJRNL1" + b"".join(frames))

    assert [one.sequence for one in content.records] == [1, 4, 5]
    assert (content.damaged, content.torn_bytes) == (True, 0)
    assert content.missing(after=0) == [2, 3]
    assert content.missing(after=2) == [3]
    assert content.missing(after=3) == []


@pytest.mark.parametrize("spoiled", [0, 8, 12])
def test_a_damaged_beginning_costs_the_first_record_at_most(spoiled: int) -> None:
    data = bytearray(b"QMSJRNL1" + b"".join(encode_record(record(n)) for n in (4, 5, 6)))
    data[spoiled] ^= 0xFF

    content = read_journal(bytes(data))

    assert [one.sequence for one in content.records] == ([4, 5, 6] if spoiled == 0 else [5, 6])
    assert content.damaged
    assert content.missing(after=3) == ([] if spoiled == 0 else [4])


def test_a_repair_that_failed_is_made_later_from_the_same_records(tmp_path: Path) -> None:
    class Refusing(Disk):
        is_full = True

        def rename(self, source: Path, target: Path) -> None:
            if self.is_full and target.name == "journal.wal":
                raise OSError(errno.ENOSPC, "full")
            super().rename(source, target)

    path = tmp_path / "journal.wal"
    frames = [encode_record(record(number)) for number in (1, 2, 3)]
    path.write_bytes(b"QMSJRNL1" + frames[0] + frames[1][:-1] + b"?" + frames[2])
    disk = Refusing()
    journal = Journal(disk, path)
    content = journal.load()
    with pytest.raises(OSError, match="full"):
        journal.start(content)

    disk.is_full = False
    journal.repair()
    journal.append(encode_record(record(4)))
    journal.close()

    assert sequences(path) == [1, 3, 4]
    assert [one.name for one in tmp_path.glob("*damaged*")] == ["journal.wal.damaged-1"]


@pytest.mark.parametrize("reason", ["deleted", "expired"])
def test_a_removal_carries_its_reason_and_last_line(reason: str) -> None:
    line = line_of(entry())
    change_set = ChangeSet(
        changes=(Remove("p:a", msgspec.Raw(line), reason),), command="c", user="u", at_utc=NOW
    )
    frame = encode_record(JournalRecord(1, Operation.COMMIT, change_set))
    change = read_journal(b"QMSJRNL1" + frame).records[0].change_set.changes[0]

    assert isinstance(change, Remove)
    assert (change.reason, bytes(change.entry)) == (reason, line)
