"""Dismissing conflict copies."""

from pathlib import Path

import pytest

from qms.disk.disk import Disk
from qms.memory.errors import StorageFullError
from tests.support.boxes import StoreBox, line_of, statement
from tests.support.disks import Killed, MortalDisk


def make_conflicts(box: StoreBox, *locals_: str) -> None:
    """Have the server's version of each entry give way to a person's."""
    box.put(*(statement(local, "base") for local in locals_))
    box.fold()
    box.put(*(statement(local, f"ours {local}", n=10**30) for local in locals_))
    box.save_lines(*(line_of(statement(local, "by hand")) for local in locals_))
    box.store.reload()
    assert box.store.status().conflicts == len(locals_)


def archived_conflicts(box: StoreBox) -> list[str]:
    lines = [one for one in box.archived() if one["reason"] == "conflict"]
    return [one["entry"]["body"]["statement"] for one in lines]


def test_dismissed_copies_are_in_the_archive(tmp_store: StoreBox) -> None:
    make_conflicts(tmp_store, "a", "b")
    copies = [one["entry"] for one in tmp_store.store.conflicts()]

    assert tmp_store.store.dismiss_conflicts(None, tmp_store.origin()) == 2
    assert tmp_store.store.status().conflicts == 0
    assert [one["entry"] for one in tmp_store.archived()] == copies
    assert {(one["reason"], one["by"]) for one in tmp_store.archived()} == {("conflict", "tester")}
    assert tmp_store.store.dismiss_conflicts(None, tmp_store.origin()) == 0
    tmp_store.fold()
    tmp_store.reopen()
    assert tmp_store.store.conflicts() == []
    assert tmp_store.text("a") == "by hand"


def test_only_the_copies_of_the_named_entries_are_dismissed(tmp_store: StoreBox) -> None:
    make_conflicts(tmp_store, "a", "b", "c")

    assert tmp_store.store.dismiss_conflicts({"p:b", "p:gone"}, tmp_store.origin()) == 1
    assert tmp_store.store.dismiss_conflicts(set(), tmp_store.origin()) == 0
    assert tmp_store.conflict_texts() == ["ours a", "ours c"]
    assert archived_conflicts(tmp_store) == ["ours b"]


def test_the_bytes_of_a_copy_survive_and_a_copy_without_an_entry_is_kept_whole(
    tmp_store: StoreBox,
) -> None:
    tmp_store.open()
    odd = b'{"id":"p:a","entry":{"n":%d,"x" : 1.50e3}}' % 10**50
    bare = b'{"note":"mine"}'
    (tmp_store.own / "conflicts.jsonl").write_bytes(odd + b"\n" + bare + b"\nxx\n")
    tmp_store.store.dismiss_conflicts(None, tmp_store.origin())

    first, second = (tmp_store.folder / "archive.jsonl").read_bytes().splitlines()
    assert odd[odd.index(b'{"n"') : -1] in first
    assert bare in second
    assert (tmp_store.own / "conflicts.jsonl").read_bytes() == b"xx\n"


def test_a_kill_at_any_moment_leaves_each_copy_in_one_of_the_two(tmp_path: Path) -> None:
    number, is_done = 0, False
    while not is_done:
        number += 1
        box = StoreBox(tmp_path / str(number))
        make_conflicts(box, "a", "b")
        box.crash()
        disk = MortalDisk()
        box.open(disk)
        disk.dies_at = disk.operations + number
        try:
            is_done = box.store.dismiss_conflicts(None, box.origin()) == 2
        except Killed:
            is_done = False
        box.crash()
        box.open()
        found = set(archived_conflicts(box)) | set(box.conflict_texts())
        assert found == {"ours a", "ours b"}, f"killed at operation {number}"
        box.store.dismiss_conflicts(None, box.origin())
        assert box.store.status().conflicts == 0
        box.close()
    assert number > 5


@pytest.mark.parametrize("name", ["archive.jsonl", "conflicts.jsonl.tmp"])
def test_a_disk_that_refuses_leaves_the_copies(tmp_path: Path, name: str) -> None:
    class RefusingDisk(Disk):
        refuses = ""

        def open(self, path: Path, *, create: bool = False, mode: int = 0o600) -> int:
            if path.name == self.refuses:
                raise OSError(28, "No space left on device")
            return super().open(path, create=create, mode=mode)

    disk = RefusingDisk()
    box = StoreBox(tmp_path, disk=disk)
    make_conflicts(box, "a")
    disk.refuses = name
    with pytest.raises(StorageFullError, match="No space left"):
        box.store.dismiss_conflicts(None, box.origin())
    assert box.conflict_texts() == ["ours a"]
    disk.refuses = ""
    assert box.store.dismiss_conflicts(None, box.origin()) == 1
    box.close()
