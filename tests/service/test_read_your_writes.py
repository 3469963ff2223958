"""A keyword search sees what was acknowledged just before it, while the librarian commits."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from qms.app.build import open_root
from qms.commands.gate import Gate
from qms.disk.disk import Disk
from qms.index.words.keyword_index import KeywordIndex
from qms.memory.access import AccessTier, Caller
from tests.support.house import CONFIGURATION

RACES = 1_000
WRITERS = 4
DELETED_EVERY = 4
SOMEBODY = Caller(user="somebody", access=AccessTier.ADMIN)


class House:
    """A root whose librarian never stops committing."""

    def __init__(self, services: Gate) -> None:
        self._services = services

    def call(self, command: str, **request: Any) -> Any:
        return self._services.call(SOMEBODY, "projA", command, request)

    def finds(self, word: str) -> set[str]:
        found = self.call("searchEntries", query={"text": word, "includeShared": False})
        return {one.entry.id for one in found.results}


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    monkeypatch.setattr("qms.index.indexer.QUIET_S", 0.0)
    monkeypatch.setattr("qms.index.store_indexes.COST_FACTOR", 0)
    (tmp_path / "QuickMemoryServer.toml").write_text(CONFIGURATION, encoding="utf-8")
    opened = open_root(tmp_path, disk=Disk(), clock=lambda: datetime.now(UTC))
    try:
        yield House(opened.runtime.gate())
    finally:
        opened.close()


def missed(house: House, numbers: range) -> list[str]:
    """Write, and look at once; now and then delete, and look again."""
    wrong = []
    for number in numbers:
        word, entry_id = f"zebra{number}x", f"projA:race-{number}"
        house.call("upsertEntry", entry={"id": entry_id, "kind": "note", "body": f"a {word} b"})
        if entry_id not in house.finds(word):
            wrong.append(f"{entry_id} is not found")
        if number % DELETED_EVERY == 0:
            house.call("deleteEntry", id=entry_id)
            if entry_id in house.finds(word):
                wrong.append(f"{entry_id} is deleted and found")
    return wrong


def test_a_search_sees_every_upsert_and_deletion_acknowledged_just_before(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits = threading.Semaphore(0)
    commit = KeywordIndex.commit

    def counted(index: KeywordIndex, *given: Any, **named: Any) -> None:
        commit(index, *given, **named)
        commits.release()

    monkeypatch.setattr(KeywordIndex, "commit", counted)
    house.finds("anything")
    share = RACES // WRITERS
    with ThreadPoolExecutor(WRITERS) as pool:
        parts = [range(start, start + share) for start in range(0, RACES, share)]
        wrong = [
            one for found in pool.map(lambda part: missed(house, part), parts) for one in found
        ]

    assert wrong == []
    assert all(commits.acquire(timeout=30) for _ in range(5))  # the race had two sides


def test_an_expired_entry_never_appears(house: House) -> None:
    past = "2020-01-01T00:00:00Z"
    for number in range(20):
        entry = {"id": f"old-{number}", "kind": "note", "body": "ancient walrus", "ttlUtc": past}
        house.call("bulkImport", entries=[entry])
        assert house.finds("walrus") == set()
