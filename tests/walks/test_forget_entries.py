"""forgetEntries and the census, through the application."""

from typing import Any

import pytest

from qms.features.archive import forget
from qms.store.view import Record
from tests.conftest import EntryMaker
from tests.support.house import Clock, Door, House


@pytest.fixture
def three(as_admin: Door, entry: EntryMaker) -> list[str]:
    entries = [
        entry(title="Deprecated API of the parser", tags=["old"], namespace="a"),
        entry(title="The API that lives", namespace="a", retention="short"),
        entry(title="Straßenbahn 東京", body="deprecated in part", namespace="b"),
    ]
    return [as_admin("upsertEntry", entry=one)["id"] for one in entries]


def forgotten(door: Door, **request: Any) -> list[str]:
    found: list[str] = door("forgetEntries", **request)["ids"]
    return found


def test_all_words_of_a_pattern_must_be_there_wherever_they_stand(
    as_writer: Door, three: list[str]
) -> None:
    dry = {"dryRun": True}

    assert forgotten(as_writer, pattern="api DEPRECATED", **dry) == [three[0]]
    assert set(forgotten(as_writer, pattern="deprecated", **dry)) == {three[0], three[2]}
    assert forgotten(as_writer, pattern="strassenbahn 東京", **dry) == [three[2]]
    assert forgotten(as_writer, pattern="old", **dry) == [three[0]]
    assert forgotten(as_writer, pattern="deprec", **dry) == []


def test_pattern_filter_and_ids_hold_together(as_writer: Door, three: list[str]) -> None:
    answer = as_writer("forgetEntries", pattern="api", filter={"retention": "short"})

    assert answer == {
        "forgotten": 1,
        "ids": [three[1]],
        "notAllowed": [],
        "changed": [],
        "undoId": answer["undoId"],
        "dryRun": False,
    }
    assert forgotten(as_writer, ids=[three[0], three[2]], filter={"namespace": "b"}) == [three[2]]
    assert as_writer("listEntries", include="ids")["items"] == [{"id": three[0]}]


def test_the_forgotten_are_in_the_archive(as_writer: Door, three: list[str]) -> None:
    as_writer("forgetEntries", pattern="lives")

    listed = as_writer("listArchive", filter={"reason": "forgotten"})["items"]
    assert [one["id"] for one in listed] == [three[1]]


TEXT = "# Opening\n\nA plain beginning.\n\n# Animals\n\n" + "The zebra has stripes. " * 60
"""A document whose second half has words that its summary lacks."""


@pytest.mark.parametrize("is_dry", [True, False])
def test_a_chunk_with_the_words_stays_with_its_document_and_is_named(
    as_writer: Door, entry: EntryMaker, is_dry: bool
) -> None:
    options = {"chunkSize": 100, "summary": False}
    stored = as_writer("storeDocument", content=TEXT, id="doc", title="Doc", options=options)
    note = as_writer("upsertEntry", entry=entry(body="a zebra"))["id"]
    answer = as_writer("forgetEntries", pattern="zebra", dryRun=is_dry)

    assert answer["ids"] == [note]
    assert answer["notAllowed"]
    assert set(answer["notAllowed"]) <= set(stored["chunkIds"])
    assert as_writer("getDocument", id="doc", include="text")["text"] == TEXT


@pytest.mark.parametrize("is_dry", [True, False])
def test_a_chunk_goes_with_its_document(as_writer: Door, is_dry: bool) -> None:
    stored = as_writer("storeDocument", content=TEXT, id="doc", title="Zebra")
    every = {"kinds": ["document", "chunk"]}
    answer = as_writer("forgetEntries", filter=every, dryRun=is_dry)

    assert (answer["ids"], answer["notAllowed"]) == ([stored["id"]], [])
    if not is_dry:
        assert as_writer("listEntries", filter=every)["items"] == []


def test_the_text_of_an_entry_is_not_read_again_inside_the_writer(
    as_writer: Door, three: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    read = forget._words_of

    def watched(record: Record) -> frozenset[str]:
        seen.append(record.header.id)
        return read(record)

    monkeypatch.setattr(forget, "_words_of", watched)
    assert as_writer("forgetEntries", pattern="deprecated")["forgotten"] == 2
    assert sorted(seen) == sorted(three)


def test_a_dry_run_forgets_nothing(house: House, as_writer: Door, three: list[str]) -> None:
    before = house.store().view
    assert forgotten(as_writer, filter={"namespace": "a"}, dryRun=True) == sorted(three[:2])

    assert house.store().view is before


@pytest.mark.parametrize("request_", [{}, {"filter": {}}, {"pattern": "…"}, {"ids": []}])
def test_nothing_forgets_everything(as_admin: Door, request_: dict[str, Any]) -> None:
    assert as_admin.fails("forgetEntries", **request_).code == "invalidInput"


def test_what_the_caller_may_not_delete_stays_and_is_named(
    as_admin: Door, as_writer: Door, three: list[str]
) -> None:
    as_admin("patchEntry", id=three[0], patch={"curationTier": "canonical"})
    answer = as_writer("forgetEntries", filter={"namespace": "a"})

    assert (answer["ids"], answer["notAllowed"]) == ([three[1]], [three[0]])


def test_a_permanent_entry_is_never_forgotten(as_admin: Door, three: list[str]) -> None:
    as_admin("patchEntry", id=three[2], patch={"isPermanent": True})
    answer = as_admin("forgetEntries", filter={"namespace": "b"})

    assert (answer["ids"], answer["notAllowed"]) == ([], [three[2]])


def test_all_of_it_is_one_change(house: House, as_writer: Door, three: list[str]) -> None:
    before = house.store().view.sequence
    as_writer("forgetEntries", filter={"namespace": "a"})

    assert house.store().view.sequence == before + 1


def test_stats_count_what_there_is(
    as_admin: Door, as_reader: Door, three: list[str], entry: EntryMaker, clock: Clock
) -> None:
    as_admin("linkEntries", sourceId=three[0], targetId=three[1])
    as_admin("patchEntry", id=three[2], patch={"curationTier": "curated"})
    as_admin("upsertEntry", entry=entry(kind="fact", body="short lived", ttlSeconds=60))
    clock.move(seconds=60)
    found = as_reader("stats")

    assert (found["entries"], found["expired"], found["expiringSoon"]) == (3, 1, 1)
    assert found["byKind"] == {"fact": 3}
    assert found["byRetention"] == {"long": 2, "short": 1}
    assert found["byCurationTier"] == {"curated": 1, "provisional": 2}
    assert found["byNamespace"] == [
        {"namespace": "a", "count": 2},
        {"namespace": "b", "count": 1},
    ]
    assert (found["links"], found["archived"]) == (1, 0)
    assert found["oldestUtc"] == found["newestUtc"] == "2026-03-01T12:00:00.000Z"
    assert as_reader("namespaces")["namespaces"] == found["byNamespace"]


def test_an_empty_project_has_nothing_to_count(as_reader: Door) -> None:
    found = as_reader("stats")

    assert (found["entries"], found["oldestUtc"], found["byNamespace"]) == (0, None, [])
