"""How many entries have vectors is told while some have none; the house embeds when it is told."""

from typing import Any

from qms.index.indexer import EMBED_ENTRIES
from tests.support.house import Door, House

MANY = EMBED_ENTRIES + 8


def fill(door: Door, entries: int = MANY) -> None:
    texts = [{"id": f"n{n}", "kind": "note", "body": f"lantern number {n}"} for n in range(entries)]
    door("bulkImport", entries=texts)


def search(door: Door, /, **query: Any) -> Any:
    return door("searchEntries", query={"text": "lantern", **query})


def vector_reasons(answer: Any) -> list[str]:
    return [one["reason"] for one in answer["skipped"] if one["stage"] == "vector"]


def test_a_search_before_any_vector_is_one_by_words_and_says_why(as_writer: Door) -> None:
    fill(as_writer)

    answer = search(as_writer)

    assert answer["mode"] == "keyword"
    assert vector_reasons(answer) == [f"{MANY} of {MANY} entries of projA wait for their vectors"]
    assert answer["vectors"] == {"done": 0, "total": MANY, "secondsLeft": None}


def test_a_search_amid_the_work_says_how_much_was_compared(house: House, as_writer: Door) -> None:
    fill(as_writer)
    search(as_writer)
    house.indexer.work()

    answer = search(as_writer)

    assert answer["mode"] == "keyword+hash"
    assert vector_reasons(answer) == [f"8 of {MANY} entries of projA wait for their vectors"]
    assert (answer["vectors"]["done"], answer["vectors"]["total"]) == (EMBED_ENTRIES, MANY)
    assert isinstance(answer["vectors"]["secondsLeft"], int)


def test_a_search_after_the_work_has_nothing_to_add(house: House, as_writer: Door) -> None:
    fill(as_writer)
    search(as_writer)
    house.indexer.work()
    house.indexer.work()

    answer = search(as_writer)

    assert (answer["mode"], vector_reasons(answer)) == ("keyword+hash", [])
    assert "vectors" not in answer


def test_a_filter_that_leaves_only_entries_without_vectors_makes_it_one_by_words(
    house: House, as_writer: Door
) -> None:
    fill(as_writer, 2)
    search(as_writer)
    house.indexer.work()
    as_writer("upsertEntry", entry={"id": "new", "kind": "fact", "body": "a lantern"})

    answer = search(as_writer, filter={"kind": "fact"})

    assert [one["entry"]["id"] for one in answer["results"]] == ["projA:new"]
    assert answer["mode"] == "keyword"
    assert search(as_writer)["mode"] == "keyword+hash"


def test_a_changed_entry_waits_for_vectors_of_its_new_text(house: House, as_writer: Door) -> None:
    fill(as_writer, 2)
    search(as_writer)
    house.indexer.work()
    as_writer("patchEntry", id="n0", patch={"body": "a torch"})

    answer = search(as_writer)

    assert vector_reasons(answer) == ["1 of 2 entries of projA wait for their vectors"]


def test_the_shared_store_counts_in_a_search_of_both(house: House, as_writer: Door) -> None:
    fill(as_writer, 2)
    fill(house.door("admin", "shared"), 3)

    both, own = search(as_writer), search(as_writer, includeShared=False)

    assert (both["vectors"]["total"], own["vectors"]["total"]) == (5, 2)
    assert len(vector_reasons(both)) == 2


def test_the_rows_of_recall_and_search_tell_it_too(house: House, as_writer: Door) -> None:
    fill(as_writer)
    search(as_writer)
    house.indexer.work()

    recalled = as_writer.send("recall", {"query": "lantern", "touch": False, "format": "toon"})
    rows = as_writer.send("searchEntries", {"query": {"text": "lantern"}, "format": "toon"})

    for answer in (recalled, rows):
        assert f"|vectors:{EMBED_ENTRIES}/{MANY}|" in answer.body.decode().partition("\n")[0]
