"""A flipped byte that still decodes: noticed before something is made of it."""

from pathlib import Path

import pytest

from tests.conftest import EntryMaker
from tests.support.console import Console
from tests.support.house import Clock, Door, House


def alter(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, new))


def found(door: Door) -> list[tuple[str, int | None]]:
    return [
        (one["file"], one["line"])
        for one in door("verifyStore")["items"]
        if one["code"] == "damagedFile"
    ]


@pytest.fixture
def folder(house: House, as_admin: Door, entry: EntryMaker, clock: Clock) -> Path:
    """A store with a backup, then two versions of an entry and a deleted one, folded."""
    as_admin("upsertEntry", entry=entry(id="one", title="first"))
    as_admin("upsertEntry", entry=entry(id="gone", title="archived"))
    as_admin("backupStore")
    clock.move(hours=1)
    as_admin("upsertEntry", entry=entry(id="one", title="second"))
    as_admin("upsertEntry", entry=entry(id="one", title="third"))
    as_admin("deleteEntry", id="gone")
    house.store().fold()
    clock.move(hours=1)
    assert found(as_admin) == []
    return house.entries_file().parent


@pytest.mark.fault("F09")
def test_an_altered_line_of_the_archive_is_reported_and_left_out(
    house: House, folder: Path, as_admin: Door
) -> None:
    alter(folder / "archive.jsonl", b'archived"', b'arXhived"')

    assert found(as_admin) == [("archive.jsonl", 1)]
    assert as_admin("listArchive")["items"] == []
    assert as_admin.fails("restoreEntry", id="gone").status == 404
    assert b"arXhived" in (folder / "archive.jsonl").read_bytes(), "the line stays for a look"


def reopen(house: House) -> None:
    house.catalog.remove("projA")
    house.catalog.register(["projA"])
    house.store()


@pytest.mark.fault("F09")
@pytest.mark.parametrize("is_removed", [False, True])
def test_an_archive_that_was_emptied_while_the_server_was_down_is_reported(
    house: House, folder: Path, as_admin: Door, entry: EntryMaker, is_removed: bool
) -> None:
    path = folder / "archive.jsonl"
    whole = path.read_bytes()
    house.catalog.remove("projA")
    path.unlink() if is_removed else path.write_bytes(b"")
    reopen(house)

    assert found(as_admin) == [("archive.jsonl", None)]
    problems = [(one["code"], one["file"]) for one in as_admin("health")["problems"]]
    assert ("damagedFile", "archive.jsonl") in problems
    assert f"{len(whole):,} bytes" in str(as_admin("verifyStore"))

    as_admin("upsertEntry", entry=entry(id="later", title="later"))
    as_admin("deleteEntry", id="later")
    house.store().fold()
    reopen(house)
    assert found(as_admin) == [("archive.jsonl", None)], "a later line does not hide the loss"
    path.write_bytes(whole + path.read_bytes())
    assert found(as_admin) == []


@pytest.mark.fault("F09")
def test_lines_that_left_the_archive_by_a_command_are_no_loss(
    house: House, folder: Path, as_admin: Door
) -> None:
    as_admin("purgeArchive", all=True)
    assert (folder / "archive.jsonl").read_bytes() == b""
    reopen(house)

    assert found(as_admin) == []


@pytest.mark.fault("F09")
def test_without_its_note_an_archive_counts_as_whole(
    house: House, folder: Path, as_admin: Door
) -> None:
    (folder / "archive.jsonl").write_bytes(b"")
    assert found(as_admin) != []
    (folder / ".qms" / "archive.json").unlink()
    reopen(house)

    assert found(as_admin) == []


@pytest.mark.fault("F09")
def test_an_altered_line_of_the_change_log_is_reported_and_nothing_is_made_of_it(
    house: House, folder: Path, as_admin: Door, clock: Clock
) -> None:
    console, moment = Console(house.client), clock().isoformat()
    alter(folder / ".qms" / "changes.jsonl", b'"second"', b'"seXond"')

    assert ("changes.jsonl", 2) in found(as_admin)
    titles = [one["title"] for one in as_admin("history", id="one")["items"]]
    assert "seXond" not in titles
    trial = console("POST", "/backups/projA/restore", {"at": moment, "dryRun": True})
    assert not trial["exact"]
    made = as_admin("backupStore")["backupId"]
    written = house.root / "Backups" / made / "projA"
    assert b"seXond" not in b"".join(one.read_bytes() for one in written.iterdir())


@pytest.mark.fault("F09")
def test_a_backup_reports_what_it_meets(house: House, folder: Path, as_admin: Door) -> None:
    house.catalog.remove("projA")
    house.catalog.register(["projA"])
    alter(folder / "archive.jsonl", b'archived"', b'arXhived"')

    as_admin("backupStore")

    problems = as_admin("health")["problems"]
    assert ("damagedFile", "archive.jsonl") in [(one["code"], one["file"]) for one in problems]


@pytest.mark.fault("F09")
def test_an_altered_base_is_reported(folder: Path, as_admin: Door) -> None:
    alter(folder / ".qms" / "base.jsonl", b'"third"', b'"thXrd"')

    assert found(as_admin) == [("base.jsonl", None)]
    assert as_admin("getEntry", id="one")["entry"]["title"] == "third"
