"""The indexes of a store: in step with its entries, whatever happened to store and disk."""

from pathlib import Path

from qms.domain.limits import DEFAULT_LIMITS
from qms.inference.hash_embedder import HashEmbedder
from qms.search.pipeline import Models, search
from qms.search.query import SearchQuery
from qms.search.sources import Source
from qms.store.indexes import StoreIndexes
from tests.support.boxes import NOW, StoreBox, statement

EMBEDDER = HashEmbedder()
FOLDER = "indexes"


def made(box: StoreBox) -> StoreIndexes:
    indexes = StoreIndexes(box.store, box.folder / FOLDER, box.disk)
    indexes.build(EMBEDDER)
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
        superseded=indexes.superseded(),
    )
    found = search(
        [source], SearchQuery(text=text), models=Models(), limits=DEFAULT_LIMITS, now=NOW
    )
    return [result.id.partition(":")[2] for result in found.results]


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
