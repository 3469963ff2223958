"""`memoryctl import` of files as other programs write them, whole and broken ones."""

from pathlib import Path
from typing import Any

import pytest

from qms.features.transfer.importers.detect import guess_format
from tests.cli.conftest import Terminal

SAMPLES = Path(__file__).parents[1] / "data" / "import"

WHOLE = [
    ("jsonl/entries.jsonl", "jsonl", 4),
    ("json/export.json", "json", 2),
    ("ai-memory/export.json", "aiMemory", 3),
    ("server-memory/memory.jsonl", "serverMemory", 4),
]
BROKEN = [
    (
        "jsonl/broken.jsonl",
        "jsonl",
        1,
        ["line 2", "line 3", "line 5", "line 6", "line 7", "line 4"],
    ),
    ("json/broken.json", "json", 1, ["byte 202", "byte 302"]),
    (
        "ai-memory/broken.json",
        "aiMemory",
        1,
        ["byte 310", "byte 431", "byte 479", "byte 552", "byte 645"],
    ),
    ("server-memory/broken.jsonl", "serverMemory", 1, [f"line {n}" for n in range(2, 9)]),
    ("basic-memory", "markdown", 5, ["notes/Half Merged.md"]),
    ("vault", "markdown", 2, ["Latin 1.md", "Empty.md"]),
    ("csv/broken.csv", "csv", 1, ["line 3", "line 4", "line 5", "line 7", "line 6"]),
]


def load(ctl: Terminal, name: str, form: str, *words: str) -> Any:
    """Import a sample, whatever comes of it, and return the report."""
    return ctl("import", str(SAMPLES / name), "--format", form, "--json", *words).json


def by_title(ctl: Terminal) -> dict[str, Any]:
    """Return every entry of the project."""
    found = ctl.ok("list", "--all", "--include", "full", "--json").json["items"]
    return {entry["title"]: entry for entry in found}


@pytest.mark.parametrize(("name", "form"), [case[:2] for case in (*WHOLE, *BROKEN)])
def test_the_format_of_a_sample_is_known_without_being_named(name: str, form: str) -> None:
    assert guess_format(SAMPLES / name) == form


def test_a_file_is_imported_without_naming_its_format(files: Terminal) -> None:
    answer = files.ok("import", str(SAMPLES / "server-memory/memory.jsonl"), "--json").json

    assert answer["imported"] == 4


