"""Erasing an entry: no file of its store names it afterwards."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.boxes import StoreBox, line_of, statement


def files_with(folder: Path, name: bytes) -> list[str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.name for path in files if name in path.read_bytes())


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


# the file that comes to name the entry, and how
TRACES: dict[str, Callable[[StoreBox], None]] = {
    "folds.jsonl": lambda box: None,
    "journal.wal.damaged-1": lambda box: append(
        box.own / "journal.wal.damaged-1", b'half a record of "p:leak"'
    ),
    "usage.json.damaged": lambda box: append(box.own / "usage.json.damaged", b'{"p:leak":'),
    "archive.jsonl": lambda box: append(box.folder / "archive.jsonl", b'{"id":"p:leak", torn\n'),
    "conflicts.jsonl": lambda box: append(box.own / "conflicts.jsonl", b'{"id":"p:leak", torn\n'),
    "kept-lines.jsonl": lambda box: append(
        box.own / "kept-lines.jsonl", line_of(statement("leak", "kept")) + b"\n"
    ),
}


@pytest.mark.parametrize("place", TRACES)
def test_an_erased_entry_is_named_in_no_file_of_its_store(tmp_store: StoreBox, place: str) -> None:
    tmp_store.put(statement("leak", "one"), statement("other", "two"))
    tmp_store.fold()
    tmp_store.edit(lambda data: data.replace(b"one", b"by hand"))
    tmp_store.store.reload()
    tmp_store.fold()
    TRACES[place](tmp_store)
    assert place in files_with(tmp_store.folder, b"p:leak")

    tmp_store.store.eraser.erase("p:leak", tmp_store.origin("eraseEntry"))

    assert files_with(tmp_store.folder, b"p:leak") == []
    assert "entries.jsonl" in files_with(tmp_store.folder, b"p:other")
