import math
from typing import Any

import pytest

from tests.conftest import EntryMaker
from tests.support.asgi import AsgiClient
from tests.support.house import Clock, Door, House, key_of


def ids(answer: Any) -> list[str]:
    return [item["id"].partition(":")[2] for item in answer["items"]]


def pages(door: Door, **request: Any) -> list[list[str]]:
    found, cursor = [], None
    while True:
        page = {**request.get("page", {}), **({"cursor": cursor} if cursor else {})}
        answer = door("listEntries", **{**request, "page": page})
        found.append(ids(answer))
        cursor = answer["nextCursor"]
        if cursor is None:
            return found


def test_the_latest_change_comes_first(as_writer: Door, entry: EntryMaker, clock: Clock) -> None:
    for name in ("a", "b", "c"):
        as_writer("upsertEntry", entry=entry(id=name))
        clock.move(minutes=1)
    as_writer("patchEntry", id="a", patch={"tags": ["x"]})

    assert ids(as_writer("listEntries")) == ["a", "c", "b"]


def test_stats_count_what_a_filter_leaves(
    as_writer: Door, as_reader: Door, entry: EntryMaker
) -> None:
    for name, tags in (("a", ["x"]), ("b", ["x", "y"]), ("c", [])):
        as_writer("upsertEntry", entry=entry(id=name, tags=tags))

    counted = as_reader("stats", filter={"tags": ["x"]})

    assert counted["entries"] == 2
    assert sum(counted["byKind"].values()) == 2
    assert as_reader("stats")["entries"] == 3
    assert as_reader("stats", filter={"tags": ["z"]})["entries"] == 0


@pytest.mark.fault("F18")
def test_the_order_of_changes_holds_when_the_clock_jumps(
    as_writer: Door, entry: EntryMaker, clock: Clock
) -> None:
    as_writer("upsertEntry", entry=entry(id="a"))
    clock.move(days=365)
    as_writer("upsertEntry", entry=entry(id="b"))
    clock.move(days=-730)
    as_writer("upsertEntry", entry=entry(id="c"))

    assert ids(as_writer("listEntries")) == ["c", "b", "a"]
    assert ids(as_writer("listEntries", sort="updated")) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("created", ["a", "b", "c"]),
        ("-created", ["c", "b", "a"]),
        ("title", ["b", "c", "a"]),
        ("-title", ["a", "c", "b"]),
        ("priority", ["a", "c", "b"]),
        ("-priority", ["b", "c", "a"]),
    ],
)
def test_lists_sort_by_each_key_both_ways(
    as_writer: Door, entry: EntryMaker, clock: Clock, sort: str, expected: list[str]
) -> None:
    for name, title, priority in (("a", "Zebra", 1), ("b", "ant", 9), ("c", "Bee", 5)):
        as_writer("upsertEntry", entry=entry(id=name, title=title, priority=priority))
        clock.move(minutes=1)

    assert ids(as_writer("listEntries", sort=sort)) == expected
    assert pages(as_writer, sort=sort, page={"size": 1}) == [[name] for name in expected]


@pytest.mark.parametrize("name", ["conversationId", "sourceType", "namespace", "agentId"])
def test_an_empty_text_in_a_filter_is_a_condition_like_any_other(
    as_writer: Door, entry: EntryMaker, name: str
) -> None:
    as_writer("upsertEntry", entry=entry(id="a"))

    assert as_writer("listEntries", filter={name: ""})["items"] == []


def test_without_a_question_relevance_is_what_an_entry_is(
    as_admin: Door, entry: EntryMaker
) -> None:
    traits: dict[str, dict[str, Any]] = {
        "pinned": {"pinned": True},
        "canonical": {"curationTier": "canonical"},
        "urgent": {"priority": 9},
        "doubtful": {"confidence": 0.5},
        "old": {},
        "new": {},
    }
    for name, fields in traits.items():
        as_admin("upsertEntry", entry=entry(id=name, **fields))
    expected = ["pinned", "canonical", "urgent", "new", "old", "doubtful"]

    assert ids(as_admin("listEntries", sort="-relevance")) == expected
    assert ids(as_admin("listEntries", sort="relevance")) == expected[::-1]
    paged = pages(as_admin, sort="-relevance", page={"size": 2})
    assert [name for page in paged for name in page] == expected


def test_equal_sort_values_are_ordered_by_id(as_writer: Door, entry: EntryMaker) -> None:
    as_writer("bulkImport", entries=[entry(id=name) for name in ("c", "a", "b")])

    assert pages(as_writer, sort="priority", page={"size": 2}) == [["a", "b"], ["c"]]
    assert pages(as_writer, sort="-updated", page={"size": 2}) == [["c", "b"], ["a"]]


