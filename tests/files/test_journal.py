"""The journal, as it behaves on a healthy disk."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.domain.changes import ChangeSet, Put, Remove
from qms.files.journal import Journal, JournalRecord, Operation, encode_record, read_journal
from qms.fsio.disk import Disk
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
        assert content.good_bytes <= len(start + data)


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
