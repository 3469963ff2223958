"""WinError 5, 32 and 33: somebody has a file open that has to be replaced."""

from pathlib import Path

import pytest

from qms.store.options import FoldOutcome
from tests.support.boxes import StoreBox, entry, line_of, statement
from tests.support.disks import WindowsDisk

CODES = [5, 32, 33]
NAMES = ["entries.jsonl", "base.jsonl", "base.json", "folding.json", "journal.wal"]
ALWAYS = 10_000


def store_on(tmp_path: Path, disk: WindowsDisk) -> StoreBox:
    box = StoreBox(tmp_path, disk=disk)
    box.put(entry("a"))
    box.fold()
    return box


@pytest.mark.fault("F24")
@pytest.mark.parametrize("code", CODES)
def test_a_reader_that_goes_away_is_waited_out(tmp_path: Path, code: int) -> None:
    disk = WindowsDisk(code)
    box = store_on(tmp_path, disk)
    box.put(statement("a", "changed"))
    disk.name, disk.refusals = "entries.jsonl", 3

    assert box.store.fold() is FoldOutcome.FOLDED
    assert disk.refused == 3
    assert box.lines() == [line_of(statement("a", "changed"))]


@pytest.mark.fault("F24")
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_stays_open_is_left_for_a_later_fold(
    tmp_path: Path, name: str, code: int
) -> None:
    disk = WindowsDisk(code)
    box = store_on(tmp_path, disk)
    box.put(statement("a", "changed"), entry("b"))
    box.remove("b")
    box.put(entry("c"))
    disk.name, disk.refusals = name, ALWAYS

    assert box.store.fold() is FoldOutcome.POSTPONED
    assert not box.store.is_read_only
    box.put(entry("d"))
    assert box.store.fold() is FoldOutcome.POSTPONED
    disk.refusals = 0
    assert box.store.fold() is FoldOutcome.FOLDED
    box.reopen()
    assert set(box.documents()) == {"a", "c", "d"}
    assert box.text("a") == "changed"
    assert len(box.lines()) == 3


@pytest.mark.fault("F24")
@pytest.mark.parametrize("name", NAMES)
def test_a_crash_while_a_file_is_kept_open_loses_nothing(tmp_path: Path, name: str) -> None:
    disk = WindowsDisk()
    box = store_on(tmp_path, disk)
    box.put(statement("a", "changed"), entry("b"))
    disk.name, disk.refusals = name, ALWAYS
    assert box.store.fold() is FoldOutcome.POSTPONED
    box.crash()
    disk.refusals = 0
    box.open()

    assert box.text("a") == "changed"
    assert box.get("b") == entry("b")
    assert box.store.conflicts() == []


@pytest.mark.fault("F24")
def test_a_disk_that_tries_once_would_postpone_the_fold(tmp_path: Path) -> None:
    disk = WindowsDisk()
    disk.replace_attempts = 1
    box = store_on(tmp_path, disk)
    box.put(entry("b"))
    disk.name, disk.refusals = "entries.jsonl", 3

    assert box.store.fold() is FoldOutcome.POSTPONED


@pytest.mark.fault("F24")
def test_a_fold_that_cut_the_journal_all_the_same_would_lose_the_write(tmp_path: Path) -> None:
    disk = WindowsDisk()
    box = store_on(tmp_path, disk)
    box.put(entry("b"))
    disk.name, disk.refusals = "entries.jsonl", ALWAYS
    box.store.fold()
    box.crash()
    (box.own / "journal.wal").unlink()
    disk.refusals = 0
    box.open()

    assert box.get("b") is None
