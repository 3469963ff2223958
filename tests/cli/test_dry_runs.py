"""Trial runs change nothing: no file of a root, its folders and times included."""

import shutil
from pathlib import Path

import click
import pytest

from qms.cli.arguments import leaves
from qms.cli.program import program
from tests.cli.conftest import Terminal
from tests.support.environment import Environment

CLAUDE = str(Path(__file__).parents[1] / "data" / "mining" / "claude.json")

ARGUMENTS: dict[str, list[str]] = {
    "delete": ["a"],
    "auto-tag": ["a"],
    "backups restore": ["default", "--at", "2126-01-01"],
    "backups prune": ["--keep", "1"],
    "connect": ["cursor", "--write"],
    "import": ["FILE"],
    "mine": ["MINE", "--format", "claude"],
    "documents remove": ["a"],
    "documents sync": ["FOLDER"],
    "gc": [],
    "consolidate": ["a", "b"],
    "auto-consolidate": [],
    "resolve": ["a", "b"],
    "forget": ["text"],
    "erase": ["a"],
    "move": ["a", "shared"],
    "unlink": ["a", "b"],
    "archive purge": ["--all"],
    "stores conflicts": ["default", "--dismiss"],
    "stores accept": ["default"],
    "stores reject": ["default"],
    "projects remove": ["other"],
    "users remove": ["alice"],
    "keys revoke": ["KEY"],
    "sync": ["PEER"],
}
"""What each verb is called with, besides `--dry-run`."""

VERBS = {
    path.removeprefix("memoryctl ")
    for path, verb in leaves(program)
    if any(isinstance(one, click.Option) and "--dry-run" in one.opts for one in verb.params)
}


def tree(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return every file and folder of a root, with its time and content."""
    return {
        path.relative_to(root).as_posix(): (
            path.stat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(root.rglob("*"))
    }


@pytest.fixture
def lived(files: Terminal, tmp_path: Path) -> Terminal:
    """A root with memories, an edit by hand that nobody has taken yet, and a peer."""
    for name in ("a", "b"):
        files.ok("remember", f"text {name}", "--id", name, "--retention", "short")
    files.ok("link", "a", "b")
    files.ok("backup", "default", "--wait")
    files.ok("users", "add", "alice", "--tier", "reader")
    files.ok("projects", "add", "other")
    shutil.copytree(files.root, tmp_path / "peer")
    files.ok("remember", "text c", "--id", "c")
    with files.entries_file().open("a", encoding="utf-8") as file:
        file.write('{"kind":"note","body":{"text":"by hand"}}\n')
    return files


def filled(words: list[str], lived: Terminal, tmp_path: Path) -> list[str]:
    """Return the words of a verb with files, keys and peers of this root."""
    export = tmp_path / "more.jsonl"
    export.write_text('{"kind":"note","title":"t","body":{"text":"x"}}\n', encoding="utf-8")
    text = (lived.root / "QuickMemoryServer.toml").read_text(encoding="utf-8")
    key = text.partition('id = "')[2].partition('"')[0]
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "new.md").write_text("# Harbour\n\nThe crane lifts forty tons.\n", encoding="utf-8")
    places = {
        "FOLDER": str(folder),
        "FILE": str(export),
        "MINE": CLAUDE,
        "KEY": key,
        "PEER": str(tmp_path / "peer"),
    }
    return [places.get(word, word) for word in words]


def test_every_verb_with_a_trial_run_is_tried() -> None:
    assert sorted(ARGUMENTS) == sorted(VERBS)


@pytest.mark.parametrize("verb", sorted(ARGUMENTS))
def test_a_trial_run_on_files_changes_nothing(
    lived: Terminal, tmp_path: Path, environment: Environment, verb: str
) -> None:
    environment["HOME"] = str(tmp_path / "home")
    words = [*verb.split(), *filled(ARGUMENTS[verb], lived, tmp_path)]
    here, there = tree(lived.root), tree(tmp_path / "peer")

    result = lived(*words, "--dry-run")

    assert result.code in (0, 5), result.err
    assert "cannot be used" not in result.err
    assert "Read-only file system" not in result.err
    assert tree(lived.root) == here
    assert tree(tmp_path / "peer") == there


def test_a_trial_run_makes_no_first_admin(tmp_path: Path, files: Terminal) -> None:
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    text = '[endpoint.shared]\nslug = "shared"\n[endpoint.default]\nslug = "default"\n'
    (fresh / "QuickMemoryServer.toml").write_text(text, encoding="utf-8")
    before = tree(fresh)

    result = files("sync", str(fresh), "--dry-run")

    assert result.code == 0, result.err
    assert "admin key" not in result.err
    assert tree(fresh) == before


@pytest.mark.parametrize("verb", ["import", "forget", "gc", "sync"])
def test_a_trial_run_against_a_server_changes_nothing(
    lived: Terminal, tmp_path: Path, verb: str
) -> None:
    lived.start()
    words = [*verb.split(), *filled(ARGUMENTS[verb], lived, tmp_path)]
    ids = lived.ok("list", "--include", "ids").out
    audit = (lived.root / "logs" / "audit.jsonl").read_bytes()

    lived.ok(*words, "--dry-run")

    assert lived.ok("list", "--include", "ids").out == ids
    assert (lived.root / "logs" / "audit.jsonl").read_bytes() == audit
