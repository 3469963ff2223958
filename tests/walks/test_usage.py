"""Reading moves counters, counters move near equals, and no read writes entries.jsonl."""

from pathlib import Path

from qms.store.usage import Use
from tests.support.house import Clock, Door, House

ALIKE = ("one", "two", "three")


def store_alike(door: Door) -> None:
    for name in ALIKE:
        door("upsertEntry", entry={"id": name, "kind": "note", "body": f"The harbour log, {name}"})


def order(door: Door) -> list[str]:
    answer = door("searchEntries", query={"text": "harbour log"}, include="ids")
    return [result["entry"]["id"] for result in answer["results"]]


def test_a_read_is_counted_and_the_file_stays_as_it_is(house: House, as_reader: Door) -> None:
    store_alike(house.door("writer"))
    house.store().fold()
    before = house.entries_file().read_bytes()

    for _ in range(3):
        as_reader("getEntry", id="two")

    assert house.store().usage.of("projA:two") == Use(3, house.clock.now)
    assert house.entries_file().read_bytes() == before
    assert house.store().status().pending_journal == 0


def test_lists_and_searches_count_nothing(house: House, as_writer: Door) -> None:
    store_alike(as_writer)

    order(as_writer)
    as_writer("listEntries")

    assert dict(house.store().usage.counts) == {}


def test_of_near_equals_the_one_that_is_read_often_comes_first(as_writer: Door) -> None:
    store_alike(as_writer)
    last = order(as_writer)[-1]

    for _ in range(20):
        as_writer("getEntry", id=last)

    assert order(as_writer)[0] == last


def test_a_shared_entry_is_counted_in_its_own_store(house: House, as_reader: Door) -> None:
    house.door("admin", "shared")("upsertEntry", entry={"id": "s", "kind": "note", "body": "x"})

    as_reader("getEntry", id="shared:s")

    assert house.store("shared").usage.of("shared:s") is not None
    assert dict(house.store().usage.counts) == {}


def test_counters_outlive_a_restart_and_losing_them_costs_no_memory(
    tmp_path: Path, clock: Clock
) -> None:
    first = House(tmp_path, clock)
    store_alike(first.door("writer"))
    first.door("reader")("getEntry", id="two")
    first.close()
    file = tmp_path / "MemoryStores" / "projA" / ".qms" / "usage.json"

    second = House(tmp_path, clock)
    assert second.store().usage.of("projA:two") == Use(1, clock.now)
    second.close()
    file.unlink()

    third = House(tmp_path, clock)
    try:
        assert dict(third.store().usage.counts) == {}
        assert len(third.store().view) == len(ALIKE)
    finally:
        third.close()
