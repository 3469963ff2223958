"""`null` and empty texts: left out and named in what is stored, refused in what is removed."""

from typing import Any

import msgspec
import pytest

from qms.app.table import ADMIN_TABLE, TABLE
from qms.commands.command import Command
from qms.commands.requests import Conditions
from qms.memory.empty_fields import fields_of
from tests.conftest import EntryMaker
from tests.support.console import Console
from tests.support.house import Door, House
from tests.support.mcp import McpClient
from tests.support.secrets_made_up import MADE_UP

NULLS = [
    "schemaVersion",
    "title",
    "tags",
    "keywords",
    "relations",
    "timestamps",
    "retention",
    "priority",
    "confidence",
    "curationTier",
    "isPermanent",
    "pinned",
    "metadata",
]
"""Fields of an entry whose type does not take null, besides the required ones."""

NATIVE_NULLS = ["id", "project", "source", "ttlUtc", "agentId", "namespace", "embedding"]
EMPTY_TEXTS = [*NULLS, *NATIVE_NULLS]


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        *((field, None, "null") for field in NULLS),
        *((field, "", "an empty text") for field in EMPTY_TEXTS),
    ],
)
def test_an_empty_field_of_an_entry_is_left_out_and_named(
    as_writer: Door, entry: EntryMaker, field: str, value: Any, shown: str
) -> None:
    given = entry()
    plain = as_writer("upsertEntry", entry=given)

    stored = as_writer("upsertEntry", entry={**given, "id": "a", field: value})

    assert stored["warnings"] == [f"{field}: {shown} counts as left out"]
    assert stored["id"] == (plain["id"] if field == "id" else "projA:a")
    one = as_writer("getEntry", id=stored["id"])["entry"]
    other = as_writer("getEntry", id=plain["id"])["entry"]
    assert {**one, "id": "", "title": ""} == {**other, "id": "", "title": ""}


@pytest.mark.parametrize("field", NATIVE_NULLS)
def test_null_of_a_field_that_takes_it_needs_no_warning(
    as_writer: Door, entry: EntryMaker, field: str
) -> None:
    assert as_writer("upsertEntry", entry=entry(**{field: None}))["warnings"] == []


def test_empty_fields_of_a_body_and_of_times_are_left_out(as_writer: Door) -> None:
    body = {"summary": "To do", "dueUtc": "", "assignee": "", "status": None}
    given = {"id": "a", "kind": "task", "body": body, "timestamps": {"createdUtc": ""}}

    answer = as_writer("upsertEntry", entry=given)

    assert answer["warnings"] == [
        "body.dueUtc: an empty text counts as left out",
        "timestamps.createdUtc: an empty text counts as left out",
    ]
    stored = as_writer("getEntry", id="a")["entry"]
    assert stored["body"] == {"summary": "To do", "assignee": "", "status": None}


def test_an_import_names_the_empty_fields_of_its_entries(
    as_writer: Door, entry: EntryMaker
) -> None:
    answer = as_writer("bulkImport", entries=[entry(), entry(namespace=""), entry(namespace="")])

    assert answer["imported"] == 3
    assert [(one["index"], one["code"], one["message"]) for one in answer["warnings"]] == [
        (1, "notice", "namespace: an empty text counts as left out (and 1 other entries)")
    ]


def test_null_in_a_patch_removes_the_field(as_writer: Door, entry: EntryMaker) -> None:
    as_writer("upsertEntry", entry=entry(id="a", tags=["x"], namespace="n"))

    answer = as_writer("patchEntry", id="a", patch={"tags": None, "namespace": None})

    assert "warnings" not in answer
    assert answer["entry"].keys().isdisjoint({"tags", "namespace"})


WRITES = frozenset(
    {
        "remember",
        "storeDocument",
        "upsertEntry",
        "patchEntry",
        "bulkImport",
        "consolidateEntries",
        "moveEntry",
        "syncApply",
        "memory_store",
        "memory_update",
        "memory_consolidate",
        "changeLine",
    }
)
"""Rows that may replace something, and whose request says what is stored, not what is removed."""


def test_every_row_that_removes_something_refuses_empty_conditions() -> None:
    destructive = [row for row in (*TABLE, *ADMIN_TABLE) if row.destructive]
    loose = {
        row.name
        for row in destructive
        if not issubclass(row.request, Conditions)
        and any(field.is_optional or field.parts for field in fields_of(row.request).values())
    }

    assert loose == WRITES