def test_pages_join_without_gap_or_repetition_while_entries_change(
    as_writer: Door, entry: EntryMaker
) -> None:
    as_writer("bulkImport", entries=[entry(id=f"e{number:03}") for number in range(30)])
    first = as_writer("listEntries", sort="created", page={"size": 10})
    as_writer("deleteEntry", id=first["items"][-1]["id"])
    as_writer("upsertEntry", entry=entry(id="e0055", title="Between"))

    second = as_writer(
        "listEntries", sort="created", page={"size": 25, "cursor": first["nextCursor"]}
    )

    assert ids(second) == [f"e{number:03}" for number in range(10, 30)]
    assert second["nextCursor"] is None


def test_a_summary_carries_what_a_list_shows(as_writer: Door, entry: EntryMaker) -> None:
    as_writer("upsertEntry", entry=entry(id="a", title="One", tags=["x", "y"]))

    assert as_writer("listEntries")["items"] == [
        {
            "id": "projA:a",
            "kind": "fact",
            "title": "One",
            "tags": ["x", "y"],
            "curationTier": "provisional",
            "pinned": False,
            "updatedUtc": "2026-03-01T12:00:00.000Z",
        }
    ]


def test_a_list_carries_ids_alone_or_whole_entries_when_asked_to(
    as_writer: Door, entry: EntryMaker
) -> None:
    as_writer("upsertEntry", entry=entry(id="a"))

    assert as_writer("listEntries", include="ids")["items"] == [{"id": "projA:a"}]
    assert as_writer("listEntries", include="full")["items"] == [
        as_writer("getEntry", id="a")["entry"]
    ]


@pytest.fixture
def varied(as_curator: Door, entry: EntryMaker, clock: Clock) -> None:
    as_curator("upsertEntry", entry=entry(id="plain"))
    clock.move(hours=1)
    as_curator(
        "upsertEntry",
        entry=entry(
            id="rich",
            kind="conversationTurn",
            body={"content": "Hello", "conversationId": "c1"},
            tags=["x", "y"],
            curationTier="curated",
            retention="mid",
            namespace="team",
            epicSlug="epic",
            epicCase="case",
            agentId="ai:one",
            source={"type": "doc", "path": "a.md"},
            priority=8,
            confidence=0.5,
            pinned=True,
            metadata={"lang": "de", "level": 3},
        ),
    )


@pytest.mark.usefixtures("varied")
@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"kinds": ["fact", "note"]}, ["plain"]),
        ({"kind": "conversationTurn"}, ["rich"]),
        ({"tags": ["x", "y"]}, ["rich"]),
        ({"tags": ["x", "z"]}, []),
        ({"tag": "y"}, ["rich"]),
        ({"anyTags": ["z", "y"]}, ["rich"]),
        ({"tiers": ["provisional"]}, ["plain"]),
        ({"tier": "curated"}, ["rich"]),
        ({"retention": "mid"}, ["rich"]),
        ({"namespace": "team"}, ["rich"]),
        ({"epicSlug": "epic"}, ["rich"]),
        ({"epicCase": "case"}, ["rich"]),
        ({"conversationId": "c1"}, ["rich"]),
        ({"agentId": "ai:one"}, ["rich"]),
        ({"sourceType": "doc"}, ["rich"]),
        ({"createdAfter": "2026-03-01T13:00:00Z"}, ["rich"]),
        ({"createdBefore": "2026-03-01T13:00:00Z"}, ["plain"]),
        ({"updatedAfter": "2026-03-01T12:00:01Z"}, ["rich"]),
        ({"updatedBefore": "2026-03-01T13:00:00Z"}, ["plain"]),
        ({"minPriority": 6}, ["rich"]),
        ({"minConfidence": 0.6}, ["plain"]),
        ({"pinned": True}, ["rich"]),
        ({"pinned": False}, ["plain"]),
        ({"metadata": {"lang": "de"}}, ["rich"]),
        ({"metadata": {"lang": "de", "level": 4}}, []),
        ({"kind": "fact", "pinned": True}, []),
    ],
)
def test_each_condition_of_a_filter_narrows_the_list(
    as_reader: Door, wanted: dict[str, Any], expected: list[str]
) -> None:
    assert ids(as_reader("listEntries", filter=wanted)) == expected


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({"filter": {"colour": "blue"}}, "filter.colour"),
        ({"filter": {"kinds": ["rumour"]}}, "filter.kinds[0]"),
        ({"filter": {"createdAfter": "yesterday"}}, "filter.createdAfter"),
        ({"filter": {"createdAfter": "2026-03-01T12:00:00"}}, "filter.createdAfter"),
        ({"filter": []}, "filter"),
        ({"sort": "colour"}, "sort"),
        ({"include": "everything"}, "include"),
        ({"format": "yaml"}, "format"),
        ({"maxTokens": 0}, "maxTokens"),
        ({"offset": 5}, "offset"),
        ({"page": {"offset": 5}}, "page.offset"),
    ],
)
def test_a_request_that_a_list_does_not_understand_names_the_field(
    as_reader: Door, request_: dict[str, Any], field: str
) -> None:
    refusal = as_reader.fails("listEntries", **request_)

    assert (refusal.status, refusal.code) == (400, "invalidInput")
    assert refusal.details["field"] == field


