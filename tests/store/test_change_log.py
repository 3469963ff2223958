"""The change log: what happened since the last backup, in order, without a gap."""

from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import msgspec
import pytest

from qms.disk.disk import Disk
from qms.memory.changes import ChangeSet, Put
from qms.store.change_log import ChangeLog, decode_logged
from qms.store.journal import JournalRecord, Operation
from tests.support.power_loss import Model, RecordingDisk

AT = datetime(2026, 3, 1, tzinfo=UTC)


def record(sequence: int, *ids: str, text: str = "x") -> JournalRecord:
    line = msgspec.json.encode({"text": text})
    changes = tuple(Put(one, msgspec.Raw(line), "v") for one in ids or ("p:a",))
    change_set = ChangeSet(changes=changes, command="upsertEntry", user="u", at_utc=AT)
    return JournalRecord(sequence, Operation.COMMIT, change_set)


def log_in(folder: Path, lineages: "count[int] | None" = None) -> ChangeLog:
    numbers = lineages or count(1)
    return ChangeLog(Disk(), folder / "changes.jsonl", lambda: f"lineage {next(numbers)}")


def sequences(log: ChangeLog) -> list[int]:
    return [one.sequence for one in log.records()]


def test_records_are_kept_in_order_and_none_twice(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.extend([record(1), record(2)])
    log.extend([record(2), record(3)])

    assert sequences(log) == [1, 2, 3]
    assert log.lineage(3) == "lineage 1"


def test_a_replay_after_a_crash_goes_on_in_the_same_lineage(tmp_path: Path) -> None:
    numbers = count(1)
    log_in(tmp_path, numbers).extend([record(1), record(2)])
    later = log_in(tmp_path, numbers)
    later.extend([record(1), record(2), record(3)])

    assert sequences(later) == [1, 2, 3]
    assert later.lineage(3) == "lineage 1"


def test_a_torn_last_line_is_written_again_from_the_journal(tmp_path: Path) -> None:
    log_in(tmp_path).extend([record(1), record(2)])
    path = tmp_path / "changes.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    later = log_in(tmp_path)
    later.extend([record(2), record(3)])

    assert sequences(later) == [1, 2, 3]


def test_another_story_than_the_journals_begins_a_new_lineage(tmp_path: Path) -> None:
    numbers = count(1)
    log_in(tmp_path, numbers).extend([record(1), record(2)])
    later = log_in(tmp_path, numbers)
    later.extend([record(2, text="another"), record(3)])

    assert sequences(later) == [2, 3]
    assert later.lineage(3) == "lineage 2"


def test_a_gap_begins_a_new_lineage(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.extend([record(1)])
    log.extend([record(3)])

    assert sequences(log) == [3]
    assert log.lineage(3) == "lineage 2"


def test_a_log_that_is_distrusted_begins_a_new_lineage(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.extend([record(1)])
    log.distrust()

    assert log.lineage(1) == "lineage 2"
    log.extend([record(2)])
    assert sequences(log) == [2]


@pytest.mark.parametrize("damage", [b"{", b"not json\n", b'{"lineage":1}\n'])
def test_a_damaged_log_begins_a_new_lineage(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "changes.jsonl").write_bytes(damage)
    log = log_in(tmp_path)
    log.extend([record(7)])

    assert sequences(log) == [7]
    assert log.lineage(7) == "lineage 1"


def test_a_cut_keeps_lineage_and_order(tmp_path: Path) -> None:
    numbers = count(1)
    log = log_in(tmp_path, numbers)
    log.extend([record(1), record(2), record(3)])
    log.cut(2)
    log.extend([record(4)])

    assert sequences(log) == [3, 4]
    again = log_in(tmp_path, numbers)
    assert again.lineage(4) == "lineage 1"
    again.cut(4)
    again.extend([record(5)])
    assert sequences(again) == [5]
    assert again.lineage(5) == "lineage 1"


def test_an_entry_is_taken_out_of_every_change_set_and_no_sequence_is_lost(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.extend([record(1, "p:secret", text="SECRET"), record(2, "p:a", "p:secret"), record(3)])

    assert log.drop("p:secret") == 2
    assert sequences(log) == [1, 2, 3]
    assert b"SECRET" not in (tmp_path / "changes.jsonl").read_bytes()
    assert [len(one.change_set.changes) for one in log.records()] == [0, 1, 1]


def test_what_follows_a_damaged_line_begins_a_new_lineage_and_the_old_file_is_kept(
    tmp_path: Path,
) -> None:
    numbers = count(1)
    log_in(tmp_path, numbers).extend([record(one, text=f"text {one}") for one in range(1, 5)])
    path = tmp_path / "changes.jsonl"
    damaged = path.read_bytes().replace(b"text 2", b"tex\xff 2")
    path.write_bytes(damaged)
    later = log_in(tmp_path, numbers)
    assert sequences(later) == [1, 3, 4]

    later.extend([record(5)])

    assert sequences(later) == [3, 4, 5]
    assert later.lineage(5) == "lineage 2"
    assert (tmp_path / "changes.jsonl.damaged").read_bytes() == damaged


def test_an_erased_entry_leaves_no_damaged_line_that_names_it(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.extend([record(1, "p:a"), record(2, "p:b")])
    path = tmp_path / "changes.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"u"', b'"\xff"', 1))

    assert log.drop("p:a") == 1

    assert b"p:a" not in path.read_bytes()
    assert sequences(log) == [2]


def test_what_a_killed_process_left_unsynced_lasts_before_it_counts_as_known(
    tmp_path: Path,
) -> None:
    path = tmp_path / "changes.jsonl"
    killed = RecordingDisk(tmp_path, forgets=path.name)
    ChangeLog(killed, path).extend([record(1), record(2)])
    disk = RecordingDisk(tmp_path)
    disk.steps = killed.steps

    ChangeLog(disk, path).extend([record(1), record(2)])

    model = Model()
    for step in disk.steps:
        model.follow(step)
    for outcome in model.outcomes():
        found = decode_logged(outcome.files[path.name].split(b"\n")[1:])
        assert [one.sequence for one in found] == [1, 2], outcome.name
