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
