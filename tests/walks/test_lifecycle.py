"""How long entries live, through the application."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from qms.memory.validation import instant_text
from tests.conftest import EntryMaker
from tests.support.house import Clock, Door, House


def archived(house: House) -> list[dict[str, Any]]:
    house.store().fold()
    path = house.entries_file().with_name("archive.jsonl")
    lines = path.read_bytes().splitlines() if path.exists() else []
    return [msgspec.json.decode(line) for line in lines]


def stored(door: Door, entry: dict[str, Any]) -> str:
    made: str = door("upsertEntry", entry=entry)["id"]
    return made


@pytest.mark.parametrize(
    ("retention", "seconds"), [("short", 6 * 3600), ("mid", 7 * 86400), ("long", None)]
)
def test_retention_sets_the_end_that_is_stored(
    as_writer: Door, entry: EntryMaker, clock: Clock, retention: str, seconds: int | None
) -> None:
    made = stored(as_writer, entry(retention=retention))
    begun = clock.now
    clock.move(seconds=seconds or 0)

    end = instant_text(clock.now) if seconds else None
    clock.now = begun
    assert as_writer("getEntry", id=made)["entry"].get("ttlUtc") == end


def test_ttl_seconds_become_the_stored_end_and_are_not_stored_themselves(
    as_writer: Door, entry: EntryMaker, clock: Clock
) -> None:
    made = stored(as_writer, entry(ttlSeconds=90, retention="mid"))
    found = as_writer("getEntry", id=made)["entry"]

    clock.move(seconds=90)
    assert found["ttlUtc"] == instant_text(clock.now)
    assert "ttlSeconds" not in found


@pytest.mark.parametrize("given", [0, -1, 31_536_001, 1.5, "60", True])
def test_ttl_seconds_outside_a_second_to_a_year_are_refused(
    as_writer: Door, entry: EntryMaker, given: Any
) -> None:
    refused = as_writer.fails("upsertEntry", entry=entry(ttlSeconds=given))

    assert (refused.code, refused.details["field"]) == ("invalidInput", "ttlSeconds")
    assert refused.details["maximum"] == 31_536_000


def test_an_end_in_the_past_is_refused(as_writer: Door, entry: EntryMaker, clock: Clock) -> None:
    refused = as_writer.fails("upsertEntry", entry=entry(ttlUtc=instant_text(clock.now)))

    assert (refused.code, refused.details["field"]) == ("invalidInput", "ttlUtc")


def test_two_ends_are_refused(as_writer: Door, entry: EntryMaker) -> None:
    refused = as_writer.fails(
        "upsertEntry", entry=entry(ttlSeconds=60, ttlUtc="2030-01-01T00:00:00Z")
    )

    assert refused.details["field"] == "ttlSeconds"


def test_a_patch_takes_ttl_seconds(as_writer: Door, entry: EntryMaker, clock: Clock) -> None:
    made = stored(as_writer, entry())
    patched = as_writer("patchEntry", id=made, patch={"ttlSeconds": 60})

    clock.move(seconds=60)
    assert patched["entry"]["ttlUtc"] == instant_text(clock.now)


def test_an_import_takes_ttl_seconds_and_reports_a_bad_one(
    as_writer: Door, entry: EntryMaker
) -> None:
    answer = as_writer("bulkImport", entries=[entry(ttlSeconds=60), entry(ttlSeconds=0)])

    assert answer["imported"] == 1
    assert [fault["index"] for fault in answer["errors"]] == [1]


def every_way_to_read(door: Door, entry_id: str, word: str) -> Iterator[bool]:
    """Yield whether each reading command still shows the entry."""
    yield door.send("getEntry", {"id": entry_id}).status == 200
    yield entry_id in str(door("listEntries", include="ids"))
    yield entry_id in str(door("searchEntries", query={"text": word}))
    yield entry_id in str(door("coldStart"))
    yield entry_id in str(door("listCurated", tier="canonical"))
    yield entry_id in str(door("recall", context=word, touch=False))
    yield entry_id in str(door("relatedEntries", id="neighbour")["nodes"])
    yield entry_id in str(door("getLinks", id="neighbour"))
    yield door.send("summaries", {"ids": [entry_id]}).status == 200
    yield entry_id in str(door("memory_list", format="json"))
    yield entry_id in str(door("memory_search", query=word, format="json"))
    yield entry_id in str(door("memory_recall", context=word, format="json"))


def test_nothing_shows_an_entry_from_the_second_in_which_it_expires(
    as_admin: Door, entry: EntryMaker, clock: Clock
) -> None:
    made = stored(
        as_admin,
        entry(title="quokka", ttlSeconds=60, pinned=True, curationTier="canonical"),
    )
    as_admin("upsertEntry", entry=entry(id="neighbour", title="wombat"))
    as_admin("linkEntries", sourceId="neighbour", targetId=made)
    clock.move(seconds=59, milliseconds=999)
    assert all(every_way_to_read(as_admin, made, "quokka"))

    clock.move(milliseconds=1)
    assert not any(every_way_to_read(as_admin, made, "quokka"))


def test_gc_moves_the_expired_to_the_archive(
    house: House, as_writer: Door, entry: EntryMaker, clock: Clock
) -> None:
    gone = stored(as_writer, entry(ttlSeconds=60))
    stays = stored(as_writer, entry(ttlSeconds=61))
    clock.move(seconds=60)

    assert as_writer("gc", dryRun=True) == {"expired": 1, "ids": [gone]}
    assert as_writer("gc") == {"expired": 1, "ids": [gone]}
    assert as_writer("gc") == {"expired": 0, "ids": []}
    assert set(house.store().view.records) == {stays}
    assert [(one["reason"], one["by"], one["entry"]["id"]) for one in archived(house)] == [
        ("expired", "writer", gone)
    ]


def test_without_archive_expired_the_expired_are_gone(
    house: House, as_writer: Door, entry: EntryMaker, clock: Clock
) -> None:
    house.reconfigure(lambda text: text + "[global.retention]\narchiveExpired = false\n")
    stored(as_writer, entry(ttlSeconds=60))
    clock.move(seconds=60)
    as_writer("gc")

    assert archived(house) == []


def test_a_permanent_entry_outlives_its_end(
    house: House, as_admin: Door, entry: EntryMaker, clock: Clock
) -> None:
    made = stored(as_admin, entry(ttlSeconds=60, isPermanent=True))
    clock.move(days=1)

    assert as_admin("gc")["expired"] == 0
    assert as_admin("getEntry", id=made)["entry"]["isPermanent"] is True


def test_promotion_clears_the_end(as_writer: Door, entry: EntryMaker, clock: Clock) -> None:
    made = stored(as_writer, entry(retention="short"))
    promoted = as_writer("promoteEntry", id=made)

    assert "ttlUtc" not in promoted["entry"]
    clock.move(days=365)
    assert as_writer("getEntry", id=made)["version"] == promoted["version"]


def test_promotion_to_mid_counts_from_now(as_writer: Door, entry: EntryMaker, clock: Clock) -> None:
    made = stored(as_writer, entry(retention="short"))
    clock.move(hours=5)
    promoted = as_writer("promoteEntry", id=made, retention="mid")

    clock.move(days=7)
    assert promoted["entry"]["ttlUtc"] == instant_text(clock.now)


def test_a_reader_neither_promotes_nor_collects(as_reader: Door, tmp_path: Path) -> None:
    assert as_reader.fails("promoteEntry", id="projA:x").code == "notAllowed"
    assert as_reader.fails("gc").code == "notAllowed"
