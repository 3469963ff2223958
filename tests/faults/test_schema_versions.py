"""Older schema versions are migrated after a copy; newer ones are read and never rewritten."""

import hashlib
from pathlib import Path

import pytest

from qms.disk.disk import Disk
from qms.memory.entry import Document
from qms.memory.errors import UnavailableError
from qms.memory.limits import DEFAULT_LIMITS
from qms.memory.validation import check
from qms.store import load as loading_module
from qms.store import reload as reload_module
from qms.store.base import BaseFiles, BaseMeta
from qms.store.options import FoldOutcome
from tests.support.boxes import EARLIER, StoreBox, entry, line_of, statement
from tests.support.disks import Killed, MortalDisk


def draft(local: str, text: str) -> Document:
    """Return an entry in the draft format, schemaVersion 0."""
    return entry(
        local,
        schemaVersion=0,
        body=text,
        timestamps=...,
        createdUtc=EARLIER,
        updatedUtc=EARLIER,
        mine=[1],
    )


OLD_FILE = b"".join(
    line + b"\n"
    for line in (
        line_of(draft("a", "one")),
        b"bad",
        line_of(draft("b", "two")),
        line_of(entry("c")),
    )
)


def migrated(local: str, text: str) -> Document:
    return statement(local, text, mine=[1])


def check_migrated(box: StoreBox) -> None:
    """Check that every entry is there in the present format, and a copy of the old file too."""
    assert box.get("a") == migrated("a", "one")
    assert box.get("b") == migrated("b", "two")
    assert box.get("c") == entry("c")
    for document in box.documents().values():
        check(document, box.project, DEFAULT_LIMITS)
    box.fold()
    lines = box.lines()
    assert lines[1] == b"bad"
    assert lines[3] == line_of(entry("c"))
    assert not any(b'"schemaVersion":0' in line for line in lines)
    copies = [path.read_bytes() for path in box.backups.rglob("entries.jsonl")]
    assert OLD_FILE in copies


@pytest.mark.fault("F20")
def test_an_older_file_is_migrated_after_a_copy(tmp_store: StoreBox) -> None:
    tmp_store.save(OLD_FILE)
    check_migrated(tmp_store)
    tmp_store.reopen()
    check_migrated(tmp_store)
    assert len(list(tmp_store.backups.rglob("entries.jsonl"))) == 1


@pytest.mark.fault("F20")
def test_an_older_line_that_is_added_live_is_migrated_after_a_copy(tmp_store: StoreBox) -> None:
    tmp_store.put(entry("c"))
    tmp_store.fold()
    tmp_store.save(OLD_FILE)
    tmp_store.store.reload()
    check_migrated(tmp_store)


class SyncedFolders(Disk):
    """A disk that remembers which folders were synced."""

    def __init__(self) -> None:
        super().__init__()
        self.synced: list[Path] = []

    def sync_folder(self, folder: Path) -> None:
        self.synced.append(folder)
        super().sync_folder(folder)


@pytest.mark.fault("F20")
def test_every_folder_that_is_made_for_the_copy_is_synced_in_its_parent(tmp_path: Path) -> None:
    disk = SyncedFolders()
    box = StoreBox(tmp_path)
    box.save(OLD_FILE)
    box.open(disk)

    copy = next(box.backups.rglob("entries.jsonl"))

    assert {copy.parent, copy.parent.parent, copy.parent.parent.parent} <= set(disk.synced)
    box.close()


def walk(root: Path, dies_at: int) -> bool:
    """Migrate with a disk that dies, then again with a good one; False when it did not die."""
    box = StoreBox(root)
    box.save(OLD_FILE)
    disk = MortalDisk(dies_at)
    try:
        box.open(disk)
        box.put(entry("new"))
        box.fold()
        survived = True
    except Killed:
        survived = False
    box.crash()
    assert survived or b"bad" in box.path.read_bytes()
    box.clock.advance(seconds=1)
    box.open()
    check_migrated(box)
    box.reopen()
    check_migrated(box)
    box.close()
    return not survived


@pytest.mark.fault("F20")
def test_a_kill_at_any_step_of_the_migration_loses_nothing(tmp_path: Path) -> None:
    step = 1
    while walk(tmp_path / str(step), step):
        step += 1

    assert step > 30


