"""The limits of asking."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import numpy as np
import pytest

from qms.memory.errors import InvalidInputError
from qms.memory.limits import DEFAULT_LIMITS, Limits
from qms.search.query import SearchQuery, check_query, make_question

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def read(**given: Any) -> SearchQuery:
    query = msgspec.convert(given, SearchQuery)
    check_query(query, DEFAULT_LIMITS)
    return query


@pytest.mark.attack(41)
@pytest.mark.parametrize("given", [-1, 0, 201, 10**9])
def test_a_number_of_results_outside_of_the_limit_is_refused_by_name(given: int) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read(text="x", maxResults=given)
    assert caught.value.details["field"] == "query.maxResults"


@pytest.mark.attack(41)
@pytest.mark.parametrize("given", ["5", 1.5, None, True])
def test_a_number_of_results_that_is_no_number_is_refused(given: Any) -> None:
    with pytest.raises((InvalidInputError, msgspec.ValidationError)):
        read(text="x", maxResults=given)


@pytest.mark.attack(37)
@pytest.mark.parametrize(
    ("text", "limit", "maximum"),
    [
        ("x" * 1_000_000, "queryBytes", 4096),
        ("word " * 200_000, "queryBytes", 4096),
        (" ".join(f"w{number}" for number in range(65)), "queryTerms", 64),
        ("ä" * 2049, "queryBytes", 4096),
    ],
)
def test_a_text_beyond_a_limit_is_refused_and_the_limit_named(
    text: str, limit: str, maximum: int
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read(text=text)
    assert caught.value.details == {"field": "query.text", "limit": limit, "maximum": maximum}


@pytest.mark.attack(36)
@pytest.mark.parametrize("text", ["(" * 200, "(" * 3000, "NOT " * 1000, "", "   ", "\ud800"])
def test_strange_texts_within_the_limits_are_taken(text: str) -> None:
    query = read(text=text)
    assert make_question(query, DEFAULT_LIMITS, vector=None, now=NOW).text == text


def test_limits_are_those_of_the_settings() -> None:
    with pytest.raises(InvalidInputError):
        check_query(SearchQuery(text="two words"), Limits(query_terms=1))


def test_a_query_without_words_and_vector_is_blank() -> None:
    def question(text: str, vector: Any = None) -> bool:
        return make_question(
            SearchQuery(text=text), DEFAULT_LIMITS, vector=vector, now=NOW
        ).is_blank

    assert question("")
    assert question("(((")
    assert not question("word")
    assert not question("", np.ones(4, np.float32))
