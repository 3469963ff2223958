"""What a caller sees of an entry, and what a replacement keeps."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.memory.filters import Filter
from qms.memory.lines import decode_header
from qms.memory.visibility import SHOWS_ALL, Visibility

OPENS_P = Visibility(lambda slug: slug.casefold() == "p")


def entry(**more: Any) -> dict[str, Any]:
    times = {"createdUtc": "2026-03-01T12:00:00Z", "updatedUtc": "2026-03-01T12:00:00Z"}
    return {"id": "p:a", "kind": "note", "title": "A", "body": {}, "timestamps": times, **more}


def ref(target: str, type_: str = "ref") -> dict[str, Any]:
    return {"type": type_, "targetId": target}


def hides(document: dict[str, Any], line: bytes | None = None) -> bool:
    data = line or msgspec.json.encode(document)
    return OPENS_P.hides_part_of(decode_header(data), data)


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ({"relations": [ref("p:b"), ref("q:b")]}, {"relations": [ref("p:b")]}),
        ({"relations": [ref("q:b")]}, {}),
        ({"metadata": {"copiedFrom": "q:b", "x": 1}}, {"metadata": {"x": 1}}),
        ({"metadata": {"movedFrom": "Q:b"}}, {}),
    ],
)
def test_what_names_a_closed_project_is_left_out(
    more: dict[str, Any], shown: dict[str, Any]
) -> None:
    document = entry(**more)

    assert OPENS_P.shown(document) == entry(**shown)
    assert hides(document)
    assert SHOWS_ALL.shown(document) is document


@pytest.mark.parametrize(
    "more",
    [
        {"relations": [ref("P:b"), ref("p:c")]},
        {"metadata": {"copiedFrom": "the wiki: page 3", "movedFrom": 7, "source": "q:b"}},
        {"relations": []},
        {"metadata": {"copiedFrom": "p:b"}},
        {"body": {"text": "q:b is named in a text"}},
    ],
)
def test_everything_else_is_shown_as_it_is(more: dict[str, Any]) -> None:
    document = entry(**more)

    assert OPENS_P.shown(document) is document
    assert not hides(document)


def test_a_mark_whose_key_a_person_has_escaped_is_found() -> None:
    line = msgspec.json.encode(entry(metadata={"copiedFrom": "q:b"}))
    escaped = line.replace(b"copiedFrom", rb"\u0063opiedFrom")

    assert hides({}, escaped)


@pytest.mark.parametrize(
    "document",
    [
        {"relations": "none"},
        {"relations": [None, 3, {"targetId": 4}, {}]},
        {"metadata": [1]},
        {},
    ],
)
def test_a_document_that_nobody_has_checked_is_shown(document: dict[str, Any]) -> None:
    assert OPENS_P.shown(document) is document


def test_a_filter_matches_no_hidden_mark() -> None:
    open_one = Filter(metadata={"copiedFrom": "p:b"})
    closed = Filter(metadata={"copiedFrom": "q:b", "x": 1})

    assert OPENS_P.shown_filter(open_one) is open_one
    assert OPENS_P.shown_filter(closed).metadata == {"copiedFrom": "\0", "x": 1}


def test_projects_that_are_not_common_are_closed() -> None:
    limited = Visibility(lambda slug: slug != "r").limited_to(["P", "r"])

    assert [limited.shows(f"{slug}:x") for slug in "pqr"] == [True, False, False]
    assert OPENS_P.limited_to(None) is OPENS_P


TARGETS = st.builds(ref, st.sampled_from(["p:b", "p:c", "q:b", "r:b"]), st.sampled_from("xy"))
RELATIONS = st.lists(TARGETS, max_size=6, unique_by=lambda one: (one["type"], one["targetId"]))
METADATA = st.dictionaries(
    st.sampled_from(["copiedFrom", "movedFrom", "x"]), st.sampled_from(["p:b", "q:b", "r:b"])
)
DOCUMENTS = st.builds(lambda one, two: entry(relations=one, metadata=two), RELATIONS, METADATA)


def hidden_in(document: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    shown = OPENS_P.shown(document)
    relations = [one for one in document["relations"] if one not in shown.get("relations", [])]
    marks = document["metadata"].items() - shown.get("metadata", {}).items()
    return relations, dict(marks)


@given(DOCUMENTS, DOCUMENTS)
def test_a_replacement_has_what_was_given_and_what_was_hidden(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    kept = OPENS_P.with_hidden(after, before)

    relations, marks = hidden_in(before)
    assert all(kept["relations"].count(one) == 1 for one in relations)
    assert marks.items() <= kept["metadata"].items()
    assert OPENS_P.shown(kept).get("relations", []) == OPENS_P.shown(after).get("relations", [])


@given(DOCUMENTS)
def test_what_was_read_replaces_an_entry_by_itself(before: dict[str, Any]) -> None:
    kept = OPENS_P.with_hidden(OPENS_P.shown(before), before)

    assert kept == before
