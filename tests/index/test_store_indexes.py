"""The indexes of a store: in step with its entries, whatever happened to store and disk."""

import errno
import gc
import logging
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from qms.disk.disk import Disk, FileIdentity
from qms.index.index_files import WORDS_FOLDER, IndexFiles
from qms.index.indexed_entry import IndexDocument
from qms.index.sources import Source
from qms.index.store_indexes import LARGE, StoreIndexes
from qms.index.words import overlay
from qms.index.words.fields import FieldTokens
from qms.index.words.keyword_index import KeywordIndex
from qms.index.words.query_plan import analyse
from qms.index.words.segments import Segments, Tally, WriterDiedError
from qms.memory.changes import ChangeSet
from qms.memory.entry import Document
from qms.memory.filters import Filter
from qms.memory.limits import DEFAULT_LIMITS
from qms.models.hash_embedder import HashEmbedder
from qms.models.in_use import Models
from qms.search.pipeline import search
from qms.search.query import SearchQuery
from qms.store.draft import Draft
from tests.support.boxes import NOW, StoreBox, statement

EMBEDDER = HashEmbedder()
FOLDER = "indexes"


def made(box: StoreBox) -> StoreIndexes:
    indexes = StoreIndexes(box.store, box.folder / FOLDER, box.disk)
    indexes.make(EMBEDDER)
    return indexes


def stop(box: StoreBox, indexes: StoreIndexes) -> None:
    box.close()
    indexes.close()


def words(box: StoreBox, indexes: StoreIndexes, text: str) -> list[str]:
    """Return the local ids of the entries that have a word of the text."""
    built = indexes.wait(0)
    assert built is not None
    source = Source(
        view=box.store.view,
        columns=built.columns,
        keyword=built.keyword,
        superseded=box.store.superseded(NOW),
    )
    found = search(
        [source], SearchQuery(text=text), models=Models(), limits=DEFAULT_LIMITS, now=NOW
    )
    return [result.id.partition(":")[2] for result in found.results]


def many(word: str, count: int = LARGE) -> list[Document]:
    return [
        statement(f"{word}{number}", f"a {word} of number n{number}x") for number in range(count)
    ]


def waiting(indexes: StoreIndexes) -> int:
    built = indexes.wait(0)
    assert built is not None
    return built.keyword.pending


def test_a_large_import_is_in_the_keyword_files_before_it_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = StoreBox(tmp_path)
    indexes = made(box)
    box.put(*many("plum"))

    def refuse(_document: IndexDocument) -> FieldTokens:
        raise AssertionError("a search analyses an imported entry")

    monkeypatch.setattr(overlay, "field_tokens", refuse)
    assert waiting(indexes) == 0
    assert words(box, indexes, "n7x") == ["plum7"]
    stop(box, indexes)


