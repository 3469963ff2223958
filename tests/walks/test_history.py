"""Earlier versions, through the application: found wherever they are held, and brought back."""

import json
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


@pytest.mark.parametrize("mode", ["full", "differential"])
def test_author_and_time_of_a_version_are_kept_by_the_backup_that_holds_it(
    house: House, as_admin: Door, as_writer: Door, entry: EntryMaker, clock: Clock, mode: str
) -> None:
    as_writer("upsertEntry", entry=entry(id="one", title="first"))
    before = as_admin("history", id="one")["items"]
    clock.move(hours=1)
    house.store().fold()

    as_admin("backupStore", mode=mode)
    clock.move(hours=1)
    as_admin("backupStore", mode=mode)

    (kept,) = as_admin("history", id="one")["items"]
    assert (kept["by"], kept["command"]) == ("writer", "upsertEntry")
    assert kept["writtenUtc"] == before[0]["writtenUtc"]


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


def test_an_entry_that_came_back_from_the_archive_has_not_ended(
    as_admin: Door, entry: EntryMaker, clock: Clock
) -> None:
    as_admin("upsertEntry", entry=entry(id="one", title="only"))
    clock.move(hours=1)
    as_admin("deleteEntry", id="one")
    (deleted,) = as_admin("history", id="one")["items"]
    as_admin("restoreEntry", id="one", version=deleted["version"])

    (present,) = as_admin("history", id="one")["items"]
    assert deleted["endedUtc"] == "2026-03-01T13:00:00.000Z"
    assert (present["isPresent"], present["endedUtc"]) == (True, None)
    assert (deleted["reason"], present["reason"]) == ("deleted", None)


def test_the_present_version_comes_first_though_the_clock_was_set_back(
    as_admin: Door, entry: EntryMaker, clock: Clock
) -> None:
    as_admin("upsertEntry", entry=entry(id="one", title="before"))
    clock.move(hours=-1)
    as_admin("upsertEntry", entry=entry(id="one", title="present"))

    assert titles(as_admin) == ["present", "before"]
    assert titles(as_admin, limit=1) == ["present"]


def test_a_version_is_found_in_a_backup_behind_a_line_that_mentions_the_entry(
    house: House, as_admin: Door, entry: EntryMaker, clock: Clock
) -> None:
    for local in ("first", "one"):
        as_admin("upsertEntry", entry=entry(id=local, title=f"title of {local}"))
    as_admin("linkEntries", sourceId="first", targetId="one", type="ref")
    house.store().fold()
    for _ in range(2):
        as_admin("backupStore", mode="full")
        clock.move(hours=1)

    (version,) = as_admin("history", id="one")["items"]
    assert house.entries_file().read_bytes().index(b'"targetId":"projA:one"') < (
        house.entries_file().read_bytes().index(b'"id":"projA:one"')
    )
    assert len([one for one in version["foundIn"] if one.startswith("2026")]) == 2


def test_a_broken_backup_hides_no_later_one(
    house: House, as_admin: Door, entry: EntryMaker, clock: Clock
) -> None:
    as_admin("upsertEntry", entry=entry(id="one", title="only"))
    for _ in range(2):
        as_admin("backupStore", mode="full")
        clock.move(hours=1)
    broken, good = sorted(path.name for path in (house.root / "Backups").iterdir())
    path = house.root / "Backups" / broken / "projA" / "entries.jsonl"
    path.write_bytes(path.read_bytes().replace(b"only", b"else"))

    (version,) = as_admin("history", id="one")["items"]
    assert good in version["foundIn"]


@pytest.mark.parametrize(
    "bad",
    [{"kind": "note"}, {"kind": "note", "title": "bad", "body": {"text": "x"}, "priority": 99}],
)
def test_a_bad_line_in_a_backup_or_the_archive_is_no_version(
    house: House, as_admin: Door, entry: EntryMaker, bad: dict[str, object]
) -> None:
    for local in ("one", "two"):
        as_admin("upsertEntry", entry=entry(id=local, title=local))
    house.store().fold()
    line = json.dumps({"id": "projA:one", **bad})
    with house.entries_file().open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    house.store().reload()
    as_admin("backupStore", mode="full")
    ended = '{"archivedUtc":"2026-01-01T00:00:00.000Z","reason":"deleted","by":"me","entry":%s}\n'
    with house.entries_file().with_name("archive.jsonl").open("a", encoding="utf-8") as file:
        file.write(ended % line)

    assert [one["title"] for one in as_admin("history", id="one")["items"]] == ["one"]


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
