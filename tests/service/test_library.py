"""The library: indexes of every store, one thread, no store in the way of another."""

from pathlib import Path

import pytest

from qms.domain.errors import UnavailableError
from qms.inference.choose import Chosen, open_embedder
from qms.service.library import RETRY_S, Library
from qms.service.precedence import PAUSE_S
from qms.store.memory_store import MemoryStore
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
    library = Library(hashes, StoreBox(tmp_path / "q").disk)
    library.add(store, tmp_path / "p" / "indexes")

    waits = [library.work()]
    first = library.backlog(store.project)
    while library.backlog(store.project):
        waits.append(library.work())

    assert 0 < first < 40
    assert waits[0] == 0.0
    assert waits[-1] > 0.0


def test_an_import_that_is_alone_is_indexed_after_it(tmp_path: Path) -> None:
    store = filled(tmp_path / "p", "e1", "e2")
    library = Library(hashes, StoreBox(tmp_path / "q").disk, monotonic=lambda: 0.0)
    library.add(store, tmp_path / "p" / "indexes")

    with library.precedence.importing():
        assert library.work() == library.write_words() == PAUSE_S
        assert not library.is_made(store.project)
        with library.precedence.first():
            library.work()

    assert library.is_made(store.project)


@pytest.mark.fault("F25")
def test_a_store_without_room_for_indexes_leaves_those_of_others_alone(tmp_path: Path) -> None:
    broken, whole = filled(tmp_path / "a", "x"), filled(tmp_path / "b", "y", project="other")
    library = Library(hashes, StoreBox(tmp_path / "q").disk, monotonic=lambda: 0.0)
    in_the_way = tmp_path / "a" / "indexes"
    in_the_way.write_text("a file where a folder should be", encoding="utf-8")
    library.add(broken, in_the_way)
    library.add(whole, tmp_path / "b" / "indexes")

    assert library.work() == RETRY_S

    assert [one.code for one in library.problems(broken.project)] == ["indexes", "indexesInMemory"]
    assert library.problems(whole.project) == []
    assert library.backlog(whole.project) == 0
    assert library.source(broken, now=NOW, with_superseded=False).view is broken.view
    assert library.source(whole, now=NOW, with_superseded=False).vectors


@pytest.mark.fault("F25")
def test_indexes_that_cannot_be_made_rest_while_other_stores_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = filled(tmp_path / "a", "x")
    whole = filled(tmp_path / "b", *(f"e{number}" for number in range(40)), project="other")
    now = [0.0]
    library = Library(hashes, StoreBox(tmp_path / "q").disk, monotonic=lambda: now[0])
    library.add(broken, tmp_path / "a" / "indexes")
    library.add(whole, tmp_path / "b" / "indexes")
    with monkeypatch.context() as patch:
        patch.setattr(broken, "in_file_order", None)
        library.work()
    library.work()

    with pytest.raises(UnavailableError, match="cannot be made"):
        library.source(broken, now=NOW, with_superseded=False)
    now[0] = RETRY_S
    library.work()
    assert library.source(broken, now=NOW, with_superseded=False).vectors


def test_entries_that_are_gone_do_not_stay_in_the_indexes(tmp_path: Path) -> None:
    box = StoreBox(tmp_path / "p")
    box.put(statement("gone", "to be removed"), statement("stays", "an entry that stays"))
    library = Library(hashes, box.disk)
    library.add(box.store, tmp_path / "indexes")
    library.work()
    for round_ in range(5):
        names = [f"{round_}-{number}" for number in range(1000)]
        box.put(*(statement(name, "short-lived") for name in names))
        box.remove(*names)
    box.remove("gone")

    library.work()

    source = library.source(box.store, now=NOW, with_superseded=False)
    assert source.vectors is not None
    assert source.vectors.ids() == ["p:stays"]
    assert len(source.columns.slots) == 1
    box.put(statement("new", "an entry that comes later"))
    library.work()
    assert set(source.vectors.ids()) == {"p:stays", "p:new"}


def test_a_search_that_finds_no_indexes_says_what_to_do(tmp_path: Path) -> None:
    library = Library(hashes, StoreBox(tmp_path / "q").disk)

    with pytest.raises(UnavailableError, match="try again"):
        library.source(filled(tmp_path / "a", "x"), now=NOW, with_superseded=False)


def test_a_vector_that_came_with_an_entry_is_used_if_it_fits(tmp_path: Path) -> None:
    box = StoreBox(tmp_path / "p")
    box.put(statement("fits", "nothing alike", embedding=[1.0, *[0.0] * 383]))
    box.put(statement("short", "nothing alike either", embedding=[1.0, 2.0]))
    box.put(statement("zeros", "nothing at all", embedding=[0.0] * 384))
    library = Library(hashes, box.disk)
    library.add(box.store, tmp_path / "indexes")

    library.work()

    vectors = library.source(box.store, now=NOW, with_superseded=False).vectors
    assert vectors is not None
    assert len(vectors) == 3
    assert vectors.search([1.0, *[0.0] * 383], 1)[0][0].endswith(":fits")
