"""Every list and search answer as rows of text, read back against the same answer as JSON."""

import math
from typing import Any

import msgspec
import pytest

from tests.support.asgi import Answer
from tests.support.house import Door
from tests.support.toon import Toon, read_toon

FORMS = ["toon", "toonCompact"]
USUAL = {"curationTier": "provisional", "retention": "long", "priority": "5"}
"""What an empty cell of the compact form stands for."""
REQUESTS: dict[str, dict[str, Any]] = {
    "listEntries": {"sort": "title"},
    "searchEntries": {"query": {"text": "pipe rule", "maxResults": 50}},
    "listCurated": {},
    "coldStart": {"maxTokens": 4000},
    "relatedEntries": {"id": "rule"},
}


@pytest.fixture
def door(as_admin: Door) -> Door:
    as_admin(
        "bulkImport",
        entries=[
            {
                "id": "rule",
                "kind": "fact",
                "title": "a|b \\ c\nd",
                "tags": ["x,y", "z|"],
                "body": {"statement": "the pipe rule\nof two lines"},
                "curationTier": "canonical",
                "relations": [{"type": "ref", "targetId": "projA:note", "weight": 0.5}],
            },
            {"id": "note", "kind": "note", "title": "Plain pipe", "body": "rule", "pinned": True},
            {"id": "todo", "kind": "task", "body": "Lay the pipe", "namespace": "team"},
        ],
    )
    return as_admin


def items_of(command: str, answer: Any) -> list[dict[str, Any]]:
    match command:
        case "searchEntries":
            return [result["entry"] for result in answer["results"]]
        case "coldStart":
            return [item for section in answer.values() for item in section]
        case "relatedEntries":
            nodes: list[dict[str, Any]] = answer["nodes"]
            return nodes
        case _:
            items: list[dict[str, Any]] = answer["items"]
            return items


def rows_of(answer: Answer) -> Toon:
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    return read_toon(answer.body.decode())


def as_cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(int(value))
        case list():
            return ",".join(value)
        case _:
            return str(value)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("command", REQUESTS)
def test_every_column_shown_reads_back_as_the_field_of_the_json_answer(
    door: Door, command: str, form: str
) -> None:
    request = REQUESTS[command]

    toon = rows_of(door.send(command, {**request, "format": form}))

    items = items_of(command, door(command, **request))
    assert [row["id"] for row in toon.memories] == [item["id"] for item in items]
    assert toon.head["count"] == str(len(items)) != "0"
    for row, item in zip(toon.memories, items, strict=True):
        shown = {name: as_cell(value) for name, value in item.items() if name in row}
        assert {"id", "kind", "title", "curationTier", "tags"} <= set(shown)
        assert {name: row[name] or USUAL.get(name, "") for name in shown} == shown


def test_the_full_form_shows_more_columns_than_the_compact_one(door: Door) -> None:
    full, compact = (rows_of(door.send("listEntries", {"format": form})) for form in FORMS)

    assert compact.tables["memories"].columns == [
        *("id", "kind", "title", "curationTier", "retention", "namespace", "priority", "tags")
    ]
    assert set(full.memories[0]) >= {"priority", "confidence", "createdUtc", "updatedUtc"}


def test_ids_come_alone_and_whole_entries_with_their_text(door: Door) -> None:
    def first(include: str) -> dict[str, str]:
        request = {"include": include, "format": "toonCompact", "sort": "title"}
        return rows_of(door.send("listEntries", request)).memories[0]

    assert first("ids") == {"id": "projA:rule"}
    assert first("full")["text"] == "the pipe rule\nof two lines"


def test_a_cursor_stands_in_the_first_line_and_goes_on(door: Door) -> None:
    request: dict[str, Any] = {"format": "toonCompact", "page": {"size": 2}, "sort": "title"}

    first = rows_of(door.send("listEntries", request))
    request["page"]["cursor"] = first.head["nextCursor"]
    second = rows_of(door.send("listEntries", request))

    assert (len(first.memories), len(second.memories)) == (2, 1)
    assert "nextCursor" not in second.head


def test_a_search_shows_scores_mode_and_snippets(door: Door) -> None:
    toon = rows_of(door.send("searchEntries", {"query": {"text": "pipe"}, "format": "toon"}))

    assert toon.head["mode"] == door("searchEntries", query={"text": "pipe"})["mode"]
    scores = [float(row["score"]) for row in toon.memories]
    assert scores == sorted(scores, reverse=True)
    assert toon.memories[0]["snippet"] == "rule"


