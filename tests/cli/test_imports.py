"""`memoryctl import` of the files of other servers."""

import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from qms.cli.import_run import BATCH_ENTRIES
from tests.cli.conftest import Terminal
from tests.support.cutting_proxy import CuttingProxy


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
    files.allow("core", "serverMemory")
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

    files.allow("core", "aiMemory")
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
    assert "is not a file or folder" in done.err


def test_the_numbers_of_the_report_add_up_and_refusals_are_grouped(
    ctl: Terminal, tmp_path: Path
) -> None:
    ctl.remember("There before", "--id", "old")
    lines = [
        '{"kind":"note","id":"a","body":{"text":"one"}}',
        '{"kind":"note","id":"a","body":{"text":"again"}}',
        '{"kind":"note","id":"old","body":{"text":"There before"}}',
        *(f'{{"kind":"song","id":"s{number}","body":{{"text":"x"}}}}' for number in range(7)),
        "no JSON",
    ]
    path = tmp_path / "mixed.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")

    done = ctl("import", str(path), "--json")

    report, said = done.json, done.err
    assert (report["imported"], report["known"], report["problemCount"]) == (1, 1, 9)
    assert report["found"] == 11
    assert sum(report["refused"].values()) == 9
    assert "11 memories read: 1 stored, 1 already existed, 9 refused" in said
    (songs,) = (line for line in said.splitlines() if "7 refused, kind: 'song'" in line)
    assert songs.endswith(": line 4, line 5, line 6, line 7, line 8, 2 more")
    assert "1 refused, id: a occurs twice in the file: line 2" in said


def test_a_file_of_another_format_is_refused(files: Terminal, tmp_path: Path) -> None:
    done = files("import", write(tmp_path / "x.json", {"a": 1}), "--format", "aiMemory")

    assert done.code == 2
    assert "contains nothing in the format aiMemory" in done.err


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


def pack(path: Path, **texts: str) -> str:
    """Make an archive of the kind that its name says."""
    data = {name: text.encode() for name, text in texts.items()}
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in data.items():
                packed.writestr(name, content)
        return str(path)
    with tarfile.open(path, "w:gz") as tar:
        for name, content in data.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return str(path)


@pytest.mark.parametrize("name", ["notes.zip", "notes.tar.gz", "notes.tgz"])
def test_an_archive_is_read_like_its_folder(files: Terminal, tmp_path: Path, name: str) -> None:
    texts = {"notes/b.md": "To [[a]]", "notes/a.md": "# A\n\nFirst", "picture.png": "no"}
    path = pack(tmp_path / name, **texts)

    done = files.ok("import", path, "--format", "markdown", "--json").json

    assert done["imported"] == 2
    (note,) = files.ok("search", "To", "--include", "full", "--json").json["results"][:1]
    assert note["entry"]["relations"][0]["type"] == "mentions"
    assert sorted(one.name for one in tmp_path.iterdir()) == [name, "root", "work"]


def test_a_place_in_an_archive_names_its_file(files: Terminal, tmp_path: Path) -> None:
    path = pack(
        tmp_path / "all.zip", **{"a.jsonl": '{"kind": "note", "body": "x"}\n', "b.jsonl": "{"}
    )

    done = files("import", path, "--format", "jsonl", "--json")

    assert (done.code, done.json["imported"]) == (2, 1)
    assert done.json["problems"][0].startswith("b.jsonl: line 1")


@pytest.mark.attack(33)
@pytest.mark.parametrize("name", ["bad.zip", "bad.tar.gz"])
def test_an_archive_that_climbs_out_stores_nothing(
    files: Terminal, tmp_path: Path, name: str
) -> None:
    path = pack(tmp_path / name, **{"a.md": "good", "../../evil.md": "bad"})

    done = files("import", path, "--format", "markdown")

    assert done.code == 2
    assert "outside" in done.err
    assert files.ok("list", "--json").json["items"] == []


def test_an_import_that_was_cut_off_goes_on_and_stores_nothing_twice(
    server: Terminal, tmp_path: Path
) -> None:
    assert server.server is not None
    count = 3 * BATCH_ENTRIES
    entries = [{"id": f"n{number}", "kind": "note", "body": f"{number}"} for number in range(count)]
    words = ("import", write(tmp_path / "in.jsonl", *entries), "--format", "jsonl", "--json")

    with CuttingProxy(server.server.url) as proxy:
        proxy.cut_next(f'"n{BATCH_ENTRIES}"')
        cut = server(*words, "--url", proxy.url)
    between = len(server.ok("list", "--all", "--json").json["items"])
    again = server.ok(*words).json

    # The second batch was stored, and its answer lost.
    assert cut.code == 6
    assert between == 2 * BATCH_ENTRIES
    assert (again["imported"], again["known"]) == (count - between, between)
    assert len(server.ok("list", "--all", "--json").json["items"]) == count


def test_names_of_other_programs_stand_for_fields(files: Terminal, tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", {"key": "k1", "content": "A text", "labels": ["red"]})
    words = ("import", path, "--format", "jsonl", "--json")

    done = files.ok(*words, "--map", "text=content", "--map", "tags=labels", "--map", "id=key").json

    assert done["mapping"] == {"content": "text", "labels": "tags", "key": "id"}
    found = files.ok("get", "default:k1", "--json").json["entry"]
    assert (found["body"], found["tags"]) == ({"text": "A text"}, ["red"])


def test_a_name_for_what_is_no_field_is_refused(files: Terminal, tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", {"a": 1})

    wrong = files("import", path, "--format", "jsonl", "--map", "colour=a")
    useless = files("import", path, "--format", "serverMemory", "--map", "title=a")

    assert (wrong.code, useless.code) == (2, 2)
    assert "colour is not one of" in wrong.err


def test_a_long_import_says_how_far_it_is(files: Terminal, tmp_path: Path) -> None:
    entries = [{"id": f"n{n}", "kind": "note", "body": f"{n} " * 100} for n in range(1000)]
    path = write(tmp_path / "in.jsonl", *entries)

    done = files.ok("import", path, "--format", "jsonl")

    assert len([line for line in done.err.splitlines() if line.startswith("import: ")]) > 1


def test_memoryctl_import_names_the_limit(files: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    line = {"id": "a", "kind": "note", "body": "b", "metadata": {"c": "x" * 65_537}}
    path.write_text(json.dumps(line), encoding="utf-8")

    found = files("import", str(path), "--json")

    assert found.code == 2
    assert "metadata.c" in found.err
    assert "textBytes" in found.err


def test_an_import_prints_what_the_server_says_of_entries(files: Terminal, tmp_path: Path) -> None:
    line = {"id": "a", "kind": "fact", "body": {"content": "Said so"}, "colour": "blue"}
    path = write(tmp_path / "entries.jsonl", line)

    done = files.ok("import", path, "--format", "jsonl", "--json")

    assert done.json["warnings"] == [
        "line 1: body.content was taken as body.statement",
        "line 1: entry.colour is not a field of an entry: kept as it is",
    ]
    assert all(one in done.err for one in done.json["warnings"])
    body = files.ok("get", "default:a", "--json").json["entry"]["body"]
    assert body == {"statement": "Said so"}