def test_a_search_amid_a_large_import_sees_the_state_before_it(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    indexes = made(box)
    box.put(statement("plum7", "a pear of number n7x"))
    seen: list[list[str]] = []
    box.store.subscribe(lambda _sequence, _changes: seen.append(words(box, indexes, "n7x pear")))

    box.put(*many("plum"))

    assert seen == [["plum7"]]
    assert words(box, indexes, "pear") == []
    assert words(box, indexes, "n7x") == ["plum7"]
    stop(box, indexes)


def test_a_large_import_is_found_when_the_keyword_files_take_no_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = StoreBox(tmp_path)
    indexes = made(box)

    def full(*_given: object) -> Tally:
        raise WriterDiedError("disk full")

    monkeypatch.setattr(Segments, "write", full)
    box.put(*many("plum"))

    assert waiting(indexes) == LARGE
    assert words(box, indexes, "n7x") == ["plum7"]
    box.close()


def test_a_large_hand_edit_is_written_by_the_indexer(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    box.put(*many("plum"))
    box.store.fold()
    indexes = made(box)
    box.edit(lambda data: data.replace(b"a plum of", b"a cherry of"))
    box.store.reload()
    assert words(box, indexes, "cherry") == []

    indexes.settle_edit()

    assert waiting(indexes) == 0
    assert words(box, indexes, "n7x cherry")[0] == "plum7"
    stop(box, indexes)


def test_a_large_import_during_a_build_is_found_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = StoreBox(tmp_path)
    box.put(statement("a", "apple"))
    indexes = StoreIndexes(box.store, box.folder / FOLDER, box.disk)
    open_words = IndexFiles.open_words

    def slow(files: IndexFiles) -> KeywordIndex:
        box.put(*many("plum"))
        return open_words(files)

    with monkeypatch.context() as patch:
        patch.setattr(IndexFiles, "open_words", slow)
        indexes.make(EMBEDDER)

    assert words(box, indexes, "n7x") == ["plum7"]
    stop(box, indexes)


def lose_base_and_edit(box: StoreBox) -> None:
    (box.own / "base.jsonl").unlink()
    box.edit(lambda data: data.replace(b"apple", b"cherry"))


def test_words_are_those_of_the_file_after_the_base_was_lost(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    box.put(statement("a", "apple"), statement("b", "pear"))
    stop(box, made(box))
    lose_base_and_edit(box)

    indexes = made(box)

    assert words(box, indexes, "cherry") == ["a"]
    assert words(box, indexes, "apple") == []
    stop(box, indexes)


def test_a_start_without_searches_after_a_lost_base_leaves_no_old_words(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    box.put(statement("a", "apple"), statement("b", "pear"))
    stop(box, made(box))
    lose_base_and_edit(box)
    idle = StoreIndexes(box.store, box.folder / FOLDER, box.disk)
    stop(box, idle)

    indexes = made(box)

    assert words(box, indexes, "cherry") == ["a"]
    stop(box, indexes)


def test_the_words_of_an_empty_store_are_opened_and_not_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    box = StoreBox(tmp_path)
    stop(box, made(box))

    stop(box, made(box))

    assert [one.message for one in caplog.records if one.levelno >= logging.WARNING] == []


def test_words_of_entries_are_dropped_when_the_store_lost_everything(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    box.put(statement("a", "apple"))
    stop(box, made(box))
    for path in (box.folder / "entries.jsonl", *box.own.iterdir()):
        path.unlink()

    indexes = made(box)

    built = indexes.wait(0)
    assert built is not None
    assert built.keyword.search(analyse("apple")) == []
    stop(box, indexes)


class NoWords(Disk):
    """A disk on which the files of words cannot be summed while `is_failing`."""

    is_failing = False

    def identity(self, path: Path) -> FileIdentity | None:
        if self.is_failing and path.parent.name == WORDS_FOLDER:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().identity(path)


def test_vectors_are_saved_even_if_words_cannot_be(tmp_path: Path) -> None:
    disk = NoWords()
    box = StoreBox(tmp_path, disk=disk)
    indexes = made(box)
    box.put(statement("a", "apple"))
    indexes.embed(EMBEDDER, 10)
    disk.is_failing = True
    stop(box, indexes)
    disk.is_failing = False

    again = made(box)

    assert again.backlog == 0
    assert words(box, again, "apple") == ["a"]
    stop(box, again)


def test_changes_before_the_indexes_are_made_are_not_kept_for_them(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    indexes = StoreIndexes(box.store, box.folder / FOLDER, box.disk)
    for number in range(10):
        plan = partial(Draft.put, document=statement("a", f"apple {number}"))
        box.store.commit(box.origin("only here"), plan)
    box.fold()
    gc.collect()

    held = [
        one for one in gc.get_objects() if isinstance(one, ChangeSet) and one.command == "only here"
    ]

    assert held == []
    indexes.make(EMBEDDER)
    assert words(box, indexes, "apple") == ["a"]
    stop(box, indexes)


class NothingToSay(HashEmbedder):
    """An embedder for which a text with the word `silence` has no pieces."""

    before_embedding: Callable[[], None] = staticmethod(lambda: None)

    def pieces(self, text: str) -> list[str]:
        return [] if "silence" in text else super().pieces(text)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.before_embedding()
        return super().embed(texts)


def test_an_entry_with_nothing_left_to_embed_loses_its_old_vectors(tmp_path: Path) -> None:
    box, embedder = StoreBox(tmp_path), NothingToSay()
    indexes = made(box)
    box.put(statement("a", "apple"))
    indexes.embed(embedder, 10)
    box.put(statement("a", "silence"))

    assert indexes.embed(embedder, 10) == 0

    assert embedded_ids(indexes) == []
    stop(box, indexes)


def test_an_entry_that_gets_a_text_while_it_is_embedded_gets_vectors(tmp_path: Path) -> None:
    box, embedder = StoreBox(tmp_path), NothingToSay()
    indexes = made(box)
    box.put(statement("a", "silence"))
    embedder.before_embedding = lambda: box.put(statement("a", "apple"))

    assert indexes.embed(embedder, 10) == 1
    embedder.before_embedding = lambda: None
    assert indexes.embed(embedder, 10) == 0

    assert embedded_ids(indexes) == ["p:a"]
    stop(box, indexes)


def embedded_ids(indexes: StoreIndexes) -> list[str]:
    built = indexes.wait(0)
    assert built is not None
    assert built.vectors is not None
    return built.vectors.ids()


def test_a_text_without_direction_does_not_keep_others_from_their_vectors(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    indexes = made(box)
    assert not EMBEDDER.embed(["は"]).any()
    box.put(statement("a", "は", title="は"), statement("b", "pear"))

    assert indexes.embed(EMBEDDER, 10) == 0

    assert embedded_ids(indexes) == ["p:b"]
    stop(box, indexes)


def test_a_hand_edit_without_a_new_time_has_the_same_time_in_view_and_indexes(
    tmp_path: Path,
) -> None:
    box = StoreBox(tmp_path)
    indexes = made(box)
    box.put(statement("a", "apple"), statement("b", "apple"))
    box.fold()
    box.edit(lambda data: data.replace(b"apple", b"cherry", 1))
    box.store.reload()
    record, built = box.store.view.get("p:a"), indexes.wait(0)
    assert record is not None
    assert built is not None
    shown = record.header.timestamps.updated_utc
    assert shown > NOW

    since = Filter(updated_after=shown)
    slot = built.columns.slots.find("p:a")

    assert np.flatnonzero(built.columns.allowed(since, now=NOW)).tolist() == [slot]
    assert [one for one, _ in built.keyword.search(analyse("cherry apple"), since)] == ["p:a"]
    stop(box, indexes)


def test_after_a_start_words_have_the_time_that_the_view_has_then(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    indexes = made(box)
    box.put(statement("a", "apple"), statement("b", "apple"))
    box.fold()
    box.edit(lambda data: data.replace(b"apple", b"cherry", 1))
    box.store.reload()
    record = box.store.view.get("p:a")
    assert record is not None
    since = Filter(updated_after=record.header.timestamps.updated_utc)
    stop(box, indexes)

    again = made(box)

    record, built = box.store.view.get("p:a"), again.wait(0)
    assert record is not None
    assert built is not None
    is_shown = record.header.timestamps.updated_utc >= NOW
    found = [one for one, _ in built.keyword.search(analyse("cherry"), since)]
    assert found == (["p:a"] if is_shown else [])
    assert bool(built.columns.allowed(since, now=NOW).any()) is is_shown
    stop(box, again)


def test_a_start_reads_no_line_that_the_columns_on_disk_are_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = StoreBox(tmp_path)
    box.put(statement("a", "apple", tags=["fruit"]), statement("b", "pear"))
    stop(box, made(box))
    monkeypatch.setattr("qms.index.build.line_facets", None)

    indexes = made(box)

    built = indexes.wait(0)
    assert built is not None
    assert built.columns.allowed(Filter(tag="fruit"), now=NOW).tolist() == [True, False]
    stop(box, indexes)


def test_columns_are_made_anew_when_a_line_was_changed_meanwhile(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    box.put(statement("a", "apple", tags=["fruit"]), statement("b", "pear"))
    stop(box, made(box))
    box.edit(lambda data: data.replace(b'"fruit"', b'"round"'))

    indexes = made(box)

    built = indexes.wait(0)
    assert built is not None
    assert not built.columns.allowed(Filter(tag="fruit"), now=NOW).any()
    assert built.columns.allowed(Filter(tag="round"), now=NOW).tolist() == [True, False]
    stop(box, indexes)
