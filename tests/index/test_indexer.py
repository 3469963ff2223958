"""The library: indexes of every store, one thread, no store in the way of another."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from qms.index.indexer import EMBED_ENTRIES, RETRY_S, Indexer
from qms.index.priority import ENTRIES_A_STOP
from qms.memory.errors import UnavailableError
from qms.models.choose import Chosen, EmbedderKind, open_embedder
from qms.models.hash_embedder import HashEmbedder
from qms.store.memory_store import MemoryStore
from qms.store.options import VectorStatus
from tests.support.boxes import NOW, PROJECT, StoreBox, statement


def hashes() -> Chosen:
    return open_embedder("hash", [])


def filled(folder: Path, *locals_: str, project: str = PROJECT) -> MemoryStore:
    box = StoreBox(folder, project=project)
    for local in locals_:
        box.put(statement(local, f"text of {local}", id=f"{project}:{local}"))
    return box.store


def test_what_waits_is_embedded_a_few_entries_at_a_time(tmp_path: Path) -> None:
    store = filled(tmp_path / "p", *(f"e{number}" for number in range(40)))
    indexer = Indexer(hashes, StoreBox(tmp_path / "q").disk)
    indexer.add(store, tmp_path / "p" / "indexes")

    waits = [indexer.work()]
    first = indexer.backlog(store.project)
    while indexer.backlog(store.project):
        waits.append(indexer.work())

    assert 0 < first < 40
    assert waits[0] == 0.0
    assert waits[-1] > 0.0


class TimedEmbedder(HashEmbedder):
    """Moves a clock by two seconds with every batch."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.now += 2.0
        return super().embed(texts)


def test_the_time_that_vectors_take_is_told_by_the_measured_rate(tmp_path: Path) -> None:
    """Two stores take turns: what the smaller one waits for is not the larger one's whole rest."""
    embedder = TimedEmbedder()
    small = filled(tmp_path / "a", *(f"e{n}" for n in range(EMBED_ENTRIES + 16)))
    large = filled(tmp_path / "b", *(f"e{n}" for n in range(EMBED_ENTRIES + 64)), project="other")
    indexer = Indexer(
        lambda: Chosen(embedder=embedder, kind=EmbedderKind.HASH),
        StoreBox(tmp_path / "q").disk,
        monotonic=lambda: embedder.now,
    )
    for store, folder in ((small, "a"), (large, "b")):
        indexer.add(store, tmp_path / folder / "indexes")
        assert indexer.vectors(store.project) is None

    indexer.work()

    first, second = indexer.vectors(small.project), indexer.vectors(large.project)
    assert first == VectorStatus(done=EMBED_ENTRIES, total=EMBED_ENTRIES + 16, seconds_left=2)
    assert second == VectorStatus(done=EMBED_ENTRIES, total=EMBED_ENTRIES + 64, seconds_left=5)
    while indexer.backlog(large.project):
        indexer.work()
    done = indexer.vectors(large.project)
    assert done is not None
    assert (done.missing, done.seconds_left) == (0, 0)


def test_claims_are_read_a_few_at_a_time_while_searches_come(tmp_path: Path) -> None:
    store = filled(tmp_path / "p", *(f"e{number}" for number in range(3 * ENTRIES_A_STOP)))
    indexer = Indexer(hashes, StoreBox(tmp_path / "q").disk, monotonic=lambda: 0.0)
    indexer.add(store, tmp_path / "p" / "indexes")
    claims = indexer.claims(store.project)
    assert claims is not None

    with indexer.priority.first():
        indexer.work()
    assert claims.unread == 2 * ENTRIES_A_STOP

    quiet = Indexer(hashes, StoreBox(tmp_path / "r").disk, monotonic=lambda: 0.0)
    quiet.add(store, tmp_path / "p" / "indexes")
    quiet.work()
    read = quiet.claims(store.project)
    assert read is not None
    assert read.unread == 0


