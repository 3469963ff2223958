"""Columns on disk: of these lines or of none, and the same as if they were made."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qms.disk.disk import Disk
from qms.index.arrays import BoolArray
from qms.index.columns.column_file import ColumnFile, Marks
from qms.index.columns.columns import Columns
from qms.index.indexed_entry import IndexDocument
from qms.index.manifest import ManifestFile
from qms.memory.filters import Filter
from tests.support.index_documents import NOW, index_note
from tests.support.index_files import flip_byte

MARKS: Marks = np.array([7, 8, 9], np.uint64)
DOCUMENTS = [
    index_note("a", "one", tags=("x", "y"), pinned=True),
    index_note("b", "two", tags=("y",), priority=9, agent_id="cursor"),
    index_note("c", "three", ttl_utc=NOW + timedelta(days=1)),
]
FILTERS = [
    Filter(),
    Filter(tag="y"),
    Filter(pinned=True),
    Filter(min_priority=8),
    Filter(agent_id="cursor"),
    Filter(updated_after=NOW),
]


def column_file(folder: Path) -> ColumnFile:
    book = ManifestFile(folder / "manifest.json", Disk())
    return ColumnFile(folder / "columns.dat", Disk(), book)


def masks(columns: Columns, days: float = 0) -> list[list[bool]]:
    now = NOW + timedelta(days=days)
    found: list[BoolArray] = [columns.allowed(wanted, now=now) for wanted in FILTERS]
    return [mask.tolist() for mask in found]


def restored(folder: Path, documents: list[IndexDocument]) -> Columns:
    saved = column_file(folder).read(MARKS)
    assert saved is not None
    return Columns.restored(saved, [document.header for document in documents])


def turn(local: str, **body: Any) -> IndexDocument:
    return index_note(local, "said", conversation_id="talk", role="user", **body)


def test_restored_columns_answer_every_filter_as_those_that_were_saved(tmp_path: Path) -> None:
    made = Columns.of(DOCUMENTS)
    column_file(tmp_path).write(MARKS, made.saved())

    again = restored(tmp_path, DOCUMENTS)

    assert masks(again) == masks(made)
    assert masks(again, days=2) == masks(made, days=2)


def test_metadata_and_conversations_are_the_same_in_another_process(tmp_path: Path) -> None:
    documents = [
        turn("a", ordinal=3),
        turn("b", ordinal=1, metadata={"team": "core", "size": 1.0}),
        turn("c", ordinal=2),
    ]
    column_file(tmp_path).write(MARKS, Columns.of(documents).saved())

    again = restored(tmp_path, documents)

    assert again.turns("talk").tolist() == [1, 2, 0]
    assert again.roles(np.arange(3)) == ["user"] * 3
    wanted = Filter(metadata={"size": 1, "team": "core"})
    assert again.allowed(wanted, now=NOW).tolist() == [False, True, False]


def test_restored_columns_take_changes(tmp_path: Path) -> None:
    column_file(tmp_path).write(MARKS, Columns.of(DOCUMENTS).saved())
    again = restored(tmp_path, DOCUMENTS)

    again.remove("p:a")
    again.put(index_note("b", "two", tags=("z",)))
    again.put(index_note("d", "four", tags=("y",)))

    assert again.allowed(Filter(tag="y"), now=NOW).tolist() == [False, False, False, True]
    assert again.allowed(Filter(tag="z"), now=NOW).tolist() == [False, True, False, False]


def test_columns_are_saved_in_the_order_of_the_lines(tmp_path: Path) -> None:
    made = Columns.of([index_note("gone", "zero", tags=("y",)), *DOCUMENTS])
    made.remove("p:gone")
    lines = [DOCUMENTS[2], DOCUMENTS[0], DOCUMENTS[1]]
    arranged = made.arranged([one.id for one in lines])
    assert arranged is not None
    column_file(tmp_path).write(MARKS, arranged.saved())

    assert masks(restored(tmp_path, lines)) == masks(Columns.of(lines))
    assert made.arranged(["p:a", "p:b"]) is None
    assert made.arranged(["p:a", "p:b", "p:gone"]) is None


@pytest.mark.parametrize("other", [[7, 8], [8, 7, 9], [7, 8, 10], []])
def test_a_file_of_other_lines_is_not_used(tmp_path: Path, other: list[int]) -> None:
    column_file(tmp_path).write(MARKS, Columns.of(DOCUMENTS).saved())
    assert column_file(tmp_path).read(np.array(other, np.uint64)) is None


@pytest.mark.fault("F09")
def test_one_flipped_byte_makes_the_file_unused(tmp_path: Path) -> None:
    column_file(tmp_path).write(MARKS, Columns.of(DOCUMENTS).saved())
    path = tmp_path / "columns.dat"
    for at in range(0, path.stat().st_size, 97):
        flip_byte(path, at)
        assert column_file(tmp_path).read(MARKS) is None
        flip_byte(path, at)
    assert column_file(tmp_path).read(MARKS) is not None


def test_without_a_file_or_a_manifest_there_are_no_columns(tmp_path: Path) -> None:
    assert column_file(tmp_path).read(MARKS) is None
    column_file(tmp_path).write(MARKS, Columns.of(DOCUMENTS).saved())
    (tmp_path / "columns.dat").unlink()
    assert column_file(tmp_path).read(MARKS) is None
