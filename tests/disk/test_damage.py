"""Finding what cannot be read: new lines only, each with its number."""

from pathlib import Path

import pytest

from qms.disk.damage import MAX_BAD_LINES, LineCheck, find_set_aside, line_fault, set_aside
from qms.disk.disk import Disk
from qms.disk.line_checksum import sealed


class CountingDisk(Disk):
    """Counts the bytes that are read."""

    read_bytes = 0

    def read_part(self, path: Path, start: int, size: int) -> bytes:
        found = super().read_part(path, start, size)
        self.read_bytes += len(found)
        return found


@pytest.mark.parametrize(
    ("line", "is_good"),
    [
        (b'{"a":"b"}', True),
        (b"", True),
        (b" \r", True),
        (b'{"a":"\xff"}', False),
        (b"[]", False),
        (b"{", False),
        (b'{"a":' + b"[" * 10_000, False),
        (sealed(b'{"a":"b"}'), True),
        (sealed(b'{"a":"b"}').replace(b"b", b"c", 1), False),
    ],
)
def test_a_line_is_a_json_object_in_utf_8(line: bytes, is_good: bool) -> None:
    assert (line_fault(line) is None) is is_good


def test_lines_that_are_known_are_not_read_again(tmp_path: Path) -> None:
    disk, path = CountingDisk(), tmp_path / "archive.jsonl"
    path.write_bytes(b'{"a":1}\n' * 10_000 + b'{"a":"\xff"}\n')
    check = LineCheck(disk, path)
    assert [one.line for one in check.run()] == [10_001]
    before = disk.read_bytes

    with path.open("ab") as file:
        file.write(b'{"a":2}\nbad\n{"torn')

    assert [one.line for one in check.run()] == [10_001, 10_003, 10_004]
    assert disk.read_bytes - before < 20_000


def test_a_file_that_was_written_anew_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "archive.jsonl"
    path.write_bytes(b"bad\n" * 3)
    check = LineCheck(Disk(), path)
    assert [one.line for one in check.run()] == [1, 2, 3]

    path.write_bytes(b'{"a":1}\nbad\n')
    assert [one.line for one in check.run()] == [2]
    path.unlink()
    assert check.run() == []


def test_so_many_bad_lines_are_reported_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "archive.jsonl"
    path.write_bytes(b"bad\n" * 1000)

    assert len(LineCheck(Disk(), path).run()) == MAX_BAD_LINES


def test_a_later_damage_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    for content in (b"first", b"second"):
        path.write_bytes(content)
        set_aside(Disk(), path, ValueError("broken"))

    assert [one.name for one in tmp_path.iterdir()] == ["keys.json.damaged"]
    assert (tmp_path / "keys.json.damaged").read_bytes() == b"second"
    assert [one.file for one in find_set_aside([tmp_path, tmp_path / "none"])] == ["keys.json"]
