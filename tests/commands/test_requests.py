from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.commands.requests import read_request
from qms.features.lists.list_entries import ListRequest
from qms.memory.errors import InvalidInputError
from qms.memory.limits import DEFAULT_LIMITS


@pytest.mark.parametrize(
    ("given", "field", "reason"),
    [
        (
            {"colour": 1},
            "colour",
            "is not known. The fields are {filter?, page?, sort?, include?, format?, maxTokens?}",
        ),
        (
            {"page": {"colour": 1}},
            "page.colour",
            "is not known. The fields are {size?, cursor?}",
        ),
        ({"filter": {"kinds": ["note", 7]}}, "filter.kinds[1]", "expected `str`, got `int`"),
        ({"maxTokens": "7"}, "maxTokens", "expected `int | null`, got `str`"),
        ({"sort": None}, "sort", "expected `str`, got `null`"),
    ],
)
def test_an_error_names_the_place_by_its_wire_name(
    given: dict[str, Any], field: str, reason: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_request(given, ListRequest, DEFAULT_LIMITS)

    assert caught.value.details == {"field": field, "errors": [{"field": field, "reason": reason}]}
    assert caught.value.message == f"{field}: {reason}"


@given(key=st.text(st.sampled_from("a` -t$.\n"), min_size=1))
def test_any_unknown_key_is_refused_and_never_an_error(key: str) -> None:
    for request in ({key: 1}, {"page": {key: 1}}, {"filter": {"metadata": 1, key: 1}}):
        with pytest.raises(InvalidInputError):
            read_request(request, ListRequest, DEFAULT_LIMITS)


@pytest.mark.parametrize("key", [" - at `x", "` - at `", "x` - at `$.y", "`", ""])
def test_a_key_with_backticks_is_refused_and_never_an_error(key: str) -> None:
    with pytest.raises(InvalidInputError):
        read_request({key: 1}, ListRequest, DEFAULT_LIMITS)


def test_a_key_that_looks_like_an_error_text_is_named_whole() -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_request({"a - at b": 1}, ListRequest, DEFAULT_LIMITS)

    assert caught.value.details["field"] == "a - at b"
    assert [one["field"] for one in caught.value.details["errors"]] == ["a - at b"]
