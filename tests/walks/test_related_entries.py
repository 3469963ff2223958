from typing import Any

import pytest

from tests.conftest import EntryMaker
from tests.support.house import Door, House


def linked(entry: EntryMaker, name: str, *targets: str, **overrides: Any) -> dict[str, Any]:
    relations = [{"type": "ref", "targetId": target} for target in targets]
    return entry(id=name, title=name, relations=relations, **overrides)


def hops(answer: Any) -> dict[str, int]:
    return {node["id"]: node["hops"] for node in answer["nodes"]}


@pytest.fixture
def chain(as_writer: Door, entry: EntryMaker) -> None:
    """a -> b -> c -> d, and x -> b."""
    as_writer(
        "bulkImport",
        entries=[
            linked(entry, "a", "projA:b"),
            linked(entry, "b", "projA:c"),
            linked(entry, "c", "projA:d"),
            linked(entry, "d"),
            linked(entry, "x", "projA:b"),
        ],
    )


@pytest.mark.usefixtures("chain")
def test_the_start_is_a_node_and_both_directions_are_walked(as_reader: Door) -> None:
    answer = as_reader("relatedEntries", id="b", maxHops=1)

    assert hops(answer) == {"projA:b": 0, "projA:c": 1, "projA:a": 1, "projA:x": 1}
    assert {"sourceId": "projA:a", "targetId": "projA:b", "type": "ref", "weight": 1.0} in answer[
        "edges"
    ]
    assert len(answer["edges"]) == 3
    assert "paths" not in answer
    assert set(answer["nodes"][0]) == {
        "id",
        "kind",
        "title",
        "tags",
        "curationTier",
        "pinned",
        "updatedUtc",
        "hops",
    }


@pytest.mark.usefixtures("chain")
@pytest.mark.parametrize(
    ("direction", "expected"),
    [("out", {"b", "c", "d"}), ("in", {"b", "a", "x"}), ("both", {"a", "b", "c", "d", "x"})],
)
def test_a_direction_limits_the_walk(as_reader: Door, direction: str, expected: set[str]) -> None:
    answer = as_reader("relatedEntries", id="b", direction=direction)

    assert set(hops(answer)) == {f"projA:{name}" for name in expected}


@pytest.mark.usefixtures("chain")
def test_only_the_relation_types_asked_for_are_walked(as_writer: Door, entry: EntryMaker) -> None:
    odd = [{"type": "oddLink", "targetId": "projA:d", "weight": 0.5}]
    as_writer("patchEntry", id="a", patch={"relations": odd})

    answer = as_writer("relatedEntries", id="a", types=["oddLink"], maxHops=5)

    assert hops(answer) == {"projA:a": 0, "projA:d": 1}
    assert answer["edges"] == [
        {"sourceId": "projA:a", "targetId": "projA:d", "type": "oddLink", "weight": 0.5}
    ]


@pytest.mark.usefixtures("chain")
def test_the_shortest_paths_lead_to_the_entry_asked_for(as_writer: Door, entry: EntryMaker) -> None:
    as_writer("upsertEntry", entry=linked(entry, "y", "projA:a", "projA:x"))

    def paths(to: str, max_hops: int = 5) -> Any:
        return as_writer("relatedEntries", id="y", to=to, maxHops=max_hops)["paths"]

    assert sorted(paths("b")) == [
        ["projA:y", "projA:a", "projA:b"],
        ["projA:y", "projA:x", "projA:b"],
    ]
    assert paths("y") == [["projA:y"]]
    assert paths("d", max_hops=2) == []
    assert paths("projB:b") == []
    assert paths("absent") == []


def test_a_target_that_is_gone_is_not_walked_and_revives_with_it(
    as_writer: Door, entry: EntryMaker
) -> None:
    as_writer("upsertEntry", entry=linked(entry, "a", "projA:b"))
    assert as_writer("relatedEntries", id="a")["edges"] == []

    as_writer("upsertEntry", entry=linked(entry, "b"))
    assert len(as_writer("relatedEntries", id="a")["edges"]) == 1

    as_writer("deleteEntry", id="b")
    assert hops(as_writer("relatedEntries", id="a")) == {"projA:a": 0}


def test_shared_entries_are_walked_in_both_directions(as_writer: Door, entry: EntryMaker) -> None:
    as_writer.at("shared")("upsertEntry", entry=linked(entry, "s", "projA:b"))
    as_writer("upsertEntry", entry=linked(entry, "a", "shared:s"))
    as_writer("upsertEntry", entry=linked(entry, "b"))

    answer = as_writer("relatedEntries", id="a", maxHops=3)

    assert hops(answer) == {"projA:a": 0, "shared:s": 1, "projA:b": 2}
    assert "shared:s" in hops(as_writer("relatedEntries", id="b"))
    assert hops(as_writer("relatedEntries", id="a", includeShared=False)) == {"projA:a": 0}
    assert hops(as_writer("relatedEntries", id="shared:s")) == {
        "shared:s": 0,
        "projA:a": 1,
        "projA:b": 1,
    }


