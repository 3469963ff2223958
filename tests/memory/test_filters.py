"""Filters and sorting."""

from typing import Any

import msgspec
import pytest

from qms.memory.errors import InvalidInputError
from qms.memory.filters import Filter, Sort, matches_document, matches_header, parse_sort
from qms.memory.validation import header_of
from tests.support.boxes import entry

FULL = entry(
    tags=["x", "y"],
    curationTier="curated",
    retention="mid",
    namespace="n",
    epicSlug="e",
    epicCase="c",
    agentId="ai:one",
    priority=7,
    confidence=0.5,
    pinned=True,
    source={"type": "doc"},
    metadata={"k": 1, "other": [1]},
    body={"statement": "s", "conversationId": "talk"},
    timestamps={"createdUtc": "2026-01-01T00:00:00Z", "updatedUtc": "2026-01-02T00:00:00Z"},
)

FULFILLED: list[dict[str, Any]] = [
    {},
    {"kinds": ["note", "fact"]},
    {"kind": "fact"},
    {"tags": ["x", "y"]},
    {"tag": "y"},
    {"anyTags": ["z", "y"]},
    {"tiers": ["curated", "canonical"]},
    {"tier": "curated"},
    {"retention": "mid"},
    {"namespace": "n"},
    {"epicSlug": "e", "epicCase": "c"},
    {"agentId": "ai:one"},
    {"conversationId": "talk"},
    {"sourceType": "doc"},
    {"createdAfter": "2026-01-01T00:00:00Z"},
    {"createdBefore": "2026-01-01T00:00:00.001Z"},
    {"updatedAfter": "2026-01-02T00:00:00Z"},
    {"updatedBefore": "2026-01-03T00:00:00Z"},
    {"minPriority": 7},
    {"minConfidence": 0.5},
    {"pinned": True},
    {"metadata": {"k": 1}},
    {"metadata": {"other": [1]}},
]

UNFULFILLED: list[dict[str, Any]] = [
    {"kinds": ["note"]},
    {"kind": "note"},
    {"tags": ["x", "z"]},
    {"tag": "z"},
    {"anyTags": ["z"]},
    {"tiers": ["canonical"]},
    {"tier": "canonical"},
    {"retention": "long"},
    {"namespace": "m"},
    {"epicSlug": "f"},
    {"epicCase": "d"},
    {"agentId": "ai:two"},
    {"conversationId": "other"},
    {"sourceType": "web"},
    {"createdAfter": "2026-01-01T00:00:00.001Z"},
    {"createdBefore": "2026-01-01T00:00:00Z"},
    {"updatedAfter": "2026-01-02T00:00:01Z"},
    {"updatedBefore": "2026-01-02T00:00:00Z"},
    {"minPriority": 8},
    {"minConfidence": 0.51},
    {"pinned": False},
    {"metadata": {"k": 2}},
    {"metadata": {"absent": None}},
]


def fulfils(conditions: dict[str, Any], document: dict[str, Any]) -> bool:
    wanted = msgspec.convert(conditions, Filter)
    return matches_header(wanted, header_of(document)) and matches_document(wanted, document)


@pytest.mark.parametrize("conditions", FULFILLED)
def test_an_entry_that_fulfils_a_condition_is_found(conditions: dict[str, Any]) -> None:
    assert fulfils(conditions, FULL)


@pytest.mark.parametrize("conditions", UNFULFILLED)
def test_an_entry_that_does_not_fulfil_it_is_not(conditions: dict[str, Any]) -> None:
    assert not fulfils(conditions, FULL)


@pytest.mark.parametrize("conditions", FULFILLED)
def test_all_conditions_must_hold(conditions: dict[str, Any]) -> None:
    assert not fulfils({**conditions, "minPriority": 10}, FULL)


def test_a_field_that_an_entry_lacks_fulfils_no_condition_on_it() -> None:
    plain = entry()
    for conditions in ({"conversationId": "x"}, {"sourceType": "x"}, {"metadata": {"k": None}}):
        assert not fulfils(conditions, plain)


@pytest.mark.parametrize(
    "conditions",
    [{"unknown": 1}, {"kinds": ["poem"]}, {"minPriority": 11}, {"minConfidence": 2}, {"tags": "x"}],
)
def test_a_condition_that_makes_no_sense_is_refused(conditions: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(conditions, Filter)


def test_a_minus_sorts_downwards() -> None:
    assert parse_sort("-updated") == Sort("updated", descending=True)
    assert parse_sort("title") == Sort("title", descending=False)


@pytest.mark.parametrize("text", ["", "-", "--title", "Title", "body", "updated,title"])
def test_an_unknown_sort_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        parse_sort(text)
    assert refused.value.details["field"] == "sort"


def test_a_long_sort_is_not_repeated_in_the_error() -> None:
    with pytest.raises(InvalidInputError) as raised:
        parse_sort("-" * 100_000)

    assert len(raised.value.message) < 300