@pytest.mark.parametrize("row", [row for row in TABLE if issubclass(row.request, Conditions)])
def test_an_empty_text_as_a_condition_is_refused_in_every_row(house: House, row: Command) -> None:
    door = house.door("admin")
    needed = {
        field.encode_name: row.example.get(field.encode_name, "x")
        for field in msgspec.structs.fields(row.request)
        if field.required
    }

    for name, field in fields_of(row.request).items():
        if field.is_optional:
            refused = door.fails(row.name, **{**needed, name: ""})
            assert (refused.code, refused.details["field"]) == ("invalidInput", name)


@pytest.mark.parametrize(
    ("command", "request_", "field"),
    [
        ("forgetEntries", {"filter": {}}, "filter"),
        ("forgetEntries", {"ids": ["a"], "filter": {}}, "filter"),
        ("forgetEntries", {"filter": {"namespace": ""}}, "filter.namespace"),
        ("forgetEntries", {"filter": {"kinds": ["fact"], "namespace": None}}, "filter.namespace"),
        ("forgetEntries", {"filter": {"kinds": ["fact"], "anyTags": []}}, "filter.anyTags"),
        ("deleteEntry", {"id": "a", "ifVersion": ""}, "ifVersion"),
        ("gc", {"dryRun": None}, "dryRun"),
        ("memory_forget", {"namespace": "n", "pattern": ""}, "pattern"),
        ("memory_archive_purge", {"older_than_days": None}, "older_than_days"),
    ],
)
def test_an_empty_condition_removes_nothing(
    as_admin: Door, entry: EntryMaker, command: str, request_: dict[str, Any], field: str
) -> None:
    as_admin("upsertEntry", entry=entry(id="a", namespace="n"))

    refused = as_admin.fails(command, **request_)

    assert (refused.code, refused.details["field"]) == ("invalidInput", field)
    assert as_admin("getEntry", id="a")["entry"]["id"] == "projA:a"


def test_empty_optional_fields_of_a_request_are_left_out_and_named(
    as_writer: Door, entry: EntryMaker
) -> None:
    as_writer("upsertEntry", entry=entry(id="a"), ifVersion=None)
    answer = as_writer(
        "listEntries", page={"cursor": ""}, sort="", include=None, filter={"pinned": ""}
    )

    assert [one["id"] for one in answer["items"]] == ["projA:a"]
    assert answer["warnings"] == [
        "page.cursor: an empty text counts as left out",
        "sort: an empty text counts as left out",
        "include: null counts as left out",
        "filter.pinned: an empty text counts as left out",
    ]


def test_rows_of_text_have_warnings_in_their_first_line(as_writer: Door, entry: EntryMaker) -> None:
    as_writer("upsertEntry", entry=entry())
    plain = as_writer.send("listEntries", {"format": "toon"}).body.decode()
    told = as_writer.send("listEntries", {"format": "toon", "sort": ""}).body.decode()

    first, _, rows = plain.partition("\n")
    assert told == f"{first}|warnings:sort: an empty text counts as left out\n{rows}"


def test_an_import_says_of_its_request_what_was_left_out(
    as_writer: Door, entry: EntryMaker
) -> None:
    answer = as_writer("bulkImport", entries=[entry(namespace="")], dryRun=None, onError="")

    assert answer["imported"] == 1
    assert [(one["index"], one["message"].partition(":")[0]) for one in answer["warnings"]] == [
        (None, "dryRun"),
        (None, "onError"),
        (0, "namespace"),
    ]


def test_warnings_of_a_request_reach_the_structured_content_of_a_tool(
    house: House, entry: EntryMaker
) -> None:
    client = McpClient(house.client, "admin", query="?toolsets=core,aiMemory")
    given = {"title": "T", "content": "C", "namespace": "", "priority": None}

    stored = client.result("tools/call", {"name": "memory_store", "arguments": given})
    listed = client.result("tools/call", {"name": "listEntries", "arguments": {"sort": ""}})

    assert stored["structuredContent"]["namespace"] == "global"
    assert stored["structuredContent"]["warnings"] == [
        "namespace: an empty text counts as left out",
        "priority: null counts as left out",
    ]
    assert listed["structuredContent"]["warnings"] == ["sort: an empty text counts as left out"]
    assert listed["content"][0]["text"].count("counts as left out") == 1


def test_an_administration_command_names_empty_fields(house: House) -> None:
    console = Console(house.client)

    answer = console("POST", "/users", {"user": "jo", "tier": "reader", "ifVersion": ""})

    assert answer["warnings"] == ["ifVersion: an empty text counts as left out"]


def test_a_drop_in_tool_tells_the_warnings_of_a_change(as_admin: Door) -> None:
    stored = as_admin("memory_store", title="T", content="C")
    token = MADE_UP["a GitHub token"]

    answer = as_admin("memory_update", id=stored["id"], content=f"Use {token}", priority=None)

    assert [one.partition(":")[0] for one in answer["warnings"]] == ["priority", "body"]
