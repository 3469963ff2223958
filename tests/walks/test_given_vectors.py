"""Vectors that clients and people give with their entries: used, refused or reported."""

import json
from typing import Any

import pytest

from tests.support.house import Door, House

DIMENSION = 384
EAST = [0.0] * (DIMENSION - 1) + [2.0]
MISFITS: list[Any] = [[1.0, 2.0], [], [0.0] * DIMENSION, ["a"] * DIMENSION, [1e400] * DIMENSION]


def note(local_id: str, embedding: Any) -> dict[str, Any]:
    return {"id": local_id, "kind": "note", "body": "A plain text", "embedding": embedding}


def reported(door: Door) -> list[tuple[str, str, str]]:
    found = door("health")["problems"]
    return [(one["code"], one["project"], one["reason"]) for one in found]


def write_by_hand(house: House, *entries: dict[str, Any]) -> None:
    lines = "".join(json.dumps(one) + "\n" for one in entries)
    house.entries_file().parent.mkdir(parents=True, exist_ok=True)
    house.entries_file().write_text(lines, encoding="utf-8")


def test_a_vector_that_fits_is_kept_and_found_by(house: House, as_writer: Door) -> None:
    as_writer("upsertEntry", entry=note("a", EAST))
    as_writer("upsertEntry", entry={"id": "b", "kind": "note", "body": "Another text"})
    as_writer("searchEntries", query={"text": "text"})
    house.indexer.work()

    query = {"embedding": EAST, "explain": True}
    results = as_writer("searchEntries", query=query)["results"]

    assert results[0]["entry"]["id"] == "projA:a"
    assert results[0]["scores"]["vector"] == pytest.approx(1.0, abs=1e-3)
    assert as_writer("getEntry", id="a")["entry"]["embedding"] == EAST


@pytest.mark.attack(40)
@pytest.mark.parametrize("embedding", MISFITS)
def test_a_request_with_a_vector_that_does_not_fit_is_refused(
    as_writer: Door, embedding: list[Any]
) -> None:
    as_writer("upsertEntry", entry=note("a", EAST))

    upsert = as_writer.fails("upsertEntry", entry=note("b", embedding))
    patch = as_writer.fails("patchEntry", id="a", patch={"embedding": embedding})

    assert (upsert.status, upsert.code) == (patch.status, patch.code) == (400, "invalidInput")
    assert as_writer("getEntry", id="a")["entry"]["embedding"] == EAST
    assert as_writer.fails("getEntry", id="b").status == 404


@pytest.mark.attack(40)
def test_an_import_leaves_out_an_entry_whose_vector_does_not_fit(as_writer: Door) -> None:
    answer = as_writer("bulkImport", entries=[note("a", EAST), note("b", [1.0])])

    assert (answer["imported"], answer["skipped"]) == (1, 1)
    (error,) = answer["errors"]
    assert (error["index"], error["code"]) == (1, "invalidInput")
    assert f"has 1 numbers, the model's vectors have {DIMENSION}" in error["message"]


def test_a_line_with_a_vector_that_does_not_fit_is_loaded_and_reported(
    house: House, as_admin: Door
) -> None:
    house.store()
    write_by_hand(house, note("a", [1.0, 2.0]), note("b", EAST))
    as_admin("reloadStore")

    found = as_admin("searchEntries", query={"text": "plain text"})["results"]
    house.indexer.work()

    assert {one["entry"]["id"] for one in found} == {"projA:a", "projA:b"}
    ((code, project, reason),) = reported(as_admin)
    assert (code, project) == ("embedding", "projA")
    assert reason.startswith("projA:a: its vector is not used")
    assert [one["code"] for one in as_admin("listProblems")["items"]] == ["embedding"]
    assert as_admin("getEntry", id="a")["entry"]["embedding"] == [1.0, 2.0]


def test_a_vector_that_does_not_fit_is_reported_until_it_is_mended(
    house: House, as_admin: Door
) -> None:
    write_by_hand(house, note("a", [1.0]), note("b", [2.0]), note("c", [3.0]))
    as_admin("searchEntries", query={"text": "plain"})
    assert len(reported(as_admin)) == 3

    as_admin("patchEntry", id="a", patch={"embedding": None})
    as_admin("deleteEntry", id="b")
    write_by_hand(house, note("c", EAST))
    as_admin("reloadStore")

    assert reported(as_admin) == []
