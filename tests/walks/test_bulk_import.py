from typing import Any

import pytest

from tests.conftest import EntryMaker
from tests.support.house import Door, House

BAD = {"kind": "rumour", "body": "x", "id": "bad"}


def test_an_import_counts_what_was_new_replaced_and_there_already(
    as_writer: Door, entry: EntryMaker
) -> None:
    known = entry(id=None)
    as_writer("upsertEntry", entry=known)
    as_writer("upsertEntry", entry=entry(id="one"))

    answer = as_writer(
        "bulkImport", entries=[entry(), entry(id="two"), entry(id="one"), known, known]
    )

    assert answer == {"imported": 2, "updated": 1, "skipped": 2, "errors": []}
    assert len(as_writer("listEntries")["items"]) == 4


def test_an_import_is_one_commit(house: House, as_writer: Door, entry: EntryMaker) -> None:
    before = house.store().view.sequence

    as_writer("bulkImport", entries=[entry() for _ in range(50)])

    assert house.store().view.sequence == before + 1
    assert len(house.store().view) == 50


def test_a_duplicate_inside_the_same_import_is_skipped(as_writer: Door, entry: EntryMaker) -> None:
    twice = entry()

    assert as_writer("bulkImport", entries=[twice, twice])["skipped"] == 1


def test_a_bad_entry_is_skipped_and_named_while_the_others_are_stored(
    as_writer: Door, entry: EntryMaker
) -> None:
    answer = as_writer("bulkImport", entries=[entry(), BAD, "text", entry(project="projB")])

    assert (answer["imported"], answer["skipped"]) == (1, 3)
    assert [(fault["index"], fault["id"], fault["code"]) for fault in answer["errors"]] == [
        (1, "bad", "invalidInput"),
        (2, None, "invalidInput"),
        (3, None, "invalidInput"),
    ]
    assert "rumour" in answer["errors"][0]["message"]
    assert len(as_writer("listEntries")["items"]) == 1


def test_with_abort_one_bad_entry_keeps_all_out(
    house: House, as_writer: Door, entry: EntryMaker
) -> None:
    before = house.store().view

    answer = as_writer("bulkImport", entries=[entry(), BAD, entry(id="x y")], onError="abort")

    assert (answer["imported"], answer["updated"]) == (0, 0)
    assert [fault["index"] for fault in answer["errors"]] == [1, 2]
    assert house.store().view is before


def test_with_abort_good_entries_are_stored(as_writer: Door, entry: EntryMaker) -> None:
    assert as_writer("bulkImport", entries=[entry(), entry()], onError="abort")["imported"] == 2


@pytest.mark.parametrize("on_error", ["skip", "abort"])
def test_a_dry_run_says_what_would_happen_and_changes_nothing(
    house: House, as_writer: Door, entry: EntryMaker, on_error: str
) -> None:
    entries = [entry(), entry(id="one")]
    before = house.store().view

    rehearsal = as_writer("bulkImport", entries=entries, dryRun=True, onError=on_error)

    assert house.store().view is before
    assert rehearsal == as_writer("bulkImport", entries=entries, onError=on_error)


def test_rights_hold_for_every_entry_of_an_import(
    as_admin: Door, as_writer: Door, entry: EntryMaker
) -> None:
    as_admin("upsertEntry", entry=entry(id="law", curationTier="canonical"))

    answer = as_writer("bulkImport", entries=[entry(id="law"), entry(pinned=True), entry()])

    assert [fault["code"] for fault in answer["errors"]] == ["notAllowed", "notAllowed"]
    assert answer["imported"] == 1


def test_an_empty_import_is_fine(as_writer: Door) -> None:
    assert as_writer("bulkImport", entries=[]) == {
        "imported": 0,
        "updated": 0,
        "skipped": 0,
        "errors": [],
    }


@pytest.mark.parametrize("entries", [None, {}, "text", 7])
def test_entries_must_be_a_list(as_writer: Door, entries: Any) -> None:
    refusal = as_writer.fails("bulkImport", entries=entries)

    assert (refusal.code, refusal.details["field"]) == ("invalidInput", "entries")