@pytest.mark.fault("F25")
def test_a_store_without_room_for_indexes_leaves_those_of_others_alone(tmp_path: Path) -> None:
    broken, whole = filled(tmp_path / "a", "x"), filled(tmp_path / "b", "y", project="other")
    indexer = Indexer(hashes, StoreBox(tmp_path / "q").disk, monotonic=lambda: 0.0)
    in_the_way = tmp_path / "a" / "indexes"
    in_the_way.write_text("a file where a folder should be", encoding="utf-8")
    indexer.add(broken, in_the_way)
    indexer.add(whole, tmp_path / "b" / "indexes")

    assert indexer.work() == RETRY_S

    assert [one.code for one in indexer.problems(broken.project)] == ["indexes", "indexesInMemory"]
    assert indexer.problems(whole.project) == []
    assert indexer.backlog(whole.project) == 0
    assert indexer.source(broken, now=NOW, with_superseded=False).view is broken.view
    assert indexer.source(whole, now=NOW, with_superseded=False).vectors


@pytest.mark.fault("F25")
def test_indexes_that_cannot_be_made_rest_while_other_stores_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = filled(tmp_path / "a", "x")
    whole = filled(tmp_path / "b", *(f"e{number}" for number in range(40)), project="other")
    now = [0.0]
    indexer = Indexer(hashes, StoreBox(tmp_path / "q").disk, monotonic=lambda: now[0])
    indexer.add(broken, tmp_path / "a" / "indexes")
    indexer.add(whole, tmp_path / "b" / "indexes")
    with monkeypatch.context() as patch:
        patch.setattr(broken, "in_file_order", None)
        indexer.work()
    indexer.work()

    with pytest.raises(UnavailableError, match="cannot be built"):
        indexer.source(broken, now=NOW, with_superseded=False)
    now[0] = RETRY_S
    indexer.work()
    assert indexer.source(broken, now=NOW, with_superseded=False).vectors


def test_entries_that_are_gone_do_not_stay_in_the_indexes(tmp_path: Path) -> None:
    box = StoreBox(tmp_path / "p")
    box.put(statement("gone", "to be removed"), statement("stays", "an entry that stays"))
    indexer = Indexer(hashes, box.disk)
    indexer.add(box.store, tmp_path / "indexes")
    indexer.work()
    for round_ in range(5):
        names = [f"{round_}-{number}" for number in range(1000)]
        box.put(*(statement(name, "short-lived") for name in names))
        box.remove(*names)
    box.remove("gone")

    indexer.work()

    source = indexer.source(box.store, now=NOW, with_superseded=False)
    assert source.vectors is not None
    assert source.vectors.ids() == ["p:stays"]
    assert len(source.columns.slots) == 1
    box.put(statement("new", "an entry that comes later"))
    indexer.work()
    assert set(source.vectors.ids()) == {"p:stays", "p:new"}


def test_a_search_that_finds_no_indexes_says_what_to_do(tmp_path: Path) -> None:
    indexer = Indexer(hashes, StoreBox(tmp_path / "q").disk)

    with pytest.raises(UnavailableError, match="try again"):
        indexer.source(filled(tmp_path / "a", "x"), now=NOW, with_superseded=False)


def test_a_vector_that_came_with_an_entry_is_used_if_it_fits(tmp_path: Path) -> None:
    box = StoreBox(tmp_path / "p")
    box.put(statement("fits", "nothing alike", embedding=[1.0, *[0.0] * 383]))
    box.put(statement("short", "nothing alike either", embedding=[1.0, 2.0]))
    box.put(statement("zeros", "nothing at all", embedding=[0.0] * 384))
    indexer = Indexer(hashes, box.disk)
    indexer.add(box.store, tmp_path / "indexes")

    indexer.work()

    vectors = indexer.source(box.store, now=NOW, with_superseded=False).vectors
    assert vectors is not None
    assert len(vectors) == 3
    assert vectors.search([1.0, *[0.0] * 383], 1)[0][0].endswith(":fits")
