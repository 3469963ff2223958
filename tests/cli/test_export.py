"""`memoryctl export`, and what `import` makes of it in an empty root."""

import csv
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Terminal
from tests.support.environment import Environment

KINDS = {
    "decision": {"decision": "We ship on Mondays", "rationale": "quiet: \u2028 and \x1b[31m"},
    "procedure": {"steps": ["Stop", "Copy", "Start"]},
    "document": {"path": "docs/a.md"},
    "fact": {"statement": "Zürich, 日本 and 🦊"},
}


def store(ctl: Terminal) -> None:
    """Store one memory of several kinds, with every field that an export must carry."""
    entries: list[dict[str, Any]] = [
        {
            "id": kind,
            "kind": kind,
            "title": f"=About {kind}",
            "body": body,
            "tags": ["one", "two"],
            "metadata": {"deep": {"list": [1, 2.5, None]}},
            "relations": [{"type": "relatedTo", "targetId": "default:other"}],
            "priority": 9,
            "timestamps": {"createdUtc": "2024-01-02T03:04:05Z"},
        }
        for kind, body in KINDS.items()
    ]
    assert ctl.api("default", "bulkImport", entries=entries)["imported"] == len(KINDS)


def held(ctl: Terminal, *words: str) -> dict[str, Any]:
    """Return every entry without the time of its last change."""
    found = ctl.ok("list", "--all", "--include", "full", "--json", *words).json["items"]
    for entry in found:
        del entry["timestamps"]["updatedUtc"]
    return {entry["id"]: entry for entry in found}


def start_afresh(ctl: Terminal, environment: Environment, tmp_path: Path) -> None:
    """Go to an empty root, on the files of a stopped server."""
    ctl.stop()
    root = tmp_path / "empty"
    root.mkdir()
    settings = "QuickMemoryServer.toml"
    (root / settings).write_bytes((ctl.root / settings).read_bytes())
    environment["QMS_ROOT"] = str(root)


def whole(ctl: Terminal) -> dict[str, Any]:
    """Return every entry and its version, which nothing that differs could share."""
    ids = [item["id"] for item in ctl.ok("list", "--all", "--json").json["items"]]
    return {one: ctl.ok("get", one, "--json").json for one in ids}


@pytest.mark.parametrize("form", ["jsonl", "json"])
def test_what_is_exported_comes_back_equal_in_an_empty_root(
    ctl: Terminal, form: str, tmp_path: Path, environment: Environment
) -> None:
    store(ctl)
    before = whole(ctl)
    path = str(tmp_path / "export")
    done = ctl.ok("export", "--format", form, "--output", path, "--json")
    start_afresh(ctl, environment, tmp_path)

    ctl.ok("import", path, "--format", form, "--exact")

    assert done.json["exported"] == len(before) == len(KINDS)
    assert whole(ctl) == before


@pytest.mark.parametrize("form", ["jsonl", "json"])
def test_a_writer_brings_back_all_but_the_time_of_the_change(
    files: Terminal, form: str, tmp_path: Path, environment: Environment
) -> None:
    store(files)
    before = held(files)
    path = str(tmp_path / "export")
    files.ok("export", "--format", form, "--output", path)
    start_afresh(files, environment, tmp_path)

    files.ok("import", path, "--format", form, "--trust-source")

    assert held(files) == before


def test_a_folder_of_markdown_comes_back_with_its_texts_and_fields(
    files: Terminal, tmp_path: Path, environment: Environment
) -> None:
    store(files)
    before = held(files)
    folder = tmp_path / "notes"
    files.ok("export", "--format", "markdown", "--output", str(folder))
    start_afresh(files, environment, tmp_path)

    files.ok("import", str(folder), "--format", "markdown", "--trust-source")

    assert {path.name for path in folder.iterdir()} == {f"{kind}.md" for kind in KINDS}
    assert held(files) == before


def test_no_cell_of_a_table_is_a_formula_and_the_table_comes_back(
    files: Terminal, tmp_path: Path, environment: Environment
) -> None:
    store(files)
    path = tmp_path / "memories.csv"
    files.ok("export", "--format", "csv", "--output", str(path))
    with path.open(encoding="utf-8", newline="") as file:
        titles = {row["title"] for row in csv.DictReader(file)}
    start_afresh(files, environment, tmp_path)

    files.ok("import", str(path), "--format", "csv")

    assert titles == {f"'=About {kind}" for kind in KINDS}
    found = held(files)
    assert {entry["title"] for entry in found.values()} == {f"=About {kind}" for kind in KINDS}
    assert found["default:procedure"]["body"] == KINDS["procedure"]


@pytest.mark.parametrize("form", ["csv", "markdown"])
def test_what_is_exported_into_a_pipe_is_not_escaped_as_for_a_terminal(
    files: Terminal, form: str
) -> None:
    files.ok("remember", "colour \x1b[31m and \u202e direction", "--id", "odd")

    assert "colour \x1b[31m and \u202e direction" in files.ok("export", "--format", form).out


def test_an_export_goes_through_all_pages_oldest_first(files: Terminal, tmp_path: Path) -> None:
    entries = [{"id": f"n{number}", "kind": "note", "body": f"{number}"} for number in range(700)]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in entries), encoding="utf-8")
    files.ok("import", str(path), "--format", "jsonl")

    lines = files.ok("export").out.splitlines()

    assert {json.loads(line)["id"] for line in lines} == {f"default:n{n}" for n in range(700)}
    assert len(lines) == 700


def test_a_filter_says_what_is_exported(ctl: Terminal) -> None:
    store(ctl)

    lines = ctl.ok("export", "--kind", "fact").out.splitlines()

    assert [json.loads(line)["id"] for line in lines] == ["default:fact"]


def test_an_empty_project_is_a_whole_document_of_json(files: Terminal) -> None:
    assert files.ok("export", "--format", "json").json == {"entries": []}


def test_an_export_replaces_a_file_and_is_its_owners_alone(files: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("old", encoding="utf-8")
    files.remember("new")

    files.ok("export", "--output", str(path))

    assert "new" in path.read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir() if "partial" in one.name] == []


def test_a_folder_that_holds_something_is_not_written_into(files: Terminal, tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("mine", encoding="utf-8")

    done = files("export", "--format", "markdown", "--output", str(tmp_path))

    assert done.code == 2
    assert "empty folder" in done.err


def test_a_target_that_cannot_be_written_is_named(files: Terminal, tmp_path: Path) -> None:
    done = files("export", "--output", str(tmp_path / "no" / "such" / "file"))

    assert done.code == 6
    assert "No such file" in done.err
