"""A cross-encoder from a path in the TOML, real files and all: with it, without it, broken."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.house import CONFIGURATION, Clock, Door, House
from tests.support.reranker_files import write_reranker

SETTING = '[global.reranker]\nmodel = "models/reranker.onnx"\n'

MakeHouse = Callable[[], Door]


@pytest.fixture
def open_house(tmp_path: Path, clock: Clock) -> Iterator[MakeHouse]:
    """Open a house whose TOML names the reranker, and fill it."""
    houses = []

    def opened() -> Door:
        house = House(tmp_path, clock, text=SETTING + CONFIGURATION)
        houses.append(house)
        door = house.door("writer")
        for entry_id, text in (
            ("often", "seven seven seven seven"),
            ("both", "a ferry of the line that everybody here knows leaves the pier at seven"),
        ):
            door("upsertEntry", entry={"id": entry_id, "kind": "note", "body": text})
        return door

    yield opened
    for house in houses:
        house.close()


def search(door: Door, **query: Any) -> dict[str, Any]:
    wanted = {"text": "ferry seven", **query}
    answer: dict[str, Any] = door("searchEntries", query=wanted)
    return answer


def reasons(answer: dict[str, Any]) -> dict[str, str]:
    return {one["stage"]: one["reason"] for one in answer["skipped"]}


def test_the_model_has_its_say(tmp_path: Path, open_house: MakeHouse) -> None:
    write_reranker(tmp_path / "models")

    answer = search(open_house(), explain=True)

    first, second = answer["results"]
    assert first["entry"]["id"] == "projA:both"
    assert first["scores"]["rerank"] > second["scores"]["rerank"] > 0.5
    assert "rerank" in {stage["stage"] for stage in first["explanation"]["stages"]}
    assert "rerank" not in reasons(answer)


def test_a_profile_may_do_without_it(tmp_path: Path, open_house: MakeHouse) -> None:
    write_reranker(tmp_path / "models")

    answer = search(open_house(), profile="aiMemory")

    assert reasons(answer)["rerank"] == "the profile does not use it"


@pytest.mark.parametrize("damage", ["missing", "broken"])
def test_without_a_usable_file_search_goes_on_and_both_answers_say_so(
    tmp_path: Path, open_house: MakeHouse, damage: str
) -> None:
    if damage == "broken":
        write_reranker(tmp_path / "models").write_bytes(b"no graph")
    door = open_house()

    answer = search(door)
    problems = door("health")["problems"]

    assert len(answer["results"]) == 2
    assert reasons(answer)["rerank"].startswith("reranker.onnx ")
    assert [one["code"] for one in problems if one["code"] == "reranker"] == ["reranker"]


def test_no_model_asked_for_is_no_problem(as_reader: Door) -> None:
    assert reasons(search(as_reader))["rerank"] == "no reranker is configured"
    assert as_reader("health")["problems"] == []