@pytest.mark.fault("F20")
def test_the_walk_notices_a_migration_without_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (loading_module, reload_module):
        monkeypatch.setattr(module, "copy_before_migration", lambda side, reading: None)

    with pytest.raises(AssertionError):
        walk(tmp_path, 0)


# -- newer

NEWER = line_of(entry("n", schemaVersion=2, novelty={"x": 1}))
NEW_FILE = line_of(entry("a")) + b"\n" + NEWER + b"\n" + b"bad\n"


def check_frozen(box: StoreBox) -> None:
    """Check that reads work, writes are refused with the reason, and no byte changes."""
    assert box.get("a") == entry("a")
    document = box.get("n")
    assert document is not None
    assert document["novelty"] == {"x": 1}
    with pytest.raises(UnavailableError, match="schemaVersion"):
        box.put(entry("b"))
    assert box.store.status().read_only
    assert "newerSchema" in [code for code, _ in box.codes()]
    assert box.store.fold() in (FoldOutcome.HELD, FoldOutcome.NOTHING)
    assert box.path.read_bytes() == NEW_FILE


@pytest.mark.fault("F20")
def test_a_newer_file_is_served_read_only_and_never_rewritten(tmp_store: StoreBox) -> None:
    tmp_store.save(NEW_FILE)
    check_frozen(tmp_store)
    tmp_store.reopen()
    check_frozen(tmp_store)


@pytest.mark.fault("F20")
@pytest.mark.parametrize("live", [True, False], ids=["live", "offline"])
def test_a_newer_line_freezes_the_store_until_it_is_gone(tmp_store: StoreBox, live: bool) -> None:
    tmp_store.put(entry("a"))
    tmp_store.fold()
    if not live:
        tmp_store.close()
    tmp_store.save(NEW_FILE)
    tmp_store.store.reload()
    check_frozen(tmp_store)
    tmp_store.crash()
    tmp_store.open()
    check_frozen(tmp_store)
    tmp_store.save_lines(line_of(entry("a")))
    tmp_store.store.reload()
    tmp_store.put(entry("b"))
    assert set(tmp_store.documents()) == {"a", "b"}


def fold_as_a_newer_server(box: StoreBox, data: bytes) -> None:
    """Leave the files as a newer server leaves them that folded entries of its own."""
    box.save(data)
    other = [index for index, line in enumerate(data.splitlines()) if line == b"bad"]
    box.own.mkdir(parents=True, exist_ok=True)
    (box.own / "base.jsonl").write_bytes(data)
    BaseFiles(Disk(), box.own).write_meta(
        BaseMeta(
            folded_sequence=3,
            sha256=hashlib.sha256(data).hexdigest(),
            entries=2,
            other_lines=other,
            kept=[],
        )
    )


@pytest.mark.fault("F20")
def test_what_a_newer_server_folded_is_not_rewritten_after_a_step_back(
    tmp_store: StoreBox,
) -> None:
    fold_as_a_newer_server(tmp_store, NEW_FILE)
    check_frozen(tmp_store)
    tmp_store.reopen()
    check_frozen(tmp_store)


@pytest.mark.fault("F20")
def test_a_newer_line_that_cannot_be_understood_does_not_stop_the_store(
    tmp_store: StoreBox,
) -> None:
    strange = line_of(entry("s", schemaVersion=2, kind="poem", timestamps=5))
    data = line_of(entry("a")) + b"\n" + strange + b"\n"
    fold_as_a_newer_server(tmp_store, data)
    for _ in range(2):
        tmp_store.open()
        assert tmp_store.get("a") == entry("a")
        assert ("newerSchema", 2) in tmp_store.codes()
        with pytest.raises(UnavailableError, match="p:s has a schemaVersion"):
            tmp_store.put(entry("b"))
        tmp_store.store.fold()
        assert tmp_store.path.read_bytes() == data


@pytest.mark.fault("F20")
def test_the_check_notices_a_store_that_does_not_freeze(
    tmp_store: StoreBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qms.store.writer.Writer.freeze", lambda self, reason: None)
    tmp_store.save(NEW_FILE)

    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check_frozen(tmp_store)
