"""A store whose files others have open or locked, with Windows itself saying no.

Run by the Windows Python under wine (`tests/wine/test_inside.py`).
"""

import os
import sys
from pathlib import Path

import pytest

from qms.disk.disk import Disk, is_sharing_violation
from qms.store.options import FoldOutcome
from tests.support.boxes import StoreBox, entry, statement

assert sys.platform == "win32"
import msvcrt  # noqa: E402 - only Windows has it


class ImpatientReader(Disk):
    """A disk on which somebody reads a file, and closes it when it was to be replaced twice."""

    def __init__(self) -> None:
        self.held = -1
        self.attempts = 0

    def rename(self, source: Path, target: Path) -> None:
        if target.name == "entries.jsonl":
            self.attempts += 1
            if self.attempts == 3:
                os.close(self.held)
        super().rename(source, target)


@pytest.fixture
def box(tmp_path: Path) -> StoreBox:
    made = StoreBox(tmp_path)
    made.put(entry("a"))
    made.fold()
    made.put(statement("a", "changed"))
    return made


def test_windows_does_not_replace_a_file_that_somebody_reads(tmp_path: Path) -> None:
    source, target = tmp_path / "new", tmp_path / "old"
    source.write_bytes(b"new")
    target.write_bytes(b"old")
    with target.open("rb"), pytest.raises(PermissionError) as refused:
        source.replace(target)
    assert is_sharing_violation(refused.value)
    Disk().replace(source, target)
    assert target.read_bytes() == b"new"


def test_a_reader_that_goes_away_is_waited_out(tmp_path: Path) -> None:
    disk = ImpatientReader()
    box = StoreBox(tmp_path, disk=disk)
    box.put(entry("a"))
    box.fold()
    box.put(statement("a", "changed"))
    disk.held, disk.attempts = os.open(box.path, os.O_RDONLY | os.O_BINARY), 0

    assert box.store.fold() is FoldOutcome.FOLDED
    assert disk.attempts == 3
    assert b"changed" in box.path.read_bytes()


def test_a_file_that_stays_open_is_left_for_a_later_fold(box: StoreBox) -> None:
    with box.path.open("rb"):
        assert box.store.fold() is FoldOutcome.POSTPONED
        box.put(entry("b"))
    assert not box.store.is_read_only

    assert box.store.fold() is FoldOutcome.FOLDED
    box.reopen()
    assert box.text("a") == "changed"
    assert set(box.documents()) == {"a", "b"}


def test_a_locked_part_of_the_file_is_waited_for_and_nothing_is_lost(box: StoreBox) -> None:
    with box.path.open("r+b") as other:
        msvcrt.locking(other.fileno(), msvcrt.LK_NBLCK, 1 << 20)
        box.store.look()
        assert box.text("a") == "changed"
        box.put(entry("b"))
        other.seek(0)
        msvcrt.locking(other.fileno(), msvcrt.LK_UNLCK, 1 << 20)

    box.store.look()
    assert box.store.fold() is FoldOutcome.FOLDED
    box.reopen()
    assert box.text("a") == "changed"
    assert set(box.documents()) == {"a", "b"}


def test_an_editor_of_windows_saves_with_its_line_ends(box: StoreBox) -> None:
    box.fold()
    lines = box.path.read_bytes().splitlines()
    added = b'{"kind":"note","title":"Added","body":{"text":"by hand"}}'
    with box.path.open("wb") as editor:
        editor.write(b"\xef\xbb\xbf" + b"".join(line + b"\r\n" for line in [*lines, added]))
    untouched = box.path.read_bytes().splitlines(keepends=True)[0]

    box.store.look()
    box.put(entry("b"))
    box.fold()

    assert len(box.documents()) == 3
    assert box.path.read_bytes().splitlines(keepends=True)[0] == untouched
