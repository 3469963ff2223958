"""`memoryctl import` of the files of other servers."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Terminal


def write(path: Path, *values: Any) -> str:
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values), encoding="utf-8")
    return str(path)


@pytest.fixture
def graph(tmp_path: Path) -> str:
    return write(
        tmp_path / "memory.jsonl",
        {"type": "entity", "name": "Jo Hansen", "entityType": "person", "observations": ["a"]},
        {"type": "entity", "name": "ACME", "entityType": "firm", "observations": []},
        {"type": "relation", "from": "Jo Hansen", "to": "ACME", "relationType": "works at"},
    )


def test_a_file_of_the_memory_server_is_stored_once(files: Terminal, graph: str) -> None:
    words = ("import", graph, "--format", "serverMemory", "--json")

    tried = files.ok(*words, "--dry-run").json
    first = files.ok(*words).json
    again = files.ok(*words).json

    assert (tried["imported"], first["imported"], again["imported"]) == (2, 2, 0)
    assert (first["known"], again["known"]) == (0, 2)
    read = files.api("default", "read_graph")
    assert [one["name"] for one in read["entities"]] == ["Jo Hansen", "ACME"]
    assert read["relations"] == [{"from": "Jo Hansen", "to": "ACME", "relationType": "works at"}]


def test_an_export_of_ai_memory_keeps_its_ids_and_links(files: Terminal, tmp_path: Path) -> None:
    memories = [
        {"id": name, "title": name, "content": "x", "metadata": {"agent_id": "alice"}}
        for name in ("one", "two")
    ]
    links = [{"source_id": "one", "target_id": "two", "relation": "supersedes"}]
    path = write(tmp_path / "export.json", {"memories": memories, "links": links})

    files.ok("import", path, "--format", "aiMemory")

    found = files.api("default", "memory_get", id="one")
    assert found["metadata"]["imported_from_agent_id"] == "alice"
    assert found["links"][0]["relation"] == "supersedes"


def test_a_trusted_source_keeps_its_authors(files: Terminal, tmp_path: Path) -> None:
    entry = {"id": "old:a", "kind": "note", "title": "A", "body": {"text": "a"}, "agentId": "bob"}
    path = write(tmp_path / "entries.jsonl", entry)

    files.ok("import", path, "--format", "jsonl", "--trust-source")

    assert files.ok("get", "default:a", "--json").json["entry"]["agentId"] == "bob"


def test_broken_lines_are_named_and_the_rest_is_stored(files: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "entries.jsonl"
    good = json.dumps({"id": "a", "kind": "note", "body": "good"})
    bad = json.dumps({"id": "b", "kind": "ghost", "body": "bad"})
    path.write_text(f"{{\n{bad}\n{good}\n", encoding="utf-8")

    done = files("import", str(path), "--format", "jsonl", "--json")

    assert done.code == 2
    assert done.json["imported"] == 1
    assert [one.partition(":")[0] for one in done.json["problems"]] == ["line 1", "line 2"]


def test_a_file_that_is_not_there_is_named(files: Terminal, tmp_path: Path) -> None:
    done = files("import", str(tmp_path / "nothing"), "--format", "jsonl")

    assert done.code == 2
    assert "is no file" in done.err


def test_a_file_of_another_format_is_refused(files: Terminal, tmp_path: Path) -> None:
    done = files("import", write(tmp_path / "x.json", {"a": 1}), "--format", "aiMemory")

    assert done.code == 2
    assert "holds nothing of the format aiMemory" in done.err


def test_notes_of_another_program_keep_their_front_matter(files: Terminal, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "sub").mkdir(parents=True)
    (notes / "sub" / "coffee.md").write_text(
        "---\ntitle: Coffee\ntype: note\npermalink: sub/coffee\ntags:\n- drinks\n- '#hot'\n"
        "source: 'web'\n---\n# Coffee\n\n- [method] pour over\n",
        encoding="utf-8",
    )
    (notes / "plain.md").write_text("# A heading\n\nno front matter\n", encoding="utf-8")
    (notes / "bad.md").write_bytes(b"\xff\xfe")
    (notes / "link.md").symlink_to("/etc/hostname")
    words = ("import", str(notes), "--format", "markdown", "--json")

    done = files(*words)
    again = files(*words)

    assert (done.code, done.json["imported"], again.json["known"]) == (2, 2, 2)
    assert [one.partition(":")[0] for one in done.json["problems"]] == ["bad.md"]
    (found,) = files.ok("list", "--tag", "hot", "--include", "full", "--json").json["items"]
    assert (found["title"], found["source"]) == ("Coffee", {"type": "web"})
    assert found["metadata"] == {"permalink": "sub/coffee"}
    assert found["body"]["text"].endswith("pour over")


def test_the_columns_of_a_table_are_mapped_and_the_rest_is_metadata(
    files: Terminal, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(
        'Name,What,tags,Town\nOne,"a, b",x; y,Bern\nTwo,c,,\nThree,d\n', encoding="utf-8"
    )
    words = ("import", str(path), "--format", "csv", "--json")

    unmapped = files(*words)
    done = files(*words, "--map", "title=Name", "--map", "text=What")
    again = files(*words, "--map", "title=Name", "--map", "text=What")

    assert unmapped.code == 2
    assert "--map text=COLUMN" in unmapped.err
    assert (done.code, done.json["imported"], again.json["known"]) == (2, 2, 2)
    assert done.json["problems"][0].startswith("line 4")
    (one,) = files.ok("list", "--tag", "x", "--include", "full", "--json").json["items"]
    assert (one["title"], one["body"], one["tags"]) == ("One", {"text": "a, b"}, ["x", "y"])
    assert one["metadata"] == {"Town": "Bern"}


def test_a_broken_json_export_names_the_place_and_keeps_the_rest(
    files: Terminal, tmp_path: Path
) -> None:
    path = tmp_path / "export.json"
    good = json.dumps({"id": "a", "kind": "note", "body": "good"})
    path.write_text(f'{{"entries": [{good}, {{"id": }}, {{"id": "c", "ki', encoding="utf-8")

    done = files("import", str(path), "--format", "json", "--json")

    assert (done.code, done.json["imported"], done.json["problemCount"]) == (2, 1, 2)
