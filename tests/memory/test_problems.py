from typing import Any

import msgspec
import pytest

from qms.memory.entry import CurationTier
from qms.memory.filters import Filter
from qms.memory.problems import MAX_PROBLEMS, nearest, problems_of, shape_of, told


class _Query(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    text: str
    max_results: int = 25
    filter: Filter | None = None


class _Request(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    query: _Query
    name: str
    ids: list[str] = []


def test_every_problem_is_told_with_its_field() -> None:
    given: dict[str, Any] = {
        "query": {"maxResults": "many", "filter": {"kinds": ["rumour"]}, "fitler": {}},
        "ids": ["a", 7],
        "colour": 1,
    }

    error = told(problems_of(given, _Request))

    assert [one["field"] for one in error.details["errors"]] == [
        "colour",
        "query.fitler",
        "query.text",
        "query.maxResults",
        "query.filter.kinds[0]",
        "name",
        "ids[1]",
    ]
    assert error.details["field"] == "colour"
    assert "query.text: is required; query.maxResults: expected `int`" in error.message


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (
            {"query": {"text": "a", "maxResult": 1}, "name": "n"},
            "is not known; did you mean maxResults? The fields are {text, maxResults?, filter?}",
        ),
        (
            {"query": {"text": "a"}, "name": "n", "zzz": 1},
            "is not known. The fields are {query, name, ids?}",
        ),
    ],
)
def test_an_unknown_key_names_the_nearest_ones_and_the_shape(
    given: dict[str, Any], reason: str
) -> None:
    (problem,) = problems_of(given, _Request)

    assert problem.reason == reason


def test_a_value_outside_an_enum_names_the_values() -> None:
    (problem,) = problems_of({"tier": "canon"}, Filter)

    assert problem.reason == (
        "'canon' is not one of provisional, curated, canonical; did you mean canonical?"
    )


class _Change(msgspec.Struct, rename="camel"):
    tier: CurationTier


class _Changes(msgspec.Struct, rename="camel"):
    changes: list[_Change]


def test_a_value_outside_an_enum_inside_a_list_names_the_values() -> None:
    (problem,) = problems_of({"changes": [{"tier": "golden"}]}, _Changes)

    assert problem.field == "changes[0].tier"
    assert problem.reason == "'golden' is not one of provisional, curated, canonical"


def test_few_of_many_problems_are_told() -> None:
    assert len(problems_of({f"k{n}": n for n in range(1000)}, _Request)) == MAX_PROBLEMS


def test_a_valid_object_has_no_problem() -> None:
    assert problems_of({"query": {"text": "a"}, "name": "n"}, _Request) == []


def test_the_shape_marks_what_may_be_left_out() -> None:
    assert shape_of(_Request) == "{query, name, ids?}"


def test_the_same_name_in_another_spelling_is_nearest() -> None:
    assert nearest("max_results", ["text", "maxResults", "results"])[0] == "maxResults"
