"""Folds that end between their announcement and the base, and a person at the file they left."""

import errno
from pathlib import Path

import pytest

from qms.disk.disk import Disk
from qms.store.base import BaseFiles
from qms.store.options import FoldOutcome
from tests.support.boxes import StoreBox, line_of, statement


class EndingDisk(Disk):
    """Lets one fold end: before the swap, after it, or when the base is to be written."""

    def __init__(self) -> None:
        self.ends = ""

    def exchange(self, first: Path, second: Path) -> bool:
        self._end("before")
        done = super().exchange(first, second)
        self._end("after")
        return done

    def rename(self, source: Path, target: Path) -> None:
        if target.name == "base.json":
            self._end("base")
        super().rename(source, target)

    def _end(self, moment: str) -> None:
        if self.ends == moment:
            self.ends = ""
            raise OSError(errno.EIO, "the fold ends here")


def line(local: str, text: str) -> bytes:
    return line_of(statement(local, text))


A, B, C = line("a", "a1"), line("b", "b1"), line("c", "c1")
C2, D = line("c", "c2"), line("d", "d1")
MINE_B, MINE_C = line("b", "by hand"), line("c", "by hand")


def cut_off(box: StoreBox, disk: EndingDisk, ends: str, *, live: bool) -> None:
    """Have a fold of `A B C` to `B C2 D` end, and write on."""
    box.put(statement("a", "a1"), statement("b", "b1"), statement("c", "c1"))
    box.fold()
    box.remove("a")
    box.put(statement("c", "c2"), statement("d", "d1"))
    disk.ends = ends
    assert box.store.fold() is FoldOutcome.POSTPONED
    box.put(statement("a", "again"), statement("c", "c3"))
    if not live:
        box.crash()


def texts(box: StoreBox) -> dict[str, str]:
    return {local: one["body"]["statement"] for local, one in sorted(box.documents().items())}


# where the fold ended, the lines that the person saved, the entries afterwards, what lost
SCENES: dict[str, tuple[str, list[bytes], dict[str, str], list[str]]] = {
    "edited what the fold had put in place": (
        "after",
        [MINE_B, C2, D],
        {"a": "again", "b": "by hand", "c": "c3", "d": "d1"},
        [],
    ),
    "edited what the fold was to replace": (
        "before",
        [A, MINE_B, C],
        {"a": "again", "b": "by hand", "c": "c3", "d": "d1"},
        [],
    ),
    "removed what the fold had added": (
        "after",
        [B, C2],
        {"a": "again", "b": "b1", "c": "c3"},
        [],
    ),
    "removed what the fold was to remove": (
        "before",
        [B, C],
        {"b": "b1", "c": "c3", "d": "d1"},
        ["again"],
    ),
    "removed what the fold had changed": (
        "after",
        [B, D],
        {"a": "again", "b": "b1", "d": "d1"},
        ["c3"],
    ),
    "left no trace of either file": (
        "after",
        [B, MINE_C],
        {"a": "again", "b": "b1", "c": "by hand", "d": "d1"},
        ["c3"],
    ),
    "edited after the base alone was not written": (
        "base",
        [MINE_B, D],
        {"a": "again", "b": "by hand", "d": "d1"},
        ["c3"],
    ),
}


@pytest.mark.fault("F13")
@pytest.mark.parametrize("live", [True, False], ids=["live", "offline"])
@pytest.mark.parametrize("scene", SCENES)
def test_an_edit_after_a_cut_off_fold_is_told_from_the_folds_own_lines(
    tmp_path: Path, scene: str, live: bool
) -> None:
    ends, lines, expected, lost = SCENES[scene]
    disk = EndingDisk()
    box = StoreBox(tmp_path, disk=disk)
    cut_off(box, disk, ends, live=live)
    box.save_lines(*lines)
    box.store.reload()
    for _ in range(3):
        assert texts(box) == expected
        assert box.conflict_texts() == lost
        box.fold()
        box.reopen()
    box.close()


