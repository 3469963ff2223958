"""Erasing an entry, through the application: afterwards its text is in no file of the root."""

from pathlib import Path

import pytest

from tests.conftest import EntryMaker
from tests.support.console import Console
from tests.support.house import Clock, Door, House

SECRET = "xyzzyplughtoken"


def files_with(root: Path, text: str = SECRET) -> list[str]:
    """Return the files of a root that hold the text, in whatever case."""
    return sorted(
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and text.encode() in path.read_bytes().lower()
    )


def segments(house: House) -> set[str]:
    """Return tantivy's files of terms: it packs them, so that no text is found by reading."""
    folder = house.root / "MemoryStores" / "projA" / "indexes" / "tantivy"
    return {path.name for path in folder.iterdir() if "." in path.name[1:] and len(path.stem) == 32}


@pytest.fixture
def leaked(house: House, as_admin: Door, entry: EntryMaker, clock: Clock) -> None:
    """A secret in every place that the server keeps entries in."""
    for number in range(20):
        as_admin("upsertEntry", entry=entry(id=f"e{number}", title=f"entry {number}"))
    as_admin("upsertEntry", entry=entry(id="leak", title=f"first {SECRET}"))
    as_admin("searchEntries", query={"text": SECRET})
    as_admin("summaries", ids=["leak"])
    as_admin("backupStore")
    clock.move(hours=1)
    as_admin("deleteEntry", id="leak")
    as_admin("backupStore")
    as_admin("upsertEntry", entry=entry(id="leak", title=f"second {SECRET}"))
    as_admin("backupStore")
    clock.move(hours=1)
    house.store().fold()
    _edit_by_hand(house, as_admin, entry)
    as_admin("upsertEntry", entry=entry(id="leak", title=f"fourth {SECRET}"))
    restart(house)
    as_admin("searchEntries", query={"text": SECRET})


def restart(house: House) -> None:
    """Close the store, which brings the last words into tantivy's files, and open it again."""
    house.catalog.remove("projA")
    house.catalog.register(["projA"])


def _edit_by_hand(house: House, door: Door, entry: EntryMaker) -> None:
    """Let an edit and a write meet, and leave a broken line: a conflict copy and a bad line."""
    path = house.entries_file()
    text = path.read_bytes()
    door("upsertEntry", entry=entry(id="leak", title=f"third {SECRET}"))
    broken = f'{{"id":"projA:leak","kind":"nonsense","title":"{SECRET}"}}\n'.encode()
    path.write_bytes(broken + text.replace(b"second", b"by hand"))
    house.store().reload()
    house.store().fold()


def test_the_text_was_everywhere_and_is_nowhere(house: House, as_admin: Door, leaked: None) -> None:
    places = files_with(house.root)
    for place in ("entries", "base", "archive", "changes", "conflicts"):
        assert any(f"{place}.jsonl" in one for one in places), (place, places)
    with_terms = segments(house)
    assert with_terms
    trial = as_admin("eraseEntry", id="leak", dryRun=True)
    assert not trial["erased"]
    assert files_with(house.root) == places

    done = as_admin("eraseEntry", id="leak")

    assert done["erased"]
    assert (done["found"], done["backups"]) == (trial["found"], trial["backups"])
    assert files_with(house.root) == []
    assert with_terms.isdisjoint(segments(house))
    assert as_admin.fails("getEntry", id="leak").code == "notFound"
    assert as_admin.fails("history", id="leak").code == "notFound"
    assert len(as_admin("listEntries", page={"size": 50})["items"]) == 20
    assert as_admin("searchEntries", query={"text": SECRET})["results"] == []


def test_backups_verify_and_restore_after_an_erasure(
    house: House, as_admin: Door, leaked: None, clock: Clock
) -> None:
    as_admin("eraseEntry", id="leak")
    console = Console(house.client)

    for item in console("GET", "/backups?project=projA")["items"]:
        checked = console("POST", f"/backups/projA/{item['id']}/verify", {})
        assert (checked["good"], checked["entries"]) == (True, 20), checked["problem"]
    console("POST", "/backups/projA/restore", {"at": "2026-03-01T12:30:00Z"})
    assert files_with(house.root) == []
    as_admin("backupStore")
    assert files_with(house.root) == []


def test_an_erasure_outlives_a_restart(house: House, as_admin: Door, leaked: None) -> None:
    as_admin("eraseEntry", id="leak")
    restart(house)

    assert as_admin.fails("getEntry", id="leak").code == "notFound"
    assert files_with(house.root) == []


def test_a_copy_of_a_migration_is_cleaned_too(house: House, as_admin: Door, leaked: None) -> None:
    copy = house.root / "Backups" / "20250101T000000000000Z-migration" / "projA"
    copy.mkdir(parents=True)
    (copy / "entries.jsonl").write_bytes(house.entries_file().read_bytes())

    as_admin("eraseEntry", id="leak")

    assert files_with(house.root) == []
    assert b"entry 1" in (copy / "entries.jsonl").read_bytes()


def test_who_erased_what_is_written_down_without_the_text(
    house: House, as_admin: Door, leaked: None
) -> None:
    as_admin("eraseEntry", id="leak")

    records = Console(house.client)("GET", "/audit?command=eraseEntry")["items"]
    assert {change["op"] for one in records for change in one["changes"]} == {"erase", "remove"}
    assert {change["id"] for one in records for change in one["changes"]} == {"projA:leak"}
    assert {one["project"] for one in records} == {"projA"}
    assert house.audit.verify() is None


def test_how_often_an_erased_entry_was_read_is_forgotten(
    house: House, as_admin: Door, entry: EntryMaker
) -> None:
    for local in ("leak", "other"):
        as_admin("upsertEntry", entry=entry(id=local, title=f"a title of {local}"))
    house.store().usage.touch(["projA:leak", "projA:other"], house.clock())
    house.store().usage.save(house.store().view.records)
    path = house.root / "MemoryStores" / "projA" / ".qms" / "usage.json"
    assert b"projA:leak" in path.read_bytes()

    as_admin("eraseEntry", id="leak")

    assert b"projA:leak" not in path.read_bytes()
    assert b"projA:other" in path.read_bytes()


def test_what_is_nowhere_is_not_found(as_admin: Door) -> None:
    assert as_admin.fails("eraseEntry", id="never").code == "notFound"


def test_what_only_mentions_the_entry_stays(
    house: House, as_admin: Door, entry: EntryMaker, leaked: None
) -> None:
    as_admin("linkEntries", sourceId="e1", targetId="e2", type="ref")
    as_admin("linkEntries", sourceId="e1", targetId="leak", type="ref")
    as_admin("eraseEntry", id="leak")

    assert as_admin("getEntry", id="e1")["entry"]["title"] == "entry 1"


def test_a_line_that_a_person_gave_a_short_id_is_erased_from_everywhere(
    house: House, as_admin: Door, entry: EntryMaker
) -> None:
    as_admin("upsertEntry", entry=entry(id="kept"))
    house.store().fold()
    path = house.entries_file()
    line = f'{{"id": "short", "kind": "note", "body": {{"text": "{SECRET}"}}}}\n'
    path.write_bytes(path.read_bytes() + line.encode())
    house.store().reload()
    as_admin("backupStore", mode="full")
    assert as_admin("getEntry", id="short")["entry"]["id"] == "projA:short"

    as_admin("eraseEntry", id="short")

    assert files_with(house.root) == []
    assert as_admin("getEntry", id="kept")["entry"]["id"] == "projA:kept"