@pytest.mark.attack(41)
@pytest.mark.parametrize(
    "size", ["-1", "0", "1000000000", "1e9", '"1000"', '"five"', "1.5", "true"]
)
def test_a_page_size_out_of_range_is_refused(client: AsgiClient, size: str) -> None:
    body = b'{"page":{"size":%b}}' % size.encode()

    answer = client.post("/api/v1/projA/listEntries", body, key=key_of("reader"))

    assert answer.status == 400
    assert answer.json["error"]["details"]["field"] == "page.size"


@pytest.mark.attack(14)
def test_a_cursor_works_for_the_list_that_it_was_made_for_only(
    as_writer: Door, entry: EntryMaker
) -> None:
    for door in (as_writer, as_writer.at("projB")):
        door("bulkImport", entries=[entry() for _ in range(3)])
    cursor = as_writer("listEntries", page={"size": 1})["nextCursor"]
    swapped = ("A" if cursor[5] != "A" else "B").join((cursor[:5], cursor[6:]))

    for door, request in (
        (as_writer.at("projB"), {}),
        (as_writer, {"sort": "updated"}),
        (as_writer, {"sort": "title"}),
        (as_writer, {"filter": {"kind": "fact"}}),
    ):
        refusal = door.fails("listEntries", page={"cursor": cursor}, **request)
        assert (refusal.status, refusal.details["field"]) == (400, "page.cursor")
    for forged in (swapped, cursor + "AAAA", "x", "%", "ä", "A" * 10_000):
        assert as_writer.fails("listEntries", page={"cursor": forged}).status == 400


def test_a_budget_of_tokens_cuts_the_page_and_the_cursor_goes_on(
    as_writer: Door, entry: EntryMaker
) -> None:
    as_writer("bulkImport", entries=[entry(id=f"e{number:02}") for number in range(40)])

    answer = as_writer.send("listEntries", {"maxTokens": 500, "sort": "created"})

    assert math.ceil(len(answer.body) / 4) <= 500
    assert 1 < len(answer.json["items"]) < 40
    every = pages(as_writer, maxTokens=500, sort="created")
    assert [name for page in every for name in page] == [f"e{number:02}" for number in range(40)]


def test_a_budget_below_one_entry_still_brings_one_so_that_paging_ends(
    as_writer: Door, entry: EntryMaker
) -> None:
    as_writer("bulkImport", entries=[entry(id=name) for name in ("a", "b")])

    assert pages(as_writer, maxTokens=1, sort="created") == [["a"], ["b"]]


def test_a_write_is_in_the_next_list(house: House, entry: EntryMaker) -> None:
    door = house.door("writer")
    for number in range(20):
        door("upsertEntry", entry=entry(id=f"e{number}"))
        assert ids(door("listEntries"))[0] == f"e{number}"
        door("deleteEntry", id=f"e{number}")
        assert ids(door("listEntries")) == []


def test_a_hand_edit_is_in_the_next_list(house: House, entry: EntryMaker) -> None:
    door = house.door("writer")
    door("upsertEntry", entry=entry(id="a", title="Before"))
    house.store().fold()
    assert [item["title"] for item in door("listEntries", sort="title")["items"]] == ["Before"]

    path = house.entries_file()
    path.write_text(
        path.read_text(encoding="utf-8").replace("Before", "After")
        + '{"kind":"note","title":"Added","body":{"text":"x"}}\n',
        encoding="utf-8",
    )
    house.store().reload()

    titles = [item["title"] for item in door("listEntries", sort="title")["items"]]
    assert titles == ["Added", "After"]
