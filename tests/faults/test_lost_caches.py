"""Caches: any of them can be deleted, and no memory is lost."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from qms.config.root import OWN_FOLDER
from tests.support.feature_files import DECLARED, write_all
from tests.support.house import Clock, House

IDS = [f"projA:e{number}" for number in range(4)]

CACHES = [
    "indexes",
    f"{OWN_FOLDER}/usage.json",
    *(f"{OWN_FOLDER}/{kind.place}" for kind in DECLARED if kind.is_cache),
]
MEMORIES = [
    "archive.jsonl",
    f"{OWN_FOLDER}/changes.jsonl",
    *(f"{OWN_FOLDER}/{kind.place}" for kind in DECLARED if not kind.is_cache),
]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def folder(tmp_path: Path, clock: Clock) -> Path:
    """The folder of a store in which every cache has been written."""
    house = House(tmp_path, clock, feature_files=DECLARED)
    door = house.door("admin")
    for entry_id in IDS:
        door("upsertEntry", entry={"kind": "note", "id": entry_id, "body": f"{entry_id} parses"})
    door("deleteEntry", id=IDS[3])
    door("upsertEntry", entry={"kind": "note", "id": IDS[0], "body": "said anew"})
    door("recall", context="parses")
    door("summaries", ids=IDS[:2])
    write_all(house.store().features, IDS[1])
    house.close()
    return house.entries_file().parent


def memories(root: Path, clock: Clock) -> dict[str, Any]:
    """Open the root anew and return what it remembers."""
    house = House(root, clock, feature_files=DECLARED)
    door = house.door("admin")
    try:
        listed = door("listEntries")["items"]
        return {
            "entries": {one["id"]: door("getEntry", id=one["id"])["entry"] for one in listed},
            "archive": door("listArchive"),
            "history": {one: door("history", id=one) for one in IDS},
            "found": {one["entry"]["id"] for one in _found(door)},
            "files": house.store().features.saved(),
            "moves": (root / "MemoryStores/projA" / OWN_FOLDER / "moves.json").exists(),
        }
    finally:
        house.close()


def _found(door: Any) -> list[Any]:
    results: list[Any] = door("searchEntries", query={"text": "parses"})["results"]
    return results


def remove(path: Path) -> None:
    assert path.exists(), "the fixture above writes every cache"
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


@pytest.mark.parametrize("cache", CACHES)
def test_no_memory_is_lost_with_a_cache(
    folder: Path, tmp_path: Path, clock: Clock, cache: str
) -> None:
    before = memories(tmp_path, clock)
    remove(folder / cache)

    assert memories(tmp_path, clock) == before


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_file_that_is_no_cache_is_missed(
    folder: Path, tmp_path: Path, clock: Clock, memory: str
) -> None:
    before = memories(tmp_path, clock)
    remove(folder / memory)

    assert memories(tmp_path, clock) != before
