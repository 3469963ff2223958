"""A person saves in every way there is while four writers write and folds run."""

import os
import subprocess
import threading
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from qms.disk.disk import Disk, FileIdentity
from qms.store import merge as merge_module
from qms.store import reload as reload_module
from tests.support.boxes import StoreBox, entry, line_of, statement

WRITERS = 4
OWN = 6
"""How many entries are the person's own."""


class Oracle:
    """Every acknowledged change and every hand edit, and whether each is somewhere."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.edits: list[tuple[str, str]] = []
        self.last: dict[str, str | None] = {}

    def acknowledge(self, local: str, text: str | None) -> None:
        """Note a server write, or with None a deletion; one writer per entry, in order."""
        with self._lock:
            self.last[local] = text

    def missing(self, box: StoreBox) -> list[str]:
        """Return what is neither there, nor overwritten by its own author, nor kept aside."""
        there = {
            (local, document["body"]["statement"]) for local, document in box.documents().items()
        }
        copies = {
            (one["id"].partition(":")[2], one["entry"]["body"]["statement"])
            for one in box.store.conflicts()
        }
        ids_in_conflict = {local for local, _ in copies}
        lost = []
        for local, text in self.last.items():
            if text is None:
                if any(local == one for one, _ in there) and local not in ids_in_conflict:
                    lost.append(f"deletion of {local}")
            elif (local, text) not in there | copies:
                lost.append(f"write {local} = {text}")
        last_edits = dict(self.edits)
        for local, text in last_edits.items():
            if (local, text) not in there | copies and local not in self.last:
                lost.append(f"edit {local} = {text}")
        return lost


def rename_save(box: StoreBox, change: Callable[[bytes], bytes]) -> None:
    """Save as vim does: write another file, rename it over this one."""
    data = change(box.path.read_bytes())
    swap = box.path.with_name("4913")
    swap.write_bytes(data)
    swap.replace(box.path)


def in_place_save(box: StoreBox, change: Callable[[bytes], bytes]) -> None:
    """Save as a plain editor does: truncate and write at once."""
    data = change(box.path.read_bytes())
    with box.path.open("r+b") as file:
        file.write(data)
        file.truncate(len(data))


def slow_save(box: StoreBox, change: Callable[[bytes], bytes]) -> None:
    """Truncate, then write in small pieces."""
    data = change(box.path.read_bytes())
    with box.path.open("wb", buffering=0) as file:
        for start in range(0, len(data), 1 + len(data) // 8):
            file.write(data[start : start + 1 + len(data) // 8])
            os.sched_yield()


def sed_save(box: StoreBox, old: str, new: str) -> None:
    subprocess.run(["sed", "-i", f"s/{old}/{new}/", str(box.path)], check=True)


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, encoding="utf-8"
    ).stdout


class Person:
    """Edits the entries that are the person's own, one after the other."""

    def __init__(self, box: StoreBox, oracle: Oracle) -> None:
        self._box = box
        self._oracle = oracle
        self._texts = {f"mine{number}": "start" for number in range(OWN)}
        self._count = 0

    def edit(self, way: str) -> None:
        """Change one of the person's entries, saving in the given way."""
        self._count += 1
        local = f"mine{self._count % OWN}"
        old, new = self._texts[local], f"hand {self._count} {way}"
        before = f'"statement":"{local} {old}"'
        after = f'"statement":"{local} {new}"'

        def change(data: bytes) -> bytes:
            assert before.encode() in data, (before, way)
            return data.replace(before.encode(), after.encode())

        match way:
            case "rename":
                rename_save(self._box, change)
            case "in place":
                in_place_save(self._box, change)
            case "slow":
                slow_save(self._box, change)
            case "sed":
                sed_save(self._box, before, after)
            case "git":
                staged = self._box.folder.with_name("staged.jsonl")
                staged.write_bytes(change(self._box.path.read_bytes()))
                blob = git(self._box.folder, "hash-object", "-w", str(staged)).strip()
                info = f"100644,{blob},entries.jsonl"
                git(self._box.folder, "update-index", "--add", "--cacheinfo", info)
                git(self._box.folder, "checkout", "--force", "--", "entries.jsonl")
        self._texts[local] = new
        self._oracle.edits.append((local, f"{local} {new}"))


