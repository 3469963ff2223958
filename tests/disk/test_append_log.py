"""Archive and conflict copies: files that only grow."""

import errno
from pathlib import Path

import pytest

from qms.disk.append_log import AppendLog, NotedLog
from qms.disk.disk import BY_RIGHTS, Disk


class FullDisk(Disk):
    is_full = False

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        if self.is_full:
            raise OSError(errno.ENOSPC, "full")
        return super().write(descriptor, data)


def log_in(folder: Path, disk: Disk | None = None) -> AppendLog:
    return AppendLog(disk or Disk(), folder / "log.jsonl")


def test_lines_are_added_at_the_end_and_read_in_their_order(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.extend([b'{"n":1}', b'{"n":2}'])
    log.extend([b'{"n":3}'])

    assert [one["n"] for one in log.read()] == [1, 2, 3]
    assert log.count() == 3


def test_an_empty_log_has_nothing(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.extend([])

    assert (log.read(), log.count()) == ([], 0)
    assert list(tmp_path.iterdir()) == []


def test_a_replay_after_a_crash_adds_nothing_twice(tmp_path: Path) -> None:
    log_in(tmp_path).extend([b'{"n":1}', b'{"n":2}'])
    log_in(tmp_path).extend([b'{"n":1}', b'{"n":2}', b'{"n":3}', b'{"n":3}'])

    assert (tmp_path / "log.jsonl").read_bytes() == b'{"n":1}\n{"n":2}\n{"n":3}\n'


def test_once_nothing_can_be_replayed_an_equal_line_is_a_new_one(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.extend([b'{"n":1}'])
    log.forget_recent()
    log.extend([b'{"n":1}'])

    assert log.count() == 2


def test_a_torn_last_line_stays_on_a_line_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(b'{"n":1}\n{"n":')
    log = log_in(tmp_path)
    log.extend([b'{"n":2}'])

    assert (tmp_path / "log.jsonl").read_bytes() == b'{"n":1}\n{"n":\n{"n":2}\n'
    assert [one["n"] for one in log.read()] == [1, 2]


def test_a_line_that_a_person_broke_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(b'{"n":1}\n[]\nxx\n\xff\n{"n":2}\n')

    assert [one["n"] for one in log_in(tmp_path).read()] == [1, 2]


def test_what_a_full_disk_refused_is_added_when_there_is_room(tmp_path: Path) -> None:
    disk = FullDisk()
    log = log_in(tmp_path, disk)
    disk.is_full = True
    with pytest.raises(OSError, match="full"):
        log.extend([b'{"n":1}'])
    disk.is_full = False
    log.extend([b'{"n":1}'])

    assert (tmp_path / "log.jsonl").read_bytes() == b'{"n":1}\n'


def test_what_cannot_be_read_does_not_count_and_outlives_what_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(b'{"n":1}\nxx\n{"n":2}\n[]\n{"n":')
    log = log_in(tmp_path)
    assert log.count() == 2

    assert log.drop(lambda line: line == b'{"n":1}') == 1
    assert (tmp_path / "log.jsonl").read_bytes() == b'xx\n{"n":2}\n[]\n{"n":\n'
    assert log.count() == 1


class NotelessDisk(Disk):
    """A disk that keeps no notes for a while."""

    is_noteless = True

    def put(self, path: Path, data: bytes, *, mode: int = BY_RIGHTS) -> None:
        if self.is_noteless and path.name == "note.json":
            raise OSError(errno.ENOSPC, "full")
        super().put(path, data, mode=mode)


def noted_in(folder: Path, disk: Disk | None = None) -> NotedLog:
    return NotedLog(disk or Disk(), folder / "log.jsonl", folder / "note.json")


def test_lines_that_vanished_are_counted_and_added_ones_are_none(tmp_path: Path) -> None:
    noted_in(tmp_path).extend([b'{"n":1}', b'{"n":2}'])
    (tmp_path / "log.jsonl").write_bytes(b'{"n":1}\n')

    assert noted_in(tmp_path).lost_bytes() == 8
    noted_in(tmp_path).extend([b'{"n":3}'])
    assert noted_in(tmp_path).lost_bytes() == 8
    (tmp_path / "log.jsonl").write_bytes(b'{"n":1}\n{"n":2}\n{"n":3}\n{"n":4}\n')
    assert noted_in(tmp_path).lost_bytes() == 0


def test_dropped_lines_are_not_lost(tmp_path: Path) -> None:
    log = noted_in(tmp_path)
    log.extend([b'{"n":1}', b'{"n":2}'])

    assert log.drop(lambda line: b"2" in line) == 1
    assert log.lost_bytes() == noted_in(tmp_path).lost_bytes() == 0
    (tmp_path / "log.jsonl").write_bytes(b"")
    assert noted_in(tmp_path).lost_bytes() == 8


def test_a_note_that_cannot_be_written_costs_no_line_and_is_written_later(tmp_path: Path) -> None:
    disk = NotelessDisk()
    log = noted_in(tmp_path, disk)
    log.extend([b'{"n":1}'])
    assert log.count() == 1
    assert not (tmp_path / "note.json").exists()

    disk.is_noteless = False
    log.extend([])
    (tmp_path / "log.jsonl").unlink()

    assert noted_in(tmp_path).lost_bytes() == 8


@pytest.mark.parametrize("text", [b"", b"{", b'{"format":2,"bytes":99}'])
def test_a_note_that_says_nothing_is_none(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "note.json").write_bytes(text)

    assert noted_in(tmp_path).lost_bytes() == 0
