"""The main text under another name, and keys that are not known, at every door for entries."""

from typing import Any

import msgspec
import pytest

from qms.memory.bodies import LIST_FIELDS, MAIN_FIELDS, Kind, main_text
from qms.memory.entry_aliases import MAX_NAMED_KEYS
from tests.conftest import EntryMaker
from tests.support.house import Door, House
from tests.support.mcp import McpClient

NAMES = [
    (kind, name) for kind in Kind for name in ("content", "text") if name not in MAIN_FIELDS[kind]
]
"""Each kind with the names under which its main text may be given."""


def taken(kind: Kind, name: str, place: str = "body") -> str:
    return f"{place}.{name} was taken as body.{MAIN_FIELDS[kind][0]}"


def body_of(kind: Kind, text: str) -> dict[str, Any]:
    main = MAIN_FIELDS[kind][0]
    return {main: [text] if main in LIST_FIELDS else text}


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_upsert_takes_the_text_of_each_kind_under_a_general_name(
    as_writer: Door, kind: Kind, name: str
) -> None:
    answer = as_writer("upsertEntry", entry={"kind": kind, "body": {name: "Said so"}})

    assert answer["warnings"] == [taken(kind, name)]
    stored = as_writer("getEntry", id=answer["id"])["entry"]
    assert (stored["body"], stored["title"]) == (body_of(kind, "Said so"), "Said so")


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("name", ["content", "text"])
def test_upsert_takes_a_text_beside_a_missing_body(as_writer: Door, kind: Kind, name: str) -> None:
    answer = as_writer("upsertEntry", entry={"kind": kind, name: "Said so"})

    assert answer["warnings"] == [taken(kind, name, "entry")]
    stored = as_writer("getEntry", id=answer["id"])["entry"]
    assert stored["body"] == body_of(kind, "Said so")
    assert name not in stored


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_a_patch_of_the_text_changes_the_main_text(as_writer: Door, kind: Kind, name: str) -> None:
    entry = {"id": "a", "kind": kind, "title": "T", "body": body_of(kind, "Before")}
    as_writer("upsertEntry", entry=entry)

    answer = as_writer("patchEntry", id="a", patch={"body": {name: "Afterwards"}})

    assert answer["warnings"] == [taken(kind, name)]
    assert answer["entry"]["body"] == body_of(kind, "Afterwards")


@pytest.mark.parametrize("name", ["content", "text"])
def test_a_patch_may_have_the_text_beside_a_missing_body(
    as_writer: Door, entry: EntryMaker, name: str
) -> None:
    as_writer("upsertEntry", entry=entry(id="a"))

    answer = as_writer("patchEntry", id="a", patch={name: "Afterwards"})

    assert answer["warnings"] == [taken(Kind.FACT, name, "entry")]
    assert answer["entry"]["body"] == {"statement": "Afterwards"}


@pytest.mark.parametrize(
    ("body", "name"),
    [({"summary": "x"}, "summary"), ({"txet": "x", "a": 1}, "txet"), ({"b": None}, "b")],
)
def test_a_patch_of_the_body_that_changes_nothing_that_is_read_is_refused(
    as_writer: Door, entry: EntryMaker, body: dict[str, Any], name: str
) -> None:
    as_writer("upsertEntry", entry=entry(id="a"))
    before = as_writer("getEntry", id="a")["version"]

    refused = as_writer.fails("patchEntry", id="a", patch={"body": body})

    assert (refused.code, refused.details["field"]) == ("invalidInput", f"body.{name}")
    assert "body.statement" in refused.message
    assert as_writer("getEntry", id="a")["version"] == before


def test_a_key_that_the_stored_body_has_is_patched_as_it_is(
    as_writer: Door, entry: EntryMaker
) -> None:
    body = {"statement": "S", "text": "Old", "mine": 1}
    as_writer("upsertEntry", entry=entry(id="a", body=body))

    answer = as_writer("patchEntry", id="a", patch={"body": {"text": "New", "mine": None}})

    assert answer["entry"]["body"] == {"statement": "S", "text": "New"}
    assert [one.partition(" ")[0] for one in answer["warnings"]] == ["body.text"]


def test_the_main_text_of_another_kind_is_taken_in_a_new_entry_only(as_writer: Door) -> None:
    given = {"id": "a", "kind": "note", "body": {"statement": "Said so"}}

    created = as_writer("upsertEntry", entry=given)
    refused = as_writer.fails("upsertEntry", entry=given)

    assert created["warnings"] == ["body.statement was taken as body.text"]
    assert as_writer("getEntry", id="a")["entry"]["body"] == {"text": "Said so"}
    assert refused.details["field"] == "body.text"


def test_two_texts_of_other_kinds_are_not_guessed_between(as_writer: Door) -> None:
    given = {"kind": "note", "body": {"statement": "This", "summary": "Or that"}}

    assert as_writer.fails("upsertEntry", entry=given).details["field"] == "body.text"