def test_relations_and_paths_follow_as_tables_of_their_own(door: Door) -> None:
    request = {"id": "rule", "to": "note", "format": "toon"}

    toon = rows_of(door.send("relatedEntries", request))

    assert [row["hops"] for row in toon.memories] == ["0", "1"]
    assert toon.tables["edges"].rows == [
        {"sourceId": "projA:rule", "targetId": "projA:note", "type": "ref", "weight": "0.5"}
    ]
    assert toon.tables["paths"].rows == [{"ids": "projA:rule,projA:note"}]


def test_a_cold_start_names_the_list_of_each_row(door: Door) -> None:
    toon = rows_of(door.send("coldStart", {"format": "toonCompact"}))

    lists = {row["id"].removeprefix("projA:"): row["list"] for row in toon.memories}
    assert lists == {"note": "pinned", "rule": "canonical", "todo": "openTasks"}


def budgeted(command: str, form: str, budget: int) -> dict[str, Any]:
    if command == "searchEntries":
        return {"query": {"text": "fact", "maxResults": 60, "maxTokens": budget}, "format": form}
    given = {"id": "e00", "direction": "out"} if command == "relatedEntries" else {}
    return {**given, "maxTokens": budget, "format": form}


@pytest.mark.parametrize("form", ["json", *FORMS])
@pytest.mark.parametrize("command", REQUESTS)
def test_what_is_sent_keeps_to_the_budget_and_uses_it(
    as_admin: Door, command: str, form: str
) -> None:
    as_admin(
        "bulkImport",
        entries=[
            {
                "id": f"e{number:02}",
                "kind": "fact",
                "body": f"The fact of number {number}",
                "tags": ["größe", "b"],
                "curationTier": "canonical",
                "relations": [
                    {"type": "ref", "targetId": f"projA:e{other:02}"}
                    for other in ([] if number else range(1, 60))
                ],
            }
            for number in range(60)
        ],
    )

    for budget in (300, 800):
        answer = as_admin.send(command, budgeted(command, form, budget))

        assert answer.status == 200, answer.body
        cost = math.ceil(len(answer.body) / 4)
        assert 0.6 * budget < cost <= budget


def test_what_is_usual_is_an_empty_cell_of_the_compact_form_only(as_admin: Door) -> None:
    for local_id, fields in (
        ("usual", {}),
        ("other", {"curationTier": "curated", "retention": "mid", "priority": 8}),
    ):
        as_admin("upsertEntry", entry={"id": local_id, "kind": "note", "body": "text", **fields})

    def cells(form: str, local_id: str) -> list[str]:
        rows = rows_of(as_admin.send("listEntries", {"format": form})).memories
        (row,) = (one for one in rows if one["id"] == f"projA:{local_id}")
        return [row[name] for name in USUAL]

    assert cells("toonCompact", "usual") == ["", "", ""]
    assert cells("toon", "usual") == ["provisional", "long", "5"]
    assert cells("toonCompact", "other") == cells("toon", "other") == ["curated", "mid", "8"]


def fields_of(row: dict[str, str]) -> dict[str, Any]:
    """Return the fields of a compact row as JSON spells them."""
    fields: dict[str, Any] = {name: row[name] or USUAL.get(name) for name in row}
    return {**fields, "priority": int(fields["priority"]), "tags": row["tags"].split(",")}


@pytest.mark.parametrize(("ids", "bound"), [("made", 0.5), ("given", 0.4)])
def test_a_compact_list_of_20_has_half_the_bytes_of_the_same_fields_as_json(
    as_writer: Door, ids: str, bound: float
) -> None:
    entries = [
        {
            "kind": "decision",
            "tags": ["search", "index"],
            "body": {"decision": f"Rebuild index {number} at night"},
            **({"id": f"index-{number}"} if ids == "given" else {}),
        }
        for number in range(20)
    ]
    as_writer("bulkImport", entries=entries)

    answer = as_writer.send("listEntries", {"format": "toonCompact"})

    rows = rows_of(answer).memories
    same = msgspec.json.encode({"items": list(map(fields_of, rows)), "nextCursor": None})
    assert len(rows) == 20
    assert len(answer.body) <= bound * len(same)


def test_a_compact_search_has_less_than_a_quarter_of_the_json_answer(as_writer: Door) -> None:
    text = "Rebuild index {} at night, when nobody searches"
    entries = [
        {"kind": "decision", "tags": ["search", "index"], "body": text.format(number)}
        for number in range(20)
    ]
    as_writer("bulkImport", entries=entries)
    request = {"query": {"text": "index at night", "maxResults": 20}}

    rows = as_writer.send("searchEntries", {**request, "format": "toonCompact"}).body

    assert len(rows) < 0.25 * len(as_writer.send("searchEntries", request).body)
