"""What is linked to a strong hit is found though it has none of the words asked for."""

from typing import Any

import pytest

from tests.support.house import Door, House

QUESTION = "Why did we leave the Kraken mail relay?"
UNRELATED = (
    "Tomatoes want sun",
    "The bridge is closed on Sundays",
    "Ann likes liquorice",
    "Printer toner is in the cellar",
    "Violins are tuned in fifths",
)


@pytest.fixture
def door(as_writer: Door) -> Door:
    for number, text in enumerate(UNRELATED):
        store(as_writer, f"u{number}", text)
    return as_writer


def store(
    door: Door, entry_id: str, text: str, /, *links: tuple[str, float], **fields: Any
) -> None:
    relations = [{"type": "ref", "targetId": one, "weight": weight} for one, weight in links]
    entry = {"id": entry_id, "kind": "note", "body": text, "relations": relations, **fields}
    door("upsertEntry", entry=entry)


def found(door: Door, **query: Any) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = door(
        "searchEntries", query={"text": QUESTION, "explain": True, **query}, include="ids"
    )["results"]
    return results


def ids(results: list[dict[str, Any]]) -> list[str]:
    return [one["entry"]["id"] for one in results]


@pytest.mark.parametrize("is_outgoing", [True, False])
def test_a_neighbour_comes_right_after_the_hit_that_brings_it(
    door: Door, is_outgoing: bool
) -> None:
    there = [("projA:cause", 1.0)] if is_outgoing else []
    back = [("projA:hit", 1.0)] if not is_outgoing else []
    store(door, "hit", "We left the Kraken mail relay in March", *there)
    store(door, "cause", "Prices had doubled", *back)

    results = found(door)

    assert ids(results)[:2] == ["projA:hit", "projA:cause"]
    assert results[1]["scores"]["text"] == 0
    assert results[1]["scores"]["graph"] > 0.5


def test_the_heavier_relation_brings_more(door: Door) -> None:
    links = [("projA:weak", 0.2), ("projA:strong", 0.9)]
    store(door, "hit", "We left the Kraken mail relay in March", *links)
    store(door, "weak", "Prices had doubled")
    store(door, "strong", "Outages were frequent")

    results = found(door)

    graph = {one["entry"]["id"]: one["scores"]["graph"] for one in results}
    assert ids(results)[:2] == ["projA:hit", "projA:strong"]
    assert graph["projA:strong"] > graph["projA:weak"] > 0


def test_no_neighbour_outranks_an_entry_that_answers_by_itself(door: Door) -> None:
    store(door, "hit", "We left the Kraken mail relay in March", ("projA:near", 1.0))
    store(door, "near", "Prices had doubled")
    store(door, "own", "Why we left the Kraken mail relay: it lost letters")

    assert set(ids(found(door))[:2]) == {"projA:hit", "projA:own"}


def test_a_filter_holds_for_neighbours(door: Door) -> None:
    store(door, "hit", "We left the Kraken mail relay", ("projA:near", 1.0), tags=["mail"])
    store(door, "near", "Prices had doubled")

    assert ids(found(door, filter={"tags": ["mail"]})) == ["projA:hit"]


def test_with_all_words_wanted_no_neighbour_comes(door: Door) -> None:
    store(door, "hit", "Why did we leave the Kraken mail relay", ("projA:near", 1.0))
    store(door, "near", "Prices had doubled")

    assert ids(found(door, match="all")) == ["projA:hit"]


@pytest.mark.attack(12)
def test_neighbours_come_from_stores_in_reach_only(house: House, door: Door) -> None:
    store(house.door("admin", "shared"), "near", "Prices had doubled")
    store(house.door("admin", "projB"), "far", "Outages were frequent")
    links = [("shared:near", 1.0), ("projB:far", 1.0)]
    store(door, "hit", "We left the Kraken mail relay in March", *links)

    assert "shared:near" in ids(found(door))
    assert "shared:near" not in ids(found(door, includeShared=False))
    assert "projB:far" not in ids(found(door))
