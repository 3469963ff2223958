"""A person edits `entries.jsonl` while the server runs; clients see it."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.server import ADMIN_KEY, ServerProcess, configured, store_folder
from tests.support.waiting import eventually

ENTRIES = 500
TARGET = "harbour"

Save = Callable[[Path, str, str], None]


def run(*command: str, cwd: Path) -> bytes:
    done = subprocess.run(command, cwd=cwd, check=True, capture_output=True, timeout=60)
    return done.stdout


def edited(file: Path, old: str, new: str) -> str:
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1
    return text.replace(old, new)


def save_by_rename(file: Path, old: str, new: str) -> None:
    saved = file.with_name("entries.jsonl~")
    saved.write_text(edited(file, old, new), encoding="utf-8")
    saved.replace(file)


def save_in_place(file: Path, old: str, new: str) -> None:
    file.write_text(edited(file, old, new), encoding="utf-8")


def save_slowly(file: Path, old: str, new: str) -> None:
    """Truncate, then write line by line."""
    text = edited(file, old, new)
    with file.open("w", encoding="utf-8", buffering=1) as opened:
        for line in text.splitlines(keepends=True):
            opened.write(line)


def run_sed(file: Path, old: str, new: str) -> None:
    run("sed", "-i", f"s/{old}/{new}/", file.name, cwd=file.parent)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose store has entries, all of them folded."""
    with ServerProcess(configured(tmp_path_factory.mktemp("root")), key=ADMIN_KEY) as server:
        entries = [
            {"id": f"e{number}", "kind": "fact", "body": f"This is fact number {number}"}
            for number in range(ENTRIES)
        ]
        entries[ENTRIES // 2] = {"id": TARGET, "kind": "fact", "body": "Opens at 0", "title": "It"}
        assert server.call("projA", "bulkImport", entries=entries)["imported"] == ENTRIES
        eventually(lambda: server.store()["pendingJournal"] == 0)
        yield server


@pytest.fixture
def file(server: ServerProcess) -> Path:
    return store_folder(server.root) / "entries.jsonl"


def statement(server: ServerProcess) -> str:
    return str(server.call("projA", "getEntry", id=TARGET)["entry"]["body"]["statement"])


def next_statement(old: str) -> str:
    return f"Opens at {int(old.removeprefix('Opens at ')) + 1}"


def is_untroubled(server: ServerProcess) -> bool:
    """Say whether every entry is there, and nobody's version had to give way."""
    report, store = server.call("projA", "health"), server.store()
    return (report["status"], store["entries"], store["held"]) == ("Healthy", ENTRIES, False)


@pytest.mark.parametrize("save", [save_by_rename, save_in_place, save_slowly, run_sed])
def test_a_hand_edit_is_seen_through_get_entry(
    server: ServerProcess, file: Path, save: Save
) -> None:
    before, old = file.read_bytes(), statement(server)
    new = next_statement(old)

    save(file, old, new)

    eventually(lambda: statement(server) == new and is_untroubled(server))
    assert file.read_bytes() == before.replace(old.encode(), new.encode())


@pytest.mark.needs("git")
def test_a_git_checkout_is_seen_and_so_is_the_way_back(server: ServerProcess, file: Path) -> None:
    old = statement(server)
    new, folder = next_statement(old), file.parent
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    run("git", "init", "-q", "-b", "before", cwd=folder)
    run("git", "add", ".", cwd=folder)
    run("git", *who, "commit", "-qm", "as it was", cwd=folder)
    run("git", "checkout", "-qb", "after", cwd=folder)
    save_by_rename(file, old, new)
    run("git", *who, "commit", "-qam", "as it is", cwd=folder)
    eventually(lambda: statement(server) == new)

    run("git", "checkout", "-q", "before", cwd=folder)
    eventually(lambda: statement(server) == old and is_untroubled(server))
    run("git", "checkout", "-q", "after", cwd=folder)
    eventually(lambda: statement(server) == new and is_untroubled(server))

    shutil.rmtree(folder / ".git")


@pytest.mark.needs("git")
def test_an_update_of_one_entry_is_one_changed_line_for_git(
    server: ServerProcess, file: Path
) -> None:
    new = next_statement(statement(server))
    run("git", "init", "-q", cwd=file.parent)
    run("git", "add", ".", cwd=file.parent)

    entry = {"id": TARGET, "kind": "fact", "title": "It", "body": new}
    assert server.call("projA", "upsertEntry", entry=entry)["updated"]
    eventually(lambda: server.store()["pendingJournal"] == 0)

    assert run("git", "diff", "--numstat", cwd=file.parent).split() == [
        b"1",
        b"1",
        b"entries.jsonl",
    ]
    shutil.rmtree(file.parent / ".git")
