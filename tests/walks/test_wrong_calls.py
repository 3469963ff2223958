"""Calls as models make them for the first time: understood, or corrected by following the error."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tests.support.house import Door, House
from tests.support.mcp import McpClient

TEXT = "The parser is released on Mondays"
ID = "projA:parser"

Call = tuple[str, dict[str, Any]]
Send = Callable[[str, dict[str, Any]], dict[str, Any]]

STORING: dict[str, Call] = {
    "flat text": ("upsertEntry", {"text": TEXT}),
    "content": ("upsertEntry", {"content": TEXT, "tags": "release, parser"}),
    "memory": ("upsertEntry", {"memory": TEXT}),
    "entry as a text": ("upsertEntry", {"entry": TEXT}),
    "entry as JSON in a text": (
        "upsertEntry",
        {"entry": msgspec.json.encode({"kind": "note", "body": {"text": TEXT}}).decode()},
    ),
    "missing kind": ("upsertEntry", {"entry": {"title": "Parser", "text": TEXT}}),
    "invented kind": ("upsertEntry", {"entry": {"kind": "memory", "body": {"text": TEXT}}}),
    "kind and key in another case": (
        "upsertEntry",
        {"Entry": {"kind": "Code_Snippet", "body": {"snippet": TEXT}}},
    ),
    "body of another kind": ("upsertEntry", {"entry": {"kind": "fact", "body": {"text": TEXT}}}),
    "comma tags and text numbers": (
        "upsertEntry",
        {"entry": {"kind": "note", "body": TEXT, "tags": "a, b", "priority": "8"}},
    ),
    "nulls and empty texts everywhere": (
        "remember",
        {
            "text": TEXT,
            "title": "",
            "kind": None,
            "tags": None,
            "id": "",
            "retention": "",
            "source": None,
        },
    ),
    "extra fields": ("remember", {"text": TEXT, "user_id": "u1", "importance": "high"}),
    "remember with content": ("remember", {"content": TEXT, "type": "Fact", "labels": "a"}),
    "remember with an invented kind": ("remember", {"text": TEXT, "kind": "preference"}),
    "remember with a source as a text": ("remember", {"text": TEXT, "source": "docs/release.md"}),
    "one object for a list": ("bulkImport", {"entries": {"kind": "note", "body": TEXT}}),
    "several errors": (
        "remember",
        {"txt": TEXT, "retention": "forever", "tags": 7, "kind": "rumour"},
    ),
}

READING: dict[str, Call] = {
    "query as a text": ("searchEntries", {"query": "parser released"}),
    "limit as a text number": ("searchEntries", {"query": {"text": "parser"}, "limit": "3"}),
    "flat search": ("searchEntries", {"text": "parser", "max_results": 3, "kind": "Note"}),
    "recall with an object": ("recall", {"query": {"text": "parser"}, "top_k": 3}),
    "recall with context": ("recall", {"context": "parser", "tags": ""}),
    "recall with a day": ("recall", {"query": "parser", "since": "2026-02-01"}),
    "misspelled field": ("recall", {"qury": "parser", "limit": 3}),
    "enum in another case": ("searchEntries", {"query": {"text": "parser"}, "include": "FULL"}),
    "a filter in another case": (
        "listEntries",
        {"filter": {"Kinds": "note", "updated_after": "2026-02-01"}, "limit": 5},
    ),
    "too many results": ("searchEntries", {"query": {"text": "parser", "maxResults": 5000}}),
    "bare id": ("getEntry", {"entryId": "parser"}),
    "address as id": ("getEntry", {"id": "memory://projA/projA:parser"}),
    "address without the project again": ("getEntry", {"id": "memory://projA/parser"}),
    "one id for a list": ("summaries", {"ids": "parser"}),
    "wrong name of an id": ("getEntry", {"identifier": "parser"}),
}


@pytest.fixture(params=["api", "mcp"])
def send(request: pytest.FixtureRequest, house: House) -> Send:
    """Call a command at one of the doors and return its answer or its error as an object."""

    def over_http(command: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = house.door("writer").send(command, arguments).json
        return answer

    def over_mcp(command: str, arguments: dict[str, Any]) -> dict[str, Any]:
        client = McpClient(house.client, "writer")
        result = client.result("tools/call", {"name": command, "arguments": arguments})
        answer: dict[str, Any] = result["structuredContent"]
        assert result["isError"] == ("error" in answer)
        return answer

    return over_http if request.param == "api" else over_mcp


def followed(send: Send, call: Call) -> tuple[dict[str, Any], bool]:
    """Return the answer, of a second call where the first fails, and whether it was told."""
    command, arguments = call
    answer = send(command, arguments)
    if "error" not in answer:
        return answer, bool(answer.get("warnings"))
    error = answer["error"]
    assert error["code"] == "invalidInput"
    assert all(one["field"] and one["reason"] for one in error["details"]["errors"])
    second = send(command, error["details"]["example"])
    assert "error" not in second, (error, second)
    return second, True


@pytest.mark.parametrize("name", STORING)
def test_a_wrong_call_stores_the_text_and_says_what_was_understood(
    house: House, send: Send, name: str
) -> None:
    answer, is_told = followed(send, STORING[name])

    assert is_told
    (record,) = house.store().view.records.values()
    assert TEXT in record.line.decode()
    assert answer.get("created", True)


@pytest.mark.parametrize("name", READING)
def test_a_wrong_call_finds_the_entry_and_says_what_was_understood(
    house: House, as_writer: Door, send: Send, name: str
) -> None:
    as_writer("remember", text=TEXT, id="parser")

    answer, is_told = followed(send, READING[name])

    assert is_told
    assert ID in msgspec.json.encode(answer).decode()


def test_all_problems_of_a_request_are_told_at_once(send: Send) -> None:
    error = send(*STORING["several errors"])["error"]

    fields = [one["field"] for one in error["details"]["errors"]]
    assert fields == ["txt", "text", "kind", "tags", "retention"]
    assert all(f"{field}: " in error["message"] for field in fields)
    assert "did you mean text?" in error["message"]
    assert "{text, title?, kind?, tags?, id?, retention?, source?}" in error["message"]
    assert error["details"]["example"] == {
        "text": TEXT,
        "kind": "fact",
        "tags": ["search"],
    }


def test_all_problems_of_an_entry_are_told_at_once(send: Send) -> None:
    entry = {"kind": "rumour", "body": {"text": TEXT}, "tags": [""], "priority": 70}

    error = send("upsertEntry", {"entry": entry})["error"]

    assert [one["field"] for one in error["details"]["errors"]] == ["kind", "priority"]
    assert error["details"]["example"]["entry"]["kind"] in error["message"]


def test_an_unknown_field_is_not_taken_for_the_id_of_a_memory(send: Send) -> None:
    error = send("remember", {"text": TEXT, "importance": "high"})["error"]

    assert error["details"]["example"] == {"text": TEXT}


@pytest.mark.parametrize("entry", [{"kind": "rumour"}, {"kind": "note", "body": {}}])
def test_the_example_for_an_entry_without_a_text_works(send: Send, entry: dict[str, Any]) -> None:
    error = send("upsertEntry", {"entry": entry})["error"]

    assert "error" not in send("upsertEntry", error["details"]["example"])


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("deleteEntry", {"entryId": "parser"}),
        ("deleteEntry", {"id": ""}),
        ("forgetEntries", {"query": "parser"}),
        ("forgetEntries", {"pattern": "parser", "tags": "a"}),
        ("forgetEntries", {"filter": {"tags": " , "}}),
    ],
)
def test_a_removal_guesses_nothing(
    house: House, as_writer: Door, command: str, arguments: dict[str, Any]
) -> None:
    as_writer("remember", text=TEXT, id="parser", tags=["a"])

    refused = as_writer.fails(command, **arguments)

    assert refused.code == "invalidInput"
    assert len(house.store().view.records) == 1
    assert refused.details["example"] != arguments


def test_a_long_request_is_not_repeated_in_its_error(as_writer: Door) -> None:
    refused = as_writer.fails("remember", text=TEXT * 1000, colour="blue")

    assert refused.details["example"]["text"] == "The index is rebuilt at night"
    assert len(msgspec.json.encode(refused)) < 2000


def test_rows_of_text_name_what_was_understood(as_writer: Door) -> None:
    as_writer("remember", text=TEXT)

    answer = as_writer.send("searchEntries", {"query": "parser", "format": "toonCompact"})

    assert "warnings:query: a text was read as" in answer.body.decode().splitlines()[0]
