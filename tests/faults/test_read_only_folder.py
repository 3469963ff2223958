"""A folder or a file that takes no writes: a clear error, reads go on, recovery by itself."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qms.memory.errors import StorageFullError
from qms.store.options import FoldOutcome, StoreOptions
from tests.support.boxes import StoreBox, entry, line_of, statement


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=30)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make everything below a folder read-only by a bind mount on itself."""
    run("mount", "--bind", str(folder), str(folder))
    try:
        run("mount", "-o", "remount,ro,bind", str(folder))
        yield
    finally:
        run("umount", "-l", str(folder))


@contextmanager
def immutable(*paths: Path) -> Iterator[None]:
    run("chattr", "+i", *map(str, paths))
    try:
        yield
    finally:
        run("chattr", "-i", *map(str, paths))


def store_in(tmp_path: Path) -> StoreBox:
    box = StoreBox(tmp_path, options=StoreOptions(retry_s=0.0))
    box.put(entry("a"))
    box.fold()
    return box


def check_refused(box: StoreBox) -> None:
    with pytest.raises(StorageFullError) as refused:
        box.put(entry("b"))
    assert "reading goes on" in refused.value.message
    assert refused.value.details["reason"]
    assert box.store.status().read_only
    assert box.store.status().read_only_reason == refused.value.message
    assert ("readOnly", None) in box.codes()
    assert box.get("a") == entry("a")
    assert box.get("b") is None


@pytest.mark.fault("F16")
@pytest.mark.needs("mount")
def test_a_store_opens_in_a_read_only_folder_and_recovers(tmp_path: Path) -> None:
    box = store_in(tmp_path)
    box.close()
    with read_only(box.folder):
        box.open()
        check_refused(box)
        assert not box.store.recover()
        check_refused(box)
    assert box.store.recover()
    box.put(entry("b"))
    box.reopen()
    assert set(box.documents()) == {"a", "b"}


@pytest.mark.fault("F16")
@pytest.mark.needs("mount")
def test_a_store_that_was_never_opened_is_read_from_a_read_only_folder(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    box.save_lines(line_of(entry("a")), b"bad")
    with read_only(box.folder):
        box.open()
        assert box.get("a") == entry("a")
        check_refused(box)
        assert ("notJson", 2) in box.codes()
        assert box.store.fold() is not FoldOutcome.FOLDED
    assert box.lines() == [line_of(entry("a")), b"bad"]


@pytest.mark.fault("F16")
@pytest.mark.needs("chattr")
def test_an_immutable_file_postpones_the_fold_and_nothing_else(tmp_path: Path) -> None:
    box = store_in(tmp_path)
    before = box.path.read_bytes()
    with immutable(box.path):
        box.put(statement("a", "changed"))
        assert box.store.fold() is FoldOutcome.POSTPONED
        assert ("fileFailure", None) in box.codes()
        box.put(entry("b"))
        assert box.path.read_bytes() == before
    assert box.store.fold() is FoldOutcome.FOLDED
    assert box.codes() == []
    box.reopen()
    assert box.text("a") == "changed"
    assert set(box.documents()) == {"a", "b"}


@pytest.mark.fault("F16")
@pytest.mark.needs("chattr")
def test_an_immutable_journal_turns_the_store_read_only_until_it_is_not(tmp_path: Path) -> None:
    box = store_in(tmp_path)
    box.close()
    with immutable(box.own / "journal.wal", box.own):
        box.open()
        check_refused(box)
        assert not box.store.recover()
    box.put(entry("b"))
    box.reopen()
    assert set(box.documents()) == {"a", "b"}


@pytest.mark.fault("F16")
@pytest.mark.needs("mount")
def test_the_check_notices_a_folder_that_does_take_writes(tmp_path: Path) -> None:
    box = store_in(tmp_path)

    with pytest.raises(pytest.fail.Exception):
        check_refused(box)