def test_a_main_text_that_is_given_stays_whatever_else_is_there(as_writer: Door) -> None:
    body = {"statement": "Main", "text": "Beside", "content": "Too"}

    answer = as_writer("upsertEntry", entry={"kind": "fact", "body": body})

    assert as_writer("getEntry", id=answer["id"])["entry"]["body"] == body
    assert [one.partition(" ")[0] for one in answer["warnings"]] == ["body.text", "body.content"]


def test_keys_that_are_not_known_are_kept_and_named(as_writer: Door, entry: EntryMaker) -> None:
    given = entry(id="a", colour="blue", epic_slug="e", body={"statement": "S", "Metric": []})

    answer = as_writer("upsertEntry", entry=given)

    assert answer["warnings"] == [
        "entry.colour is not a field of an entry: kept as it is",
        "entry.epic_slug is not a field of an entry: kept as it is; did you mean epicSlug?",
        "body.Metric is not a field of the body of a fact: kept as it is; did you mean metrics?",
    ]
    stored = as_writer("getEntry", id="a")["entry"]
    assert (stored["colour"], stored["epic_slug"], stored["body"]) == ("blue", "e", given["body"])
    again = as_writer("upsertEntry", entry={**stored, "title": "Other"})
    assert (again["updated"], again["warnings"]) == (True, [])


def test_many_unknown_keys_are_named_in_few_warnings(as_writer: Door, entry: EntryMaker) -> None:
    keys = {f"k{number}": number for number in range(900)}

    answer = as_writer("upsertEntry", entry=entry(**keys))

    assert len(answer["warnings"]) == MAX_NAMED_KEYS + 1


def test_a_patch_names_unknown_keys_unless_it_removes_them(
    as_writer: Door, entry: EntryMaker
) -> None:
    as_writer("upsertEntry", entry=entry(id="a", colour="blue"))

    removed = as_writer("patchEntry", id="a", patch={"colour": None})
    changed = as_writer("patchEntry", id="a", patch={"tag": "x", "body": {"justification": "y"}})

    assert "warnings" not in removed
    assert changed["warnings"] == [
        "entry.tag is not a field of an entry: kept as it is; did you mean tags?"
    ]


def test_an_import_says_once_what_is_true_of_many_entries(as_writer: Door) -> None:
    texts = [{"kind": "fact", "body": {"text": f"It is {number}"}} for number in range(3)]

    answer = as_writer("bulkImport", entries=["no entry", *texts, {"kind": "note", "body": "x"}])

    assert answer["imported"] == 4
    assert answer["warnings"] == [
        {
            "index": 1,
            "id": None,
            "code": "notice",
            "message": "body.text was taken as body.statement (and 2 other entries)",
        }
    ]
    stored = as_writer("listEntries", include="full", filter={"kinds": ["fact"]})["items"]
    assert {one["body"]["statement"] for one in stored} == {f"It is {n}" for n in range(3)}


@pytest.mark.parametrize(
    ("line", "body"),
    [
        ({"id": "projA:a", "kind": "fact", "body": {"text": "By hand"}}, {"statement": "By hand"}),
        ({"id": "a", "kind": "procedure", "content": "By hand"}, {"steps": ["By hand"]}),
        ({"kind": "note", "body": {"statement": "By hand"}}, {"text": "By hand"}),
    ],
)
def test_a_hand_written_line_is_completed_and_written_back(
    house: House, as_admin: Door, line: dict[str, Any], body: dict[str, Any]
) -> None:
    path = house.entries_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.encode(line) + b"\n")

    (listed,) = as_admin("listEntries", include="full")["items"]
    assert listed["body"] == body
    assert main_text(Kind(listed["kind"]), listed["body"]) == "By hand"
    as_admin("upsertEntry", entry={"kind": "note", "body": "Another"})
    house.store().fold()
    written = msgspec.json.decode(path.read_bytes().splitlines()[0])
    assert written["body"] == body


def test_a_hand_written_line_with_an_id_needs_the_text_of_its_own_kind(
    house: House, as_admin: Door
) -> None:
    path = house.entries_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    line = {"id": "projA:a", "kind": "note", "body": {"statement": "By hand"}}
    path.write_bytes(msgspec.json.encode(line) + b"\n")

    assert as_admin("listEntries")["items"] == []
    assert len(as_admin("listProblems")["items"]) == 1


def test_a_tool_tells_warnings_in_its_structured_content(house: House) -> None:
    client = McpClient(house.client, "writer")
    given = {"entry": {"kind": "fact", "body": {"text": "Said so"}}}

    result = client.result("tools/call", {"name": "upsertEntry", "arguments": given})

    assert result["structuredContent"]["warnings"] == [taken(Kind.FACT, "text")]
