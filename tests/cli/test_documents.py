"""memoryctl documents add, sync, list, show and remove, on a server and on files."""

from pathlib import Path

import pytest

from tests.cli.conftest import Terminal
from tests.features.documents.conftest import DATA


@pytest.fixture(autouse=True)
def _allowed(ctl: Terminal) -> None:
    ctl.allow("core", "lifecycle", "documents")


@pytest.fixture(name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two files that are documents, and one that is none."""
    made = tmp_path_factory.mktemp("papers")
    (made / "inner").mkdir()
    (made / "a.md").write_text("# A\n\nThe first paper.\n", encoding="utf-8")
    (made / "inner" / "b.txt").write_text("The second paper.\n", encoding="utf-8")
    (made / "c.bin").write_bytes(b"\0\1\2\3" * 9)
    return made


def test_a_file_is_added_listed_shown_and_removed(ctl: Terminal) -> None:
    path = str(DATA / "report.docx")

    added = ctl.ok("documents", "add", path, "--id", "report", "--tag", "harbour")
    again = ctl.ok("documents", "add", path, "--id", "report", "--tag", "harbour", "--json")

    assert "default:report  stored" in added.out
    assert again.json["documents"][0]["duplicateOf"] == "default:report"
    assert "Harbour report" in ctl.ok("documents", "list").out
    assert "cobalt blue" in ctl.ok("documents", "show", "report", "--full").out
    assert "Harbour works > Maintenance" in ctl.ok("documents", "show", "report", "--chunks").out
    ctl.ok("documents", "remove", "report", "--yes")
    assert "no documents yet" in ctl.ok("documents", "list").err


def test_a_text_is_shown_in_its_lines(ctl: Terminal, folder: Path) -> None:
    ctl.ok("documents", "add", str(folder / "a.md"), "--id", "a")

    whole = ctl.ok("documents", "show", "a", "--full").out
    chunks = ctl.ok("documents", "show", "a", "--chunks").out

    assert whole.splitlines() == ["# A", "", "The first paper.", ""]
    assert chunks.splitlines() == ["[0] A", "# A", "", "The first paper.", ""]
    assert ctl.ok("documents", "show", "a").out.splitlines() == ["a.md", "The first paper."]


def test_the_exit_code_is_that_of_the_failure(ctl: Terminal, folder: Path) -> None:
    result = ctl("documents", "add", str(folder / "a.md"), "--project", "absent")

    assert result.code == 4
    assert "1 of 1 files failed" in result.err


def test_a_sync_follows_new_changed_and_removed_files(ctl: Terminal, folder: Path) -> None:
    planned = ctl.ok("documents", "sync", str(folder), "--dry-run")
    assert planned.out.splitlines() == ["+ a.md", "+ inner/b.txt"]
    assert ctl.ok("documents", "list", "--json").json["items"] == []

    ctl.ok("documents", "sync", str(folder))
    (folder / "a.md").write_text("# A\n\nThe first paper, revised.\n", encoding="utf-8")
    (folder / "inner" / "b.txt").unlink()
    (folder / "d.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    second = ctl.ok("documents", "sync", str(folder), "--yes")
    third = ctl.ok("documents", "sync", str(folder))

    assert "1 new, 1 changed, 1 gone, 0 unchanged" in second.err
    assert "0 new, 0 changed, 0 gone, 2 unchanged" in third.err
    paths = [one["metadata"]["path"] for one in ctl.ok("documents", "list", "--json").json["items"]]
    assert sorted(paths) == ["a.md", "d.csv"]


def test_files_that_cannot_be_read_fail_and_the_others_are_stored(
    ctl: Terminal, folder: Path
) -> None:
    result = ctl("documents", "add", str(folder / "c.bin"), str(folder / "a.md"))

    assert result.code == 2
    assert "c.bin" in result.err
    assert len(ctl.ok("documents", "list", "--json").json["items"]) == 1
