"""Earlier versions, through the application: found wherever they are held, and brought back."""

import math

import pytest

from tests.conftest import EntryMaker
from tests.support.console import Console
from tests.support.house import Clock, Door, House
from tests.support.toon import read_toon


def titles(door: Door, **wanted: object) -> list[str]:
    return [one["title"] for one in door("history", id="one", **wanted)["items"]]


@pytest.fixture
def changed(as_admin: Door, entry: EntryMaker, clock: Clock) -> None:
    """An entry with four versions: in a full backup, in a differential, in the log, present."""
    for number in range(4):
        as_admin("upsertEntry", entry=entry(id="one", title=f"v{number}"))
        if number < 2:
            as_admin("backupStore")
        clock.move(hours=1)


def test_every_version_is_told_with_when_and_by_whom(as_curator: Door, changed: None) -> None:
    items = as_curator("history", id="one")["items"]

    assert [one["title"] for one in items] == ["v3", "v2", "v1", "v0"]
    assert [one["isPresent"] for one in items] == [True, False, False, False]
    assert items[1] == {
        "version": items[1]["version"],
        "title": "v2",
        "isPresent": False,
        "writtenUtc": "2026-03-01T14:00:00.000Z",
        "by": "admin",
        "command": "upsertEntry",
        "endedUtc": None,
        "reason": None,
        "foundIn": ["changes"],
        "entry": None,
    }
    assert as_curator("history", id="one", limit=1)["omitted"] == 3


@pytest.mark.parametrize("form", ["toon", "toonCompact"])
def test_versions_come_as_rows_too(as_curator: Door, changed: None, form: str) -> None:
    told = as_curator("history", id="one")

    toon = read_toon(as_curator.send("history", {"id": "one", "format": form}).body.decode())

    rows = toon.tables["versions"].rows
    for name in ("version", "title", "writtenUtc", "by", "command"):
        assert [row[name] for row in rows] == [item[name] for item in told["items"]]
    assert [row["foundIn"].split(",") for row in rows] == [one["foundIn"] for one in told["items"]]
    assert (toon.head["id"], toon.head["omitted"]) == ("projA:one", "0")


def test_a_budget_leaves_the_oldest_versions_out_and_says_how_many(
    as_curator: Door, changed: None
) -> None:
    told = as_curator.send("history", {"id": "one", "maxTokens": 200})

    assert math.ceil(len(told.body) / 4) <= 200
    assert [one["title"] for one in told.json["items"]] == ["v3", "v2", "v1"]
    assert told.json["omitted"] == 1


def test_whole_entries_do_not_fit_into_rows(as_curator: Door, changed: None) -> None:
    refusal = as_curator.send("history", {"id": "one", "full": True, "format": "toon"})

    assert (refusal.status, refusal.json["error"]["details"]["field"]) == (400, "full")


def test_history_outlives_folds_and_restarts(house: House, as_curator: Door, changed: None) -> None:
    house.store().fold()
    assert titles(as_curator) == ["v3", "v2", "v1", "v0"]
    house.catalog.remove("projA")
    house.catalog.register(["projA"])
    assert titles(as_curator) == ["v3", "v2", "v1", "v0"]


def test_a_deleted_entry_has_a_history_with_its_end(
    as_curator: Door, as_admin: Door, changed: None
) -> None:
    as_admin("deleteEntry", id="one")

    newest = as_curator("history", id="one", full=True)["items"][0]
    assert (newest["isPresent"], newest["reason"]) == (False, "deleted")
    assert newest["entry"]["title"] == "v3"


def test_a_version_that_was_edited_by_hand_is_told(
    house: House, as_curator: Door, changed: None
) -> None:
    house.store().fold()
    path = house.entries_file()
    path.write_bytes(path.read_bytes().replace(b'"v3"', b'"by hand"'))
    house.store().reload()

    newest = as_curator("history", id="one")["items"][0]
    assert (newest["title"], newest["by"], newest["command"]) == (
        "by hand",
        "hand-edit",
        "handEdit",
    )
    assert titles(as_curator)[1:] == ["v3", "v2", "v1", "v0"]


def test_any_version_is_brought_back_byte_for_byte(as_admin: Door, changed: None) -> None:
    for item in as_admin("history", id="one")["items"]:
        back = as_admin("restoreEntry", id="one", version=item["version"])
        assert (back["version"], back["entry"]["title"]) == (item["version"], item["title"])

    as_admin("deleteEntry", id="one")
    versions = {one["title"]: one["version"] for one in as_admin("history", id="one")["items"]}
    back = as_admin("restoreEntry", id="one", version=versions["v0"])
    assert back["entry"]["title"] == "v0"


def test_a_version_is_restored_only_by_who_may_edit_both(
    as_admin: Door, as_curator: Door, entry: EntryMaker, clock: Clock
) -> None:
    as_admin("upsertEntry", entry=entry(id="one", title="plain"))
    clock.move(hours=1)
    as_admin("upsertEntry", entry=entry(id="one", title="canon", curationTier="canonical"))
    plain = as_curator("history", id="one")["items"][1]

    assert as_curator.fails("restoreEntry", id="one", version=plain["version"]).code == "notAllowed"


def test_a_version_that_nothing_holds_is_not_found(as_admin: Door, changed: None) -> None:
    assert as_admin.fails("restoreEntry", id="one", version="0" * 16).code == "notFound"
    assert as_admin.fails("history", id="never").code == "notFound"


def test_the_console_shows_the_same_versions(house: House, changed: None) -> None:
    page = Console(house.client)("GET", "/history?project=projA&id=one&limit=2")

    assert [one["title"] for one in page["items"]] == ["v3", "v2"]
    assert page["omitted"] == 2
    refused = Console(house.client).fails("GET", "/history?project=closed&id=one")
    assert refused.code == "notFound"