def run(box: StoreBox, operations: int, ways: list[str], edits: int) -> list[str]:
    """Let writers, person and folds loose on one store; return what was lost."""
    box.put(*(statement(f"mine{number}", f"mine{number} start") for number in range(OWN)))
    box.put(*(entry(f"filler{number}") for number in range(60)))
    box.fold()
    git(box.folder, "init", "-q")
    oracle, done = Oracle(), threading.Event()
    person = Person(box, oracle)
    store = box.store

    def write(writer: int) -> None:
        for number in range(operations):
            local = f"w{writer}-{zlib.crc32(b'%d' % number) % 20}"
            if number % 7 == 6:
                if box.remove(local):
                    oracle.acknowledge(local, None)
            else:
                text = f"write {writer} {number}"
                box.put(statement(local, text))
                oracle.acknowledge(local, text)

    def keep() -> None:
        while not done.is_set():
            store.look()
            store.fold()

    with ThreadPoolExecutor(WRITERS + 1) as pool:
        keeper = pool.submit(keep)
        writers = [pool.submit(write, number) for number in range(WRITERS)]
        try:
            for number in range(edits):
                settle(box)
                person.edit(ways[number % len(ways)])
            for one in writers:
                one.result()
        finally:
            done.set()
        keeper.result()
    settle(box)
    lost = oracle.missing(box)
    box.reopen()
    return lost + oracle.missing(box)


def settle(box: StoreBox) -> None:
    """Have the server look until the file as it is now was taken."""
    for _ in range(1000):
        if box.store.reload().settled and box.store.status().held is False:
            box.store.fold()
            return
    raise AssertionError("the file never came to rest")


WAYS = ["rename", "in place", "slow", "sed", "git"]


@pytest.mark.fault("F13")
@pytest.mark.needs("git")
@pytest.mark.parametrize("way", WAYS)
def test_no_change_of_either_side_is_lost(tmp_store: StoreBox, way: str) -> None:
    assert run(tmp_store, 120, [way], edits=12) == []


@pytest.mark.long
@pytest.mark.fault("F13")
@pytest.mark.needs("git")
@pytest.mark.parametrize("way", [*WAYS, "all"])
def test_no_change_of_either_side_is_lost_in_the_long_run(tmp_store: StoreBox, way: str) -> None:
    assert run(tmp_store, 500, WAYS if way == "all" else [way], edits=60) == []


class BlindDisk(Disk):
    """Every file looks the same from outside: a fold never sees that it is another."""

    def identity(self, path: Path) -> FileIdentity | None:
        return FileIdentity(1, 1, 1) if path.exists() else None


@pytest.mark.fault("F13")
def test_the_oracle_notices_a_fold_that_does_not_look_at_the_file(tmp_store: StoreBox) -> None:
    tmp_store.save_lines(line_of(statement("mine0", "start")))
    tmp_store.open(BlindDisk())
    oracle = Oracle()
    rename_save(tmp_store, lambda data: data.replace(b"start", b"by hand"))
    oracle.edits.append(("mine0", "by hand"))
    tmp_store.put(entry("new"))
    tmp_store.store.fold()

    assert oracle.missing(tmp_store) == ["edit mine0 = by hand"]


@pytest.mark.fault("F13")
def test_the_oracle_notices_a_merge_that_keeps_no_copies(
    tmp_store: StoreBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = merge_module.merge

    def careless(*arguments: object) -> merge_module.Merge:
        plan = honest(*arguments)  # type: ignore[arg-type]  # handed on
        return merge_module.Merge(put=plan.put, removed=plan.removed, agreed={}, lost={})

    monkeypatch.setattr(reload_module, "merge", careless)
    tmp_store.put(statement("w", "start"))
    tmp_store.fold()
    oracle = Oracle()
    tmp_store.put(statement("w", "ours"))
    oracle.acknowledge("w", "ours")
    rename_save(tmp_store, lambda data: data.replace(b"start", b"by hand"))
    tmp_store.store.reload()

    assert oracle.missing(tmp_store) == ["write w = ours"]
