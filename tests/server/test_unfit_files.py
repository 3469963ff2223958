"""Files of a store that are not files: each is its store's problem, and no other's."""

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.house import ALL_TOOLSETS
from tests.support.server import ADMIN_KEY, ServerProcess, configured, store_folder
from tests.support.waiting import eventually

pytestmark = [pytest.mark.attack(87)]

OWN_FILES = (
    ".qms/base.json",
    ".qms/base.jsonl",
    ".qms/changes.jsonl",
    ".qms/conflicts.jsonl",
    ".qms/journal.wal",
    ".qms/proposals.json",
    ".qms/usage.json",
    "archive.jsonl",
    "entries.jsonl",
    "indexes/columns.dat",
    "indexes/manifest.json",
    "indexes/summaries.json",
    "indexes/tantivy/.tantivy-writer.lock",
    "indexes/tantivy/meta.json",
    "indexes/vectors.dat",
)
PROJECTS = {f"p{number}": name for number, name in enumerate(OWN_FILES)}
NEEDED = {".qms/base.json", ".qms/journal.wal", "entries.jsonl"}
"""Without these a store cannot tell what it holds, and is not opened."""

TEXT = (
    '[global.embedding]\nmodel = "hash"\n[global]\nlisten = ["http://127.0.0.1:0"]\n'
    + "".join(
        f'[endpoint.{slug}]\nslug = "{slug}"\n{ALL_TOOLSETS}\n'
        for slug in ["shared", "sound", *PROJECTS]
    )
    + f'[users.admin]\ntier = "admin"\napiKey = "{ADMIN_KEY}"\n'
)
SIZE_BYTES = 10 << 30

CALLS: dict[str, dict[str, Any]] = {
    "searchEntries": {"query": {"text": "kept"}},
    "summaries": {"ids": ["kept"]},
    "upsertEntry": {"entry": {"kind": "note", "body": "another"}},
    "deleteEntry": {"id": "kept"},
    "listArchive": {},
    "listConflicts": {},
    "listProposals": {},
    "history": {"id": "kept"},
}
"""Together they touch every file of a store."""


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_folder(path: Path) -> None:
    path.mkdir()
    (path / "inside").touch()


