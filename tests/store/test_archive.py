"""The archive of a store: what left it, each version once, also while it is on its way."""

import errno
from pathlib import Path

from qms.disk.disk import Disk
from qms.store.options import FoldOutcome
from tests.support.boxes import StoreBox, statement


class StuckDisk(Disk):
    """A disk on which folds end before the file is swapped while `is_stuck`."""

    is_stuck = False

    def exchange(self, first: Path, second: Path) -> bool:
        if self.is_stuck:
            raise OSError(errno.EIO, "the fold ends here")
        return super().exchange(first, second)


def test_a_version_that_archive_and_journal_both_hold_is_shown_once(tmp_path: Path) -> None:
    disk = StuckDisk()
    box = StoreBox(tmp_path, disk=disk)
    box.put(statement("a", "one"), statement("b", "two"))
    box.fold()
    box.remove("a")
    disk.is_stuck = True
    assert box.store.fold() is FoldOutcome.POSTPONED
    assert [one["entry"]["id"] for one in box.archived()] == ["p:a"]

    assert [one.entry["id"] for one in box.store.archive.entries()] == ["p:a"]
    assert len(box.store.archive.lines_of("p:a")) == 1
    assert box.store.archive.count() == 1
    disk.is_stuck = False
    box.close()


def test_what_leaves_for_good_is_not_counted_as_archived(tmp_store: StoreBox) -> None:
    tmp_store.put(statement("a", "one"), statement("b", "two"))
    tmp_store.store.commit(tmp_store.origin(), lambda draft: draft.remove("p:a", keep=False))
    tmp_store.remove("b")

    assert tmp_store.store.archive.count() == 1
    tmp_store.fold()
    assert tmp_store.store.archive.count() == len(tmp_store.archived()) == 1