@pytest.mark.attack(12)
def test_nothing_of_a_store_that_the_key_does_not_open_is_walked(
    house: House, as_writer: Door, entry: EntryMaker
) -> None:
    house.reconfigure(
        lambda text: (
            text
            + '\n[permissions.shared]\nreader = "none"\n[permissions.closed]\nadmin = "admin"\n'
        )
    )
    admin = house.door("admin")
    admin.at("closed")("upsertEntry", entry=linked(entry, "hidden", "projA:a", "shared:s"))
    as_writer.at("shared")("upsertEntry", entry=linked(entry, "s", "projA:b", "closed:hidden"))
    as_writer("upsertEntry", entry=linked(entry, "a", "shared:s", "closed:hidden", "projB:b"))
    as_writer("upsertEntry", entry=linked(entry, "b"))

    answer = house.door("reader").send("relatedEntries", {"id": "a", "maxHops": 5})

    assert hops(answer.json) == {"projA:a": 0}
    assert answer.json["edges"] == []
    assert b"shared" not in answer.body
    assert b"closed" not in answer.body
    for door in (as_writer, admin):
        assert "closed:hidden" not in hops(door("relatedEntries", id="a", maxHops=5))


@pytest.mark.attack(42)
@pytest.mark.parametrize("max_hops", [0, -1, 6, 1_000_000, "6", "two"])
def test_hops_out_of_range_are_refused(as_reader: Door, max_hops: Any) -> None:
    refusal = as_reader.fails("relatedEntries", id="a", maxHops=max_hops)

    assert (refusal.status, refusal.details["field"]) == (400, "maxHops")


@pytest.mark.attack(42)
def test_a_walk_through_a_large_cyclic_graph_ends_at_the_cap(
    house: House, entry: EntryMaker
) -> None:
    house.set_limits(bulkEntries=10_000)
    count = 10_000
    entries = [
        linked(
            entry,
            f"n{number}",
            *(f"projA:n{(number * 3 + step) % count}" for step in (1, 2, 5) if number),
            *(["projA:n1", "projA:n9999"] if not number else []),
        )
        for number in range(count)
    ]
    for made in entries:
        made["relations"] = [
            relation
            for relation in made["relations"]
            if relation["targetId"] != f"projA:{made['id']}"
        ]
    door = house.door("writer")
    assert door("bulkImport", entries=entries)["imported"] == count

    answer = door("relatedEntries", id="n0", maxHops=5)

    assert len(answer["nodes"]) == 500
    known = set(hops(answer))
    assert all(edge["sourceId"] in known and edge["targetId"] in known for edge in answer["edges"])


@pytest.mark.parametrize("direction", ["sideways", 1])
def test_an_unknown_direction_is_refused(as_reader: Door, direction: Any) -> None:
    refusal = as_reader.fails("relatedEntries", id="a", direction=direction)

    assert refusal.details["field"] == "direction"


def test_at_the_cap_the_heaviest_relations_have_been_followed(
    house: House, as_writer: Door, entry: EntryMaker
) -> None:
    house.set_limits(graphNodes=3)
    weights = {"a": 0.1, "b": 0.9, "c": 0.5, "d": 0.2}
    for name in weights:
        as_writer("upsertEntry", entry=linked(entry, name))
    relations = [
        {"type": "ref", "targetId": f"projA:{name}", "weight": weight}
        for name, weight in weights.items()
    ]
    as_writer("upsertEntry", entry=entry(id="start", relations=relations))

    answer = as_writer("relatedEntries", id="start")

    assert list(hops(answer)) == ["projA:start", "projA:b", "projA:c"]


def test_paths_keep_to_the_types_and_the_direction_asked_for(
    as_writer: Door, entry: EntryMaker
) -> None:
    as_writer("upsertEntry", entry=linked(entry, "c"))
    as_writer("upsertEntry", entry=linked(entry, "b", "projA:c"))
    direct = [{"type": "mentions", "targetId": "projA:c"}, {"type": "ref", "targetId": "projA:b"}]
    as_writer("upsertEntry", entry=entry(id="a", relations=direct))

    def paths(**wanted: Any) -> Any:
        return as_writer("relatedEntries", **{"id": "a", "to": "c", "maxHops": 3, **wanted})[
            "paths"
        ]

    assert paths() == [["projA:a", "projA:c"]]
    assert paths(types=["ref"]) == [["projA:a", "projA:b", "projA:c"]]
    assert paths(direction="in") == []
    assert paths(id="c", to="a", direction="in") == [["projA:c", "projA:a"]]
    assert paths(types=[]) == []