@pytest.mark.fault("F13")
def test_an_edit_taken_after_a_cut_off_fold_is_not_taken_again_by_the_next_start(
    tmp_path: Path,
) -> None:
    disk = EndingDisk()
    box = StoreBox(tmp_path, disk=disk)
    cut_off(box, disk, "after", live=True)
    box.save_lines(MINE_B, C2, D)
    box.store.reload()
    box.put(statement("b", "b2"))
    box.crash()
    box.save_lines(MINE_B, C2, line("d", "by hand"))
    box.open()

    assert texts(box) == {"a": "again", "b": "b2", "c": "c3", "d": "by hand"}
    assert box.conflict_texts() == []
    box.close()


@pytest.mark.fault("F13")
def test_an_edit_that_a_cut_off_fold_has_written_over_does_not_come_back(tmp_path: Path) -> None:
    disk = EndingDisk()
    box = StoreBox(tmp_path, disk=disk)
    box.put(statement("b", "b1"), statement("c", "c1"))
    box.fold()
    box.save_lines(MINE_B, C)
    box.store.reload()
    box.put(statement("b", "b2"))
    disk.ends = "after"
    assert box.store.fold() is FoldOutcome.POSTPONED
    box.put(statement("b", "b3"))
    box.crash()
    box.save_lines(line("b", "b2"), MINE_C)
    box.open()

    assert texts(box) == {"b": "b3", "c": "by hand"}
    assert box.conflict_texts() == []
    box.close()


def play_alone(folder: Path, ends: str, *, live: bool) -> None:
    """Cut off two folds one after the other; nobody edits the file."""
    disk = EndingDisk()
    box = StoreBox(folder, disk=disk)
    cut_off(box, disk, ends, live=live)
    for number in range(3):
        box.store.reload()
        assert texts(box) == {"a": "again", "b": "b1", "c": f"c{number + 3}", "d": "d1"}
        assert box.store.conflicts() == []
        disk.ends = ["before", "after", ""][number]
        box.store.fold()
        box.put(statement("c", f"c{number + 4}"))
        if not live:
            box.crash()
    box.close()


@pytest.mark.fault("F13")
@pytest.mark.parametrize("live", [True, False], ids=["live", "offline"])
@pytest.mark.parametrize("ends", ["before", "after", "base"])
def test_no_line_of_a_cut_off_fold_is_taken_for_an_edit(
    tmp_path: Path, ends: str, live: bool
) -> None:
    play_alone(tmp_path, ends, live=live)


@pytest.mark.fault("F13")
@pytest.mark.parametrize("ends", ["after", "base"])
def test_a_fold_that_is_not_announced_would_be_taken_for_an_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    monkeypatch.setattr(BaseFiles, "announce", lambda *given: None)
    with pytest.raises(AssertionError):
        play_alone(tmp_path, ends, live=False)


def test_a_save_that_comes_before_the_swap_takes_the_announcement_back(tmp_path: Path) -> None:
    class SavingDisk(Disk):
        is_due = False

        def exchange(self, first: Path, second: Path) -> bool:
            if self.is_due:
                self.is_due = False
                box.save_by_rename(b"".join(one + b"\n" for one in (B, C)))
            return super().exchange(first, second)

    disk = SavingDisk()
    box = StoreBox(tmp_path, disk=disk)
    box.put(statement("a", "a1"), statement("b", "b1"), statement("c", "c1"))
    box.fold()
    box.remove("a")
    disk.is_due = True
    assert box.store.fold() is FoldOutcome.FILE_CHANGED
    box.put(statement("a", "again"))
    box.crash()
    box.open()

    assert texts(box) == {"b": "b1", "c": "c1"}
    assert box.conflict_texts() == ["again"]
    box.close()


@pytest.mark.parametrize("lost", ["folding.json", "base.jsonl.tmp", "base.jsonl", "base.json"])
def test_a_cut_off_fold_loses_no_entry_with_a_file_of_our_own(tmp_path: Path, lost: str) -> None:
    disk = EndingDisk()
    box = StoreBox(tmp_path, disk=disk)
    cut_off(box, disk, "after", live=False)
    (box.own / lost).unlink()
    box.save_lines(MINE_B, C2, D)
    box.open()

    found = set(texts(box).values()) | set(box.conflict_texts())
    assert {"again", "by hand", "c3", "d1"} <= found
    box.close()