def test_a_format_that_cannot_be_told_has_to_be_named(files: Terminal, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A", encoding="utf-8")
    assert guess_format(tmp_path) == "markdown"
    (tmp_path / "b.csv").write_text("title\nB", encoding="utf-8")

    for path, why in (
        (tmp_path, "several formats"),
        (tmp_path / "notes.txt", "cannot be detected"),
    ):
        (tmp_path / "notes.txt").touch()
        refused = files("import", str(path))
        assert refused.code == 2
        assert why in refused.err
        assert "format" in refused.err


@pytest.mark.parametrize(("name", "form", "count"), WHOLE)
def test_a_whole_file_is_stored_once_and_nothing_of_it_twice(
    files: Terminal, name: str, form: str, count: int
) -> None:
    tried = load(files, name, form, "--dry-run")
    first = load(files, name, form)
    again = load(files, name, form)

    assert [one["imported"] for one in (tried, first, again)] == [count, count, 0]
    assert [one["problems"] for one in (tried, first, again)] == [[], [], []]
    assert again["known"] == count
    assert len(by_title(files)) == count


@pytest.mark.parametrize(("name", "form", "count", "places"), BROKEN)
def test_what_is_broken_is_named_and_costs_nothing_else(
    files: Terminal, name: str, form: str, count: int, places: list[str]
) -> None:
    done = files("import", str(SAMPLES / name), "--format", form, "--json")

    assert done.code == 2
    assert done.json["imported"] == len(by_title(files)) == count
    assert [problem.partition(":")[0] for problem in done.json["problems"]] == places


@pytest.mark.parametrize(("name", "form", "count", "places"), BROKEN)
def test_with_all_or_nothing_a_broken_file_stores_nothing(
    files: Terminal, name: str, form: str, count: int, places: list[str]
) -> None:
    done = files("import", str(SAMPLES / name), "--format", form, "--json", "--all-or-nothing")

    assert done.code == 2
    assert (done.json["dryRun"], done.json["imported"]) == (True, count)
    assert len(done.json["problems"]) == len(places)
    assert by_title(files) == {}


def test_a_whole_file_is_stored_with_all_or_nothing_too(files: Terminal) -> None:
    done = load(files, "json/export.json", "json", "--all-or-nothing")

    assert (done["dryRun"], done["imported"], len(by_title(files))) == (False, 2, 2)


def test_unknown_fields_and_relations_of_entries_come_along(files: Terminal) -> None:
    load(files, "jsonl/entries.jsonl", "jsonl")

    held = by_title(files)

    assert held["Deploying the shop"]["teamField"] == {"reviewedBy": ["bob"]}
    (relation,) = held["Prices are kept in cents"]["relations"]
    assert relation["targetId"] == held["Prices are floats"]["id"] == "default:prices-as-floats"
    assert held["Zürich 日本 🦊"]["body"]["text"].startswith("A line with \u2028 inside")


def test_memories_of_ai_memory_keep_links_ends_and_namespaces(files: Terminal) -> None:
    load(files, "ai-memory/export.json", "aiMemory")

    held = by_title(files)

    assert held["Gateway port"]["relations"][0]["type"] == "supersedes"
    assert held["Gateway port"]["namespace"] == "gateway"
    assert held["Gateway certificate"]["ttlUtc"] == "2099-03-01T00:00:00.000Z"
    assert held["Gateway certificate"]["metadata"] == {"ticket": "OPS-118"}


def test_a_graph_of_the_memory_server_keeps_what_only_relations_name(files: Terminal) -> None:
    load(files, "server-memory/memory.jsonl", "serverMemory")

    held = by_title(files)

    assert held["Budget 2026"]["metadata"] == {"placeholder": True}
    assert held["John_Smith"]["relations"][0]["type"] == "works_at"


def test_notes_of_basic_memory_keep_relations_tags_and_categories(files: Terminal) -> None:
    load(files, "basic-memory", "markdown")

    held = by_title(files)
    titles = {entry["id"]: title for title, entry in held.items()}
    note = held["Coffee Brewing Methods"]

    assert [(one["type"], titles[one["targetId"]]) for one in note["relations"]] == [
        ("mentions", "Ada Lovelace"),
        ("relatedTo", "Coffee Bean Origins"),
        ("requires", "Proper Grinding"),
        (note["relations"][3]["type"], "Chocolate"),
    ]
    assert note["relations"][3]["metadata"] == {"relationType": "pairs well with"}
    assert note["tags"] == ["coffee", "brewing", "flavor", "temperature"]
    assert note["keywords"] == ["method", "technique"]
    assert note["timestamps"]["createdUtc"] == "2025-03-10T09:15:00.000Z"
    (back,) = held["Coffee Bean Origins"]["relations"]
    assert (back["type"], back["targetId"]) == ("partOf", note["id"])


def test_notes_of_a_vault_find_each_other_by_path_and_alias(files: Terminal) -> None:
    load(files, "vault", "markdown")

    held = by_title(files)
    one, other = held["Reading list"], held["2024-05-01"]

    assert [link["targetId"] for link in one["relations"]] == [other["id"]]
    assert [link["targetId"] for link in other["relations"]] == [one["id"]]
    assert (one["metadata"]["rating"], one["tags"]) == (4, ["reading", "books"])
    assert one["metadata"]["summary"] == "What to read this winter"


def test_the_report_says_what_each_column_was_taken_for(files: Terminal) -> None:
    path = str(SAMPLES / "csv" / "bookmarks.csv")
    names = ("--map", "title=Name", "--map", "text=What it says")

    done = files.ok("import", path, "--format", "csv", "--json", *names)

    assert done.json["mapping"] == {
        "Name": "title",
        "What it says": "text",
        "tags": "tags",
        "Shelf": "metadata.Shelf",
        "priority": "priority",
    }
    assert "What it says was mapped to text" in done.err
    held = by_title(files)
    assert held["Journal design"]["body"]["text"].endswith("\nNever the other way.")
    assert held["=HYPERLINK"]["metadata"] == {"Shelf": "top"}


def test_what_has_the_title_of_another_is_stored_and_reported(files: Terminal) -> None:
    files.remember("x", "--title", "reading LIST")
    here = files.ok("list", "--json").json["items"][0]["id"]

    done = files("import", str(SAMPLES / "vault"), "--format", "markdown", "--json")

    (alike,) = done.json["alike"]
    assert (alike["place"], alike["like"]) == ("Reading list.md", here)
    assert "has the same title as" in done.err
    assert done.json["imported"] == 2
