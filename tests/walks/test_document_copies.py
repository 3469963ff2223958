"""Documents in everything that copies or ends entries: one change, whole, and never half of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qms.cli.sync_run import Portions
from tests.cli.test_sync_run import CutOff, pair, run
from tests.support.console import Console
from tests.support.house import Clock, Door, House
from tests.walks.test_documents import PARAGRAPHS, TEXT, store, text_of
from tests.walks.test_erase_entry import files_with, restart

CHANGED = TEXT.replace("windmill", "lighthouse")
__all__ = ["pair"]  # a fixture
SECRET = "xyzzyplughtoken"


def changes_of(house: House) -> int:
    return house.store().view.sequence


def ids_of(house: House) -> set[str]:
    return set(house.store().view.records)


def test_storing_replacing_deleting_and_restoring_are_one_change_each(
    house: House, as_writer: Door, as_curator: Door
) -> None:
    steps: list[Callable[[], Any]] = [
        lambda: store(as_writer),
        lambda: store(as_writer, CHANGED),
        lambda: as_writer("deleteEntry", id="harbour"),
        lambda: as_curator("restoreEntry", id="harbour"),
    ]

    for step in steps:
        before = changes_of(house)
        step()
        assert changes_of(house) == before + 1


def test_a_restored_document_has_no_chunk_that_an_earlier_replacement_retired(
    house: House, as_writer: Door, as_curator: Door
) -> None:
    # The clock stands still: what tells them apart is not the moment alone.
    first = store(as_writer)
    second = store(as_writer, CHANGED)
    as_writer("deleteEntry", id="harbour")

    as_curator("restoreEntry", id="harbour")

    assert ids_of(house) == {"projA:harbour", *second["chunkIds"]}
    assert set(first["chunkIds"]) - set(second["chunkIds"])
    assert text_of(as_writer, "harbour") == CHANGED


def test_a_document_deleted_twice_comes_back_as_it_was_last(
    house: House, as_writer: Door, as_curator: Door, clock: Clock
) -> None:
    store(as_writer)
    as_writer("deleteEntry", id="harbour")
    clock.move(minutes=1)
    second = store(as_writer, CHANGED)
    as_writer("deleteEntry", id="harbour")

    as_curator("restoreEntry", id="harbour")

    assert ids_of(house) == {"projA:harbour", *second["chunkIds"]}


def test_a_backup_brings_a_document_back_with_the_chunks_of_that_time(
    house: House, as_admin: Door, clock: Clock
) -> None:
    console = Console(house.client)
    first = store(as_admin)
    full = as_admin("backupStore", mode="full")["backupId"]
    clock.move(hours=1)
    second = store(as_admin, CHANGED)
    differential = as_admin("backupStore")["backupId"]
    clock.move(hours=1)
    as_admin("deleteEntry", id="harbour")

    for backup, stored, text in ((full, first, TEXT), (differential, second, CHANGED)):
        before = changes_of(house)
        console("POST", "/backups/projA/restore", {"id": backup})
        assert ids_of(house) == {"projA:harbour", *stored["chunkIds"]}
        assert text_of(as_admin, "harbour") == text
        assert changes_of(house) == before + 1


def test_an_export_holds_chunks_and_imports_whole_into_another_project(
    house: House, as_admin: Door
) -> None:
    stored = store(as_admin)
    exported = Console(house.client)("GET", "/export/projA?format=jsonl")["text"]
    assert len(exported.splitlines()) == 1 + stored["chunkCount"]
    moved = exported.replace("projA", "projB")
    read = Console(house.client)(
        "POST", "/import/projB", {"format": "jsonl", "content": moved, "name": "all.jsonl"}
    )
    other = as_admin.at("projB")

    imported = other("bulkImport", entries=[one["entry"] for one in read["items"]])

    assert imported["errors"] == []
    assert text_of(other, "projB:harbour") == TEXT
    changed = other("storeDocument", content=CHANGED, mime="text/markdown", id="harbour")
    assert len(other("getDocument", id="harbour", include="chunks")["chunks"]) == 5
    assert len(set(changed["chunkIds"])) == 5


def test_the_history_names_the_versions_of_a_document_and_of_its_chunks(
    house: House, as_writer: Door, as_curator: Door, clock: Clock
) -> None:
    first = store(as_writer)
    clock.move(minutes=1)
    second = store(as_writer, CHANGED)
    (gone,) = set(first["chunkIds"]) - set(second["chunkIds"])

    versions = as_curator("history", id="harbour", full=True)["items"]
    chunk = as_curator("history", id=gone, full=True)["items"]

    assert [one["entry"]["body"]["sha256"] for one in versions] == [
        second["sha256"],
        first["sha256"],
    ]
    assert [one["command"] for one in versions] == ["storeDocument", "storeDocument"]
    assert [(one["reason"], one["isPresent"]) for one in chunk] == [("superseded", False)]
    assert "windmill" in chunk[0]["entry"]["body"]["text"]
    old = versions[1]["version"]
    assert as_curator.fails("restoreEntry", id="harbour", version=old).code == "invalidInput"


def test_a_sync_carries_documents_whole_their_changes_and_their_end(
    pair: tuple[House, House],
) -> None:
    here, there = pair
    store(here.door("writer"))
    run(here, there)
    assert text_of(there.door("reader"), "harbour") == TEXT

    there.clock.move(minutes=1)
    second = store(there.door("writer"), CHANGED)
    run(here, there)
    assert text_of(here.door("reader"), "harbour") == CHANGED
    assert ids_of(here) == {"projA:harbour", *second["chunkIds"]}

    here.door("writer")("deleteEntry", id="harbour")
    run(here, there)
    assert ids_of(there) == set()


def test_a_sync_that_is_cut_off_is_made_whole_by_the_next(pair: tuple[House, House]) -> None:
    here, there = pair
    store(here.door("writer"))
    run(here, there)
    here.clock.move(minutes=1)
    second = store(here.door("writer"), CHANGED)

    for calls in range(30):
        try:
            run(here, there, calls=calls, portions=Portions(apply_entries=2))
            break
        except CutOff:
            continue

    assert ids_of(there) == {"projA:harbour", *second["chunkIds"]}
    assert text_of(there.door("reader"), "harbour") == CHANGED


def test_of_a_document_that_changed_on_both_sides_the_later_one_wins_with_its_chunks(
    pair: tuple[House, House],
) -> None:
    here, there = pair
    store(here.door("writer"))
    run(here, there)
    here.clock.move(minutes=1)
    store(here.door("writer"), CHANGED)
    there.clock.move(minutes=2)
    other = TEXT.replace("chapel", "church")
    later = store(there.door("writer"), other)

    run(here, there)

    for house in pair:
        assert text_of(house.door("reader"), "harbour") == other
        assert ids_of(house) == {"projA:harbour", *later["chunkIds"]}
        assert house.store().problems() == []
    again = run(there, here)
    assert (again.ours, again.theirs) == ({}, {})


def test_a_document_that_went_back_to_an_old_text_keeps_its_chunks_in_a_sync(
    pair: tuple[House, House],
) -> None:
    here, there = pair
    for text in (TEXT, CHANGED, TEXT):
        here.clock.move(minutes=1)
        stored = store(here.door("writer"), text)
        assert run(here, there).faults == []

    for house in pair:
        assert ids_of(house) == {"projA:harbour", *stored["chunkIds"]}
        assert text_of(house.door("reader"), "harbour") == TEXT


@pytest.fixture
def leaked(house: House, as_admin: Door, clock: Clock) -> None:
    """A document whose chunks, former and present, are in every file that keeps entries."""
    as_admin("upsertEntry", entry={"id": "kept", "kind": "note", "body": "stays"})
    store(as_admin, f"{TEXT}\n\nFirst {SECRET} {PARAGRAPHS[0]}")
    as_admin("backupStore", mode="full")
    clock.move(hours=1)
    store(as_admin, f"{TEXT}\n\nSecond {SECRET} {PARAGRAPHS[1]}")
    as_admin("backupStore")
    clock.move(hours=1)
    as_admin("deleteEntry", id="harbour")
    store(as_admin, f"{TEXT}\n\nThird {SECRET} {PARAGRAPHS[2]}")
    restart(house)
    as_admin("searchEntries", query={"text": SECRET})


def test_an_erased_document_leaves_no_chunk_of_any_version_in_any_file(
    house: House, as_admin: Door, leaked: None
) -> None:
    places = files_with(house.root)
    for place in ("entries", "archive", "changes"):
        assert any(f"{place}.jsonl" in one for one in places), (place, places)
    trial = as_admin("eraseEntry", id="harbour", dryRun=True)

    done = as_admin("eraseEntry", id="harbour")

    assert (done["found"], done["backups"]) == (trial["found"], trial["backups"])
    assert files_with(house.root) == []
    assert named(house.root, b"projA:harbour.") == []
    assert ids_of(house) == {"projA:kept"}
    assert as_admin("searchEntries", query={"text": SECRET})["results"] == []


def named(root: Path, text: bytes) -> list[str]:
    files = (one for one in root.rglob("*.jsonl") if "audit" not in one.name)
    return [one.name for one in files if text in one.read_bytes()]


def test_backups_verify_after_the_erasure_of_a_document(
    house: House, as_admin: Door, leaked: None
) -> None:
    as_admin("eraseEntry", id="harbour")
    console = Console(house.client)

    found = console("GET", "/backups?project=projA")["items"]

    assert len(found) == 2
    for item in found:
        checked = console("POST", f"/backups/projA/{item['id']}/verify", {})
        assert (checked["good"], checked["entries"]) == (True, 1), checked["problem"]


def test_a_chunk_is_not_erased_without_its_document(as_admin: Door) -> None:
    chunk = store(as_admin)["chunkIds"][0]

    refused = as_admin.fails("eraseEntry", id=chunk)

    assert (refused.code, refused.details["documentId"]) == ("notAllowed", "projA:harbour")