def make_link_out(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def make_huge(path: Path) -> None:
    path.touch()
    os.truncate(path, SIZE_BYTES)


KINDS: dict[str, tuple[Callable[[Path], None], str]] = {
    "fifo": (make_fifo, "is a FIFO"),
    "folder": (make_folder, "is a folder"),
    "link": (make_link_out, "leads out of the root"),
    "huge": (make_huge, "fileMegabytes"),
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a root whose stores have been written to, searched and closed."""
    root = configured(tmp_path_factory.mktemp("filled") / "root", TEXT)
    with ServerProcess(root, key=ADMIN_KEY) as server:
        for project in ["sound", *PROJECTS]:
            for local in ("kept", "gone"):
                entry = {"id": local, "kind": "note", "body": f"The {local} entry. " * 99}
                server.call(project, "upsertEntry", entry=entry)
            server.call(project, "deleteEntry", id="gone")
            server.call(project, "recall", context="the kept entry")
        for project in PROJECTS:
            eventually(partial(has_vectors, server, project))
        assert server.stop() == 0
    return root


def has_vectors(server: ServerProcess, project: str) -> bool:
    return bool(server.store(project)["embeddingBacklog"] == 0)


def spoil(root: Path, make: Callable[[Path], None]) -> None:
    """Put something else in the place of one file of each project."""
    for project, name in PROJECTS.items():
        path = store_folder(root, project) / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.unlink(missing_ok=True)
        make(path)


def is_harmless(path: Path) -> bool:
    """Say whether a file was put right by the server, or is one that is never read."""
    is_file = path.is_file() and not path.is_symlink()
    return is_file and (path.stat().st_size < SIZE_BYTES or path.suffix == ".lock")


def is_dealt_with(server: ServerProcess, root: Path, project: str, words: str) -> bool:
    """Say whether the spoiled file of a project is reported, or was put right."""
    problems = server.call("sound", "health")["problems"]
    named = [one for one in problems if one["project"] == project and words in one["reason"]]
    return bool(named) or is_harmless(store_folder(root, project) / PROJECTS[project])


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_none_is_the_problem_of_its_store_alone(
    filled: Path, tmp_path: Path, kind: str
) -> None:
    root = tmp_path / "root"
    shutil.copytree(filled, root)
    make, words = KINDS[kind]
    spoil(root, make)
    with ServerProcess(root, key=ADMIN_KEY) as server:
        eventually(lambda: server.status()[1]["status"] == "Degraded")
        for project, name in PROJECTS.items():
            with server.client(project) as client:
                statuses = {
                    client.send(command, request).status for command, request in CALLS.items()
                }
            assert statuses <= ({503} if name in NEEDED else {200, 503}), name

        # Some files are touched by the next fold only.
        eventually(lambda: all(is_dealt_with(server, root, one, words) for one in PROJECTS))
        problems = server.call("sound", "health")["problems"]
        for project, name in PROJECTS.items():
            found = [one for one in problems if one["project"] == project]
            if name in NEEDED:
                assert [one["code"] for one in found] == ["storeUnavailable"]
                assert Path(name).name in found[0]["reason"]
        assert {one["project"] for one in problems} <= PROJECTS.keys()
        assert str(root) not in str(problems)
        assert server.call("sound", "getEntry", id="kept")["entry"]["id"] == "sound:kept"
        assert server.stop() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_replaced_under_a_server_is_left_alone_until_it_is_back(
    tmp_path: Path, kind: str
) -> None:
    root = configured(tmp_path / "root", TEXT)
    path = store_folder(root, "p0") / "entries.jsonl"
    aside = tmp_path / "aside.jsonl"
    make, words = KINDS[kind]
    with ServerProcess(root, key=ADMIN_KEY) as server:
        server.call("p0", "upsertEntry", entry={"id": "one", "kind": "note", "body": "first"})
        eventually(lambda: server.store("p0")["pendingJournal"] == 0 and path.exists())
        path.rename(aside)
        make(path)

        eventually(lambda: server.store("p0")["problems"] == 1)
        (problem,) = server.call("p0", "health")["problems"]
        assert (problem["code"], problem["file"]) == ("unfitFile", "entries.jsonl")
        assert words in problem["reason"]
        server.call("p0", "upsertEntry", entry={"id": "two", "kind": "note", "body": "second"})

        shutil.rmtree(path) if path.is_dir() else path.unlink()
        aside.rename(path)
        server.call("p0", "reloadStore")
        assert server.store("p0")["problems"] == 0
        assert server.stop() == 0
    text = path.read_text(encoding="utf-8")
    assert ('"p0:one"' in text, '"p0:two"' in text) == (True, True)


@pytest.mark.parametrize("is_folder", [True, False])
def test_links_that_stay_in_the_root_are_followed(tmp_path: Path, *, is_folder: bool) -> None:
    root = configured(tmp_path / "root", TEXT)
    folder = store_folder(root, "p0")
    target = folder.with_name("notes") if is_folder else root / "notes"
    target.mkdir(parents=True)
    if is_folder:
        folder.symlink_to(target)
    else:
        folder.mkdir(parents=True)
        (folder / "entries.jsonl").symlink_to(target / "entries.jsonl")
    line = '{"id":"p0:one","kind":"note","title":"t","body":{"text":"linked"}}\n'
    (target / "entries.jsonl").write_text(line, encoding="utf-8")

    with ServerProcess(root, key=ADMIN_KEY) as server:
        assert server.call("p0", "getEntry", id="one")["entry"]["body"] == {"text": "linked"}
        assert server.stop() == 0
