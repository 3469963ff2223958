"""Import and export over `/admin`: parts of a file, and files on their way to `bulkImport`."""

import json
from typing import Any

import pytest

from tests.support.console import Console
from tests.support.house import Door, House

ENTRIES = 450


@pytest.fixture
def console(house: House) -> Console:
    return Console(house.client)


def fill(door: Door, number: int = ENTRIES) -> None:
    entries = [
        {"id": f"e{one:04}", "kind": "note", "title": f"Note {one}", "body": f"Text {one}"}
        for one in range(number)
    ]
    assert door("bulkImport", entries=entries)["imported"] == number


def exported(console: Console, query: str = "") -> tuple[str, int]:
    """Return the whole of an export, and in how many parts it came."""
    texts: list[str] = []
    cursor = ""
    while True:
        part = console("GET", f"/export/projA?{query}{cursor}")
        texts.append(part["text"])
        if part["nextCursor"] is None:
            return "".join(texts), len(texts)
        cursor = f"&cursor={part['nextCursor']}"


def reading(console: Console, content: str, form: str, **given: Any) -> Any:
    return console("POST", "/import/projA", {"format": form, "content": content, **given})


def test_the_parts_of_an_export_are_one_file(as_admin: Door, console: Console) -> None:
    fill(as_admin)

    text, parts = exported(console, "format=json")
    lines, _ = exported(console, "format=jsonl")
    table, _ = exported(console, "format=csv")

    assert parts == 3
    assert [one["title"] for one in json.loads(text)["entries"]][:2] == ["Note 0", "Note 1"]
    assert len(json.loads(text)["entries"]) == len(lines.splitlines()) == ENTRIES
    assert len(table.splitlines()) == ENTRIES + 1
    assert console("GET", "/export/projA")["total"] == ENTRIES


def test_an_empty_project_gives_a_valid_file(console: Console) -> None:
    text, parts = exported(console, "format=json")

    assert (json.loads(text), parts) == ({"entries": []}, 1)


def test_an_export_holds_what_the_filter_lets_through(as_admin: Door, console: Console) -> None:
    fill(as_admin, 3)
    as_admin("upsertEntry", entry={"kind": "fact", "body": "Only this", "tags": ["x"]})

    text, _ = exported(console, "format=jsonl&kind=fact&tag=x")

    (line,) = text.splitlines()
    assert json.loads(line)["body"] == {"statement": "Only this"}


@pytest.mark.parametrize("form", ["jsonl", "json", "csv"])
def test_what_was_exported_is_known_again(as_admin: Door, console: Console, form: str) -> None:
    fill(as_admin, 3)
    text, _ = exported(console, f"format={form}")

    found = reading(console, text, form)

    assert [item["isKnown"] for item in found["items"]] == [True] * 3
    assert found["broken"] == []
    as_admin("forgetEntries", ids=["e0000", "e0001", "e0002"])
    fresh = reading(console, text, form)["items"]
    assert [item["isKnown"] for item in fresh] == [False] * 3
    stored = as_admin("bulkImport", entries=[item["entry"] for item in fresh])
    assert (stored["imported"], stored["errors"]) == (3, [])


def test_reading_a_file_stores_nothing_and_names_what_is_broken(
    as_admin: Door, console: Console
) -> None:
    text = '{"kind":"note","body":"good"}\nnot JSON\n'

    found = reading(console, text, "jsonl")

    assert [item["place"] for item in found["items"]] == ["line 1"]
    assert [item["place"] for item in found["broken"]] == ["line 2"]
    assert as_admin("listEntries")["items"] == []


def test_a_markdown_file_is_a_memory_with_the_name_of_the_file(console: Console) -> None:
    text = "---\ntags: [a, b]\n---\n\nHow we ship"

    (item,) = reading(console, text, "markdown", name="shipping.md")["items"]

    assert item["place"] == "shipping.md"
    assert (item["entry"]["title"], item["entry"]["tags"]) == ("shipping", ["a", "b"])


def test_the_author_that_a_file_names_is_kept_only_when_it_is_trusted(console: Console) -> None:
    line = '{"kind":"note","body":"x","agentId":"ai:other"}\n'

    (plain,) = reading(console, line, "jsonl")["items"]
    (trusted,) = reading(console, line, "jsonl", trustSource=True)["items"]

    assert "agentId" not in plain["entry"]
    assert trusted["entry"]["agentId"] == "ai:other"


def test_a_file_may_be_larger_than_other_requests(console: Console) -> None:
    line = json.dumps({"kind": "note", "body": "x" * 50_000}) + "\n"

    assert len(reading(console, line * 60, "jsonl")["items"]) == 60


def test_a_closed_project_has_nothing_to_export_or_import(house: House) -> None:
    reader = Console(house.client, "reader")

    assert reader.fails("GET", "/export/closed").status == 404
    assert reader.fails("GET", "/export/absent").status == 404
    given = {"format": "jsonl", "content": ""}
    assert reader.fails("POST", "/import/closed", given).status == 404


@pytest.mark.attack("85")
@pytest.mark.parametrize(
    ("limits", "limit"),
    [({"importRows": 100}, "importRows"), ({"importBytes": 2_000}, "importBytes")],
)
def test_a_file_beyond_a_limit_of_imports_is_refused(
    house: House, console: Console, limits: dict[str, int], limit: str
) -> None:
    house.set_limits(**limits)
    content = "text,b\n" + "a,b\n" * 101

    refusal = console.fails("POST", "/import/projA", {"format": "csv", "content": content})

    assert (refusal.status, refusal.code) == (400, "invalidInput")
    assert refusal.details["limit"] == limit
    assert len(reading(console, "text\na\n", "csv")["items"]) == 1


@pytest.mark.attack("8")
def test_reading_an_import_is_for_writers(house: House) -> None:
    content = {"format": "csv", "content": "text\na\n"}

    refusal = Console(house.client, "reader").fails("POST", "/import/projA", content)

    assert (refusal.status, refusal.code) == (403, "notAllowed")
    for user in ("writer", "curator", "admin"):
        assert len(Console(house.client, user)("POST", "/import/projA", content)["items"]) == 1


@pytest.mark.attack("8")
def test_a_dry_run_of_an_import_is_for_writers(house: House) -> None:
    entries = [{"kind": "note", "body": "a"}]

    refusal = house.door("reader").fails("bulkImport", entries=entries, dryRun=True)

    assert (refusal.status, refusal.code) == (403, "notAllowed")
