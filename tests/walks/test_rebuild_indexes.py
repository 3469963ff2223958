"""rebuildIndexes and what health says of indexes, through the real application."""

import pytest

from tests.support.house import Door, House


def indexes(door: Door) -> dict[str, object]:
    (found,) = [store for store in door("health")["stores"] if store["name"] == "projA"]
    status = found["indexes"]
    assert isinstance(status, dict)
    return status


def test_a_rebuild_is_queued_and_done_in_the_background(house: House, as_admin: Door) -> None:
    as_admin("upsertEntry", entry={"id": "a", "kind": "note", "body": "An apple a day"})
    house.indexer.work()
    before = indexes(as_admin)
    assert (before["state"], before["rebuilds"]) == ("ready", 0)

    answer = as_admin("rebuildIndexes", vectors=True)

    assert answer == {"queued": True, "vectors": True, "rebuild": 1}
    assert indexes(as_admin)["state"] == "rebuilding"
    found = as_admin("searchEntries", query={"text": "apple"})["results"]
    assert [one["entry"]["id"] for one in found] == ["projA:a"]
    house.indexer.work()
    after = indexes(as_admin)
    assert (after["state"], after["rebuilds"]) == ("ready", 1)
    assert (after["done"], after["total"]) == (1, 1)


def test_a_panic_of_a_search_has_the_indexes_made_anew(
    house: House, as_admin: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_admin("upsertEntry", entry={"id": "a", "kind": "note", "body": "An apple a day"})
    house.indexer.work()

    class PanicException(BaseException):
        pass

    def failing(*_given: object, **_named: object) -> None:
        raise PanicException

    with monkeypatch.context() as patch:
        patch.setattr("qms.index.words.keyword_index.KeywordIndex.find", failing)
        failure = as_admin.fails("searchEntries", query={"text": "apple"})

    assert failure.code == "unavailable"
    assert "indexesDoubtful" in {one["code"] for one in as_admin("health")["problems"]}
    house.indexer.work()
    assert as_admin("searchEntries", query={"text": "apple"})["results"]
    codes = {one["code"] for one in as_admin("health")["problems"]}
    assert "indexesDoubtful" not in codes
