"""Every list and search answer as rows of text, read back against the same answer as JSON."""

import math
from typing import Any

import msgspec
import pytest

from qms.app.table import TABLE
from qms.cli.demo import memories
from qms.commands.schemas import has_formats
from tests.support.asgi import Answer
from tests.support.house import Door, House
from tests.support.toon import Toon, read_toon

FORMS = ["toon", "toonCompact"]
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
        assert {name: row[name] for name in shown} == shown


def test_the_full_form_shows_more_columns_than_the_compact_one(door: Door) -> None:
    full, compact = (rows_of(door.send("listEntries", {"format": form})) for form in FORMS)

    assert compact.tables["memories"].columns == [
        *("id", "kind", "title", "tags", "namespace", "priority", "curationTier", "retention"),
        *("confidence", "pinned"),
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
    compact = rows_of(door.send("relatedEntries", {**request, "format": "toonCompact"}))
    assert compact.tables["edges"].rows == toon.tables["edges"].rows
    assert compact.tables["paths"].rows == [{"ids": "rule,note"}]


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


def test_what_is_usual_is_said_once_and_left_out_of_compact_rows(as_admin: Door) -> None:
    unusual = {"curationTier": "curated", "retention": "mid", "confidence": 0.4, "priority": 8}
    for local_id, fields in (("usual", {}), ("other", unusual), ("last", {"pinned": True})):
        as_admin("upsertEntry", entry={"id": local_id, "kind": "note", "body": "text", **fields})

    answer = as_admin.send("listEntries", {"format": "toonCompact", "sort": "created"})

    header, *rows = answer.body.decode().splitlines()[1:]
    assert "priority=5|curationTier=provisional|retention=long|confidence=1.0|pinned=0" in header
    assert sorted(rows) == [
        *("last|note|text|||||||1", "other|note|text|||8|curated|mid|0.4", "usual|note|text"),
    ]
    first = next(row for row in rows_of(answer).memories if row["id"] == "projA:usual")
    assert [first[name] for name in unusual] == ["provisional", "long", "1.0", "5"]
    assert first["pinned"] == "0"


def test_made_ids_are_short_in_compact_rows_and_understood_in_requests(as_writer: Door) -> None:
    target = as_writer("upsertEntry", entry={"kind": "note", "body": "one"})["id"]
    text = as_writer.send("listEntries", {"format": "toonCompact"}).body.decode()
    short = text.splitlines()[2].partition("|")[0]

    assert len(short) == 23
    for spelled in (short, f"projA:{short}"):
        assert as_writer("getEntry", id=spelled)["entry"]["id"] == target
    relation = {"type": "ref", "targetId": f"projA:{short}"}
    source = as_writer(
        "upsertEntry", entry={"kind": "note", "body": "two", "relations": [relation]}
    )
    as_writer("patchEntry", id=source["id"], patch={"relations": [{**relation, "type": "answers"}]})
    [link] = as_writer("getLinks", id=short)["links"]
    assert (link["targetId"], link["type"]) == (target, "answers")
    assert as_writer("upsertEntry", entry={"id": short, "kind": "note", "body": "new"})["updated"]


def json_value(name: str, cell: str) -> Any:
    """Return a cell of a compact row as JSON spells it."""
    match name:
        case "priority" | "confidence":
            return msgspec.json.decode(cell)
        case "pinned":
            return cell == "1"
        case "tags":
            return cell.split(",") if cell else []
        case _:
            return cell or None


def share_of_json(answer: Answer) -> float:
    """Return the size of 20 compact rows beside that of the same fields as JSON."""
    toon = rows_of(answer)
    assert len(toon.memories) == 20
    items = [{name: json_value(name, cell) for name, cell in row.items()} for row in toon.memories]
    same = msgspec.json.encode({"items": items, "nextCursor": toon.head.get("nextCursor")})
    return len(answer.body) / len(same)


@pytest.mark.parametrize("ids", ["made", "given"])
def test_a_compact_list_of_20_has_at_most_40_percent_of_the_same_fields_as_json(
    as_writer: Door, ids: str
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

    assert share_of_json(as_writer.send("listEntries", {"format": "toonCompact"})) <= 0.36


@pytest.mark.parametrize("ids", ["made", "given"])
@pytest.mark.parametrize("product", ["atlas", "pelican"])
def test_any_20_entries_of_the_demonstration_have_at_most_40_percent(
    house: House, as_admin: Door, product: str, ids: str
) -> None:
    for entry in memories(house.clock())[product]:
        given = {"id": entry["id"].partition(":")[2]} if ids == "given" else {}
        kept = {name: entry[name] for name in entry if name not in ("id", "relations")}
        as_admin("upsertEntry", entry={**kept, **given})
    request: dict[str, Any] = {"format": "toonCompact", "page": {"size": 20}, "sort": "created"}

    for _ in range(5):
        answer = as_admin.send("listEntries", request)
        cursor = rows_of(answer).head["nextCursor"]
        assert share_of_json(answer) <= 0.40
        request["page"] = {"size": 20, "cursor": cursor}


@pytest.mark.parametrize("form", FORMS)
def test_links_archive_pairs_and_contradictions_read_back_from_rows(
    house: House, as_curator: Door, form: str
) -> None:
    entries = [
        {"kind": "fact", "title": "Port | one", "body": f"The staging port is {port}."}
        for port in (5433, 5434)
    ]
    first, second = (as_curator("upsertEntry", entry=one)["id"] for one in entries)
    gone = as_curator("upsertEntry", entry={"kind": "note", "body": "gone"})["id"]
    as_curator("deleteEntry", id=gone)
    as_curator("linkEntries", sourceId=first, targetId=second)
    as_curator("searchEntries", query={"text": "port"})
    while house.indexer.work() == 0.0:
        pass  # until every vector is there

    for command, table, request in (
        ("getLinks", "links", {"id": first}),
        ("listArchive", "archived", {}),
        ("listContradictions", "contradictions", {}),
        ("findDuplicates", "pairs", {"threshold": 0.5}),
    ):
        toon = rows_of(as_curator.send(command, {**request, "format": form}))
        [items] = [one for one in as_curator(command, **request).values() if isinstance(one, list)]
        shown = [{name: as_cell(value) for name, value in item.items()} for item in items]
        assert shown
        told = [
            {name: cell for name, cell in row.items() if cell} for row in toon.tables[table].rows
        ]
        assert told == shown
        assert toon.head["count"] == str(len(shown))


def test_every_list_and_search_that_has_a_format_has_a_budget() -> None:
    others = {"getUsageDoc", "memory_recall", "memory_search", "memory_list"}

    for row in TABLE:
        names = {field.encode_name for field in msgspec.structs.fields(row.request)}
        if has_formats(row) and row.name not in others:
            assert "maxTokens" in names or row.name == "searchEntries", row.name


@pytest.mark.parametrize("form", ["json", *FORMS])
def test_links_pairs_and_contradictions_keep_to_a_budget(
    house: House, as_curator: Door, form: str
) -> None:
    ids = [
        as_curator("upsertEntry", entry={"kind": "fact", "body": f"The staging port is {port}."})[
            "id"
        ]
        for port in range(5430, 5442)
    ]
    for other in ids[1:]:
        as_curator("linkEntries", sourceId=ids[0], targetId=other)
    as_curator("searchEntries", query={"text": "port"})
    while house.indexer.work() == 0.0:
        pass  # until every vector is there

    for command, request in (
        ("getLinks", {"id": ids[0]}),
        ("listContradictions", {}),
        ("findDuplicates", {"threshold": 0.5}),
    ):
        whole = as_curator.send(command, {**request, "format": form}).body
        budget = len(whole) // 4 // 3
        cut = as_curator.send(command, {**request, "format": form, "maxTokens": budget}).body
        assert 0 < len(cut) <= 4 * budget < len(whole)
        told = as_curator(command, **request, maxTokens=1)
        [items] = [value for value in told.values() if isinstance(value, list)]
        assert len(items) == 1
        assert told.get("omitted") or told["hasMore"]


def test_a_compact_search_has_a_third_of_the_json_answer_a_quarter_of_an_explained_one(
    as_writer: Door,
) -> None:
    text = "Rebuild index {} at night, when nobody searches"
    entries = [
        {"kind": "decision", "tags": ["search", "index"], "body": text.format(number)}
        for number in range(20)
    ]
    as_writer("bulkImport", entries=entries)
    request = {"query": {"text": "index at night", "maxResults": 20}}

    rows = as_writer.send("searchEntries", {**request, "format": "toonCompact"}).body

    explained = {"query": {**request["query"], "explain": True}}
    assert len(rows) < 0.25 * len(as_writer.send("searchEntries", explained).body)
    assert len(rows) < 0.34 * len(as_writer.send("searchEntries", request).body)
