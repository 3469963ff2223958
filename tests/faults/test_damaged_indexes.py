"""Index files that are damaged, gone, old or of another model: entries stay, search goes on."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from qms.index.columns.columns import Columns
from qms.index.indexer import MEMORY_RETRY_S, QUIET_S, Indexer
from qms.index.manifest import ManifestFile
from qms.index.store_indexes import COMMIT_FROM, SAVE_AFTER_S, StoreIndexes
from qms.index.words.keyword_index import KeywordIndex
from qms.index.words.query_plan import analyse
from qms.memory.changes import ChangeSet
from qms.models.choose import Chosen, EmbedderKind
from qms.models.hash_embedder import HashEmbedder
from tests.support.boxes import NOW, StoreBox, statement
from tests.support.index_files import change_manifest, flip_byte
from tests.support.mounts import read_only

WORDS = ("apple", "pear", "cherry")


class OtherModel(HashEmbedder):
    """The hash embedder under another name, or with fewer numbers."""

    def __init__(self, name: str, dimension: int) -> None:
        super().__init__()
        self._name = name
        self._cut = dimension

    @property
    def model_id(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        return self._cut

    def embed(self, texts: object) -> NDArray[np.float32]:
        whole = super().embed(texts)  # type: ignore[arg-type]  # as given
        return whole[:, : self._cut]


EMBEDDER = HashEmbedder()


def stored(tmp_path: Path) -> StoreBox:
    box = StoreBox(tmp_path)
    box.put(*(statement(word, f"an {word} a day") for word in WORDS))
    return box


def opened(box: StoreBox, embedder: HashEmbedder = EMBEDDER) -> StoreIndexes:
    indexes = StoreIndexes(box.store, box.folder / "indexes", box.disk)
    indexes.make(embedder)
    return indexes


def closed(box: StoreBox) -> list[Path]:
    """Write everything and return the index files."""
    indexes = opened(box)
    indexes.embed(EMBEDDER, 99)
    box.close()
    indexes.close()
    folder = box.folder / "indexes"
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]


def check_serving(box: StoreBox, indexes: StoreIndexes) -> None:
    """Every word is found where it is, whatever happened to files."""
    built = indexes.wait(0)
    assert built is not None
    for word in WORDS:
        assert [one for one, _ in built.keyword.search(analyse(word))] == [f"p:{word}"]
        assert box.get(word) == statement(word, f"an {word} a day")


@pytest.mark.fault("F09")
def test_one_flipped_byte_in_any_index_file_is_found_and_made_good(tmp_path: Path) -> None:
    box = stored(tmp_path)
    files = closed(box)
    names = {path.name for path in files}
    assert {"manifest.json", "vectors.dat", "columns.dat", "meta.json"} <= names
    entries = box.path.read_bytes()

    kept = tmp_path / "kept"
    shutil.copytree(box.folder / "indexes", kept)

    for path in files:
        for at in (0, path.stat().st_size // 2, -1) if path.stat().st_size else ():
            flip_byte(path, at)
            indexes = opened(box)
            check_serving(box, indexes)
            is_about_vectors = path.name in ("vectors.dat", "manifest.json")
            assert indexes.backlog == (3 if is_about_vectors else 0)
            box.crash()
            shutil.rmtree(box.folder / "indexes")
            shutil.copytree(kept, box.folder / "indexes")

    assert box.path.read_bytes() == entries
    again = opened(box)
    assert again.backlog == 0
    check_serving(box, again)
    box.close()


@pytest.mark.fault("F09")
def test_without_the_sums_a_flipped_byte_would_be_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = stored(tmp_path)
    vectors = next(path for path in closed(box) if path.name == "vectors.dat")
    flip_byte(vectors, -1)
    monkeypatch.setattr(
        "qms.index.vectors.vector_file.VectorFile._verified_size", lambda *given: len(given[1])
    )

    indexes = opened(box)

    assert indexes.backlog == 0
    box.close()


@pytest.mark.fault("F17")
@pytest.mark.parametrize("gone", ["", "manifest.json", "vectors.dat", "columns.dat", "tantivy"])
def test_what_was_deleted_is_made_again(tmp_path: Path, gone: str) -> None:
    box = stored(tmp_path)
    closed(box)
    target = box.folder / "indexes" / gone
    shutil.rmtree(target) if target.is_dir() else target.unlink()

    indexes = opened(box)

    check_serving(box, indexes)
    assert indexes.backlog == (0 if gone in ("tantivy", "columns.dat") else 3)
    box.close()


@pytest.mark.fault("F17")
@pytest.mark.parametrize("part", ["words", "vectors", "manifest"])
def test_an_older_format_is_made_anew(tmp_path: Path, part: str) -> None:
    box = stored(tmp_path)
    closed(box)
    path = box.folder / "indexes" / "manifest.json"
    change_manifest(path, lambda content: content.get(part, content).update(format=0))

    indexes = opened(box)

    check_serving(box, indexes)
    assert indexes.backlog == (0 if part == "words" else 3)
    box.close()


@pytest.mark.fault("F17")
@pytest.mark.parametrize(("name", "dimension"), [("other", 384), ("hash", 64)])
def test_another_model_embeds_again_while_words_are_found(
    tmp_path: Path, name: str, dimension: int
) -> None:
    box = stored(tmp_path)
    closed(box)
    other = OtherModel(EMBEDDER.model_id if name == "hash" else name, dimension)

    indexes = opened(box, other)

    assert indexes.backlog == 3
    check_serving(box, indexes)
    assert indexes.embed(other, 99) == 0
    box.close()
    indexes.close()
    same = opened(box, other)
    assert same.backlog == 0
    built = same.wait(0)
    assert built is not None
    assert built.vectors is not None
    assert (built.vectors.model_id, built.vectors.dimension) == (other.model_id, dimension)
    box.close()


def library_of(box: StoreBox, now: list[float]) -> Indexer:
    chosen = Chosen(embedder=EMBEDDER, kind=EmbedderKind.HASH)
    indexer = Indexer(lambda: chosen, box.disk, monotonic=lambda: now[0])
    indexer.add(box.store, box.folder / "indexes")
    return indexer


@pytest.mark.fault("F17")
def test_a_kill_costs_no_vectors_that_were_made_a_while_ago(tmp_path: Path) -> None:
    box, now = stored(tmp_path), [0.0]
    indexer = library_of(box, now)
    indexer.work()
    assert indexer.backlog("p") == 0

    box.crash()

    assert opened(box).backlog == 0
    box.close()


@pytest.mark.fault("F17")
def test_without_saves_in_between_a_kill_costs_all_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StoreIndexes, "save_vectors", lambda *_given, **_named: 1.0)
    test = test_a_kill_costs_no_vectors_that_were_made_a_while_ago

    with pytest.raises(AssertionError):
        test(tmp_path)


class PanicException(BaseException):
    """What a panic of a native library looks like: no Exception."""


@pytest.mark.parametrize("error", [RuntimeError, PanicException])
def test_an_index_that_fails_at_a_commit_fails_no_answer_and_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    box, now = stored(tmp_path), [0.0]
    indexer = library_of(box, now)
    indexer.work()

    def failing(*_given: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Columns, "apply", failing)
        box.put(statement("late", "a plum"))
    assert [one.code for one in indexer.problems("p")] == ["indexesDoubtful"]

    indexer.work()

    assert indexer.problems("p") == []
    source = indexer.source(box.store, now=NOW, with_superseded=False)
    assert [one for one, _ in source.keyword.search(analyse("plum"))] == ["p:late"]
    assert source.columns.slots.find("p:late") is not None
    box.close()


def test_a_listener_that_fails_is_reported_and_others_are_told(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    heard: list[int] = []

    def failing(_sequence: int, _changes: ChangeSet) -> None:
        raise PanicException

    box.store.subscribe(failing)
    box.store.subscribe(lambda sequence, _changes: heard.append(sequence))
    box.put(statement("a", "apple"))

    assert heard == [1]
    assert box.get("a") is not None
    assert ("listenerFailed", None) in box.codes()


def test_a_panic_while_words_are_written_does_not_end_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box, now = stored(tmp_path), [0.0]
    indexer = library_of(box, now)
    indexer.work()

    def failing(*_given: object) -> None:
        raise PanicException

    with monkeypatch.context() as patch:
        patch.setattr(KeywordIndex, "commit", failing)
        box.put(statement("late", "a plum"))
        now[0] = 100.0
        indexer.work()
    assert {one.code for one in indexer.problems("p")} == {"indexes", "indexesDoubtful"}

    now[0] = 200.0
    indexer.work()
    indexer.work()

    assert indexer.problems("p") == []
    source = indexer.source(box.store, now=NOW, with_superseded=False)
    assert [one for one, _ in source.keyword.search(analyse("plum"))] == ["p:late"]
    box.close()


def test_many_new_words_are_written_without_waiting_for_a_quiet_moment(tmp_path: Path) -> None:
    box, now = stored(tmp_path), [0.0]
    indexer = library_of(box, now)
    indexer.work()
    for number in range(COMMIT_FROM):
        box.put(statement(f"s{number}", "a plum"))
    source = indexer.source(box.store, now=NOW, with_superseded=False)
    assert source.keyword.pending == COMMIT_FROM

    indexer.work()

    assert source.keyword.pending == 0
    box.close()


def test_words_do_not_wait_for_ever_for_a_quiet_moment(tmp_path: Path) -> None:
    box, now = stored(tmp_path), [0.0]
    indexer = library_of(box, now)
    indexer.work()
    source = indexer.source(box.store, now=NOW, with_superseded=False)
    most = 0
    for number in range(100):  # never quiet
        now[0] += 0.5 * QUIET_S
        box.put(statement(f"s{number}", "a plum"))
        indexer.work()
        most = max(most, source.keyword.pending)

    assert most <= SAVE_AFTER_S / (0.5 * QUIET_S) + 2
    box.close()


@pytest.mark.fault("F09")
def test_files_that_are_spoiled_while_they_are_in_use_give_way_to_new_ones(tmp_path: Path) -> None:
    box, now = stored(tmp_path), [0.0]
    indexer = library_of(box, now)
    indexer.work()
    meta = box.folder / "indexes" / "tantivy" / "meta.json"
    meta.write_bytes(b"no longer what tantivy wrote")

    indexer.rebuild("p", vectors=False)
    indexer.work()

    assert indexer.problems("p") == []
    source = indexer.source(box.store, now=NOW, with_superseded=False)
    assert [one for one, _ in source.keyword.search(analyse("pear"))] == ["p:pear"]
    indexer.drop("p")
    box.close()
    again = opened(box)
    assert again.backlog == 0
    check_serving(box, again)
    box.close()


@pytest.mark.fault("F16")
@pytest.mark.needs("mount")
def test_words_are_kept_in_memory_while_the_folder_is_read_only(tmp_path: Path) -> None:
    box, now = stored(tmp_path), [0.0]
    box.reopen()
    folder = box.folder / "indexes"
    folder.mkdir()
    with read_only(folder):
        indexer = library_of(box, now)
        indexer.work()

        assert "indexesInMemory" in {one.code for one in indexer.problems("p")}
        source = indexer.source(box.store, now=NOW, with_superseded=False)
        assert [one for one, _ in source.keyword.search(analyse("pear"))] == ["p:pear"]
    for _ in range(3):
        now[0] += 10 * MEMORY_RETRY_S
        indexer.work()

    assert indexer.problems("p") == []
    assert ManifestFile(folder / "manifest.json", box.disk).words is not None
    indexer.drop("p")
    box.close()
    again = opened(box)
    assert again.backlog == 0
    check_serving(box, again)
    box.close()


@pytest.mark.fault("F16")
@pytest.mark.needs("mount")
def test_vectors_on_a_read_only_disk_are_read_though_words_cannot_be(tmp_path: Path) -> None:
    box = stored(tmp_path)
    closed(box)
    box.open()
    with read_only(box.folder / "indexes"):
        indexes = opened(box)
        # Tantivy opens nothing where it cannot make its lock.
        assert (indexes.backlog, indexes.in_memory) == (0, True)
        check_serving(box, indexes)
    box.close()
