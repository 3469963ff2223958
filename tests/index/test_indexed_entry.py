"""What the indexes are told of an entry."""

from typing import Any

import pytest

from qms.index.indexed_entry import Facets, IndexDocument, index_document, line_facets
from qms.memory.bodies import Kind
from qms.memory.lines import encode_line
from qms.memory.validation import header_of

INSTANT = "2026-01-02T03:04:05Z"


def document(kind: Kind, body: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "schemaVersion": 1,
        "id": "p:a",
        "kind": kind.value,
        "title": "A title",
        "body": body,
        "timestamps": {"createdUtc": INSTANT, "updatedUtc": INSTANT},
        **fields,
    }


def indexed(kind: Kind, body: dict[str, Any], **fields: Any) -> IndexDocument:
    given = document(kind, body, **fields)
    return index_document(header_of(given), given)


def test_the_main_text_comes_first_then_known_fields_then_unknown_ones() -> None:
    body = {"zeal": "unknown", "rationale": "because", "owner": "ann", "decision": "do it"}

    assert indexed(Kind.DECISION, body).text == "do it\nbecause\nann\nunknown"


def test_strings_inside_lists_and_objects_are_found_and_keys_are_not() -> None:
    body = {
        "statement": "it is fast",
        "metrics": [
            {"name": "latency", "value": 3, "unit": "ms"},
            {"name": "load", "value": "low"},
        ],
    }

    assert indexed(Kind.FACT, body).text == "it is fast\nlatency\nms\nload\nlow"


def test_a_list_as_main_text_has_a_line_for_each_item() -> None:
    body = {"steps": ["stop", "start"], "prerequisites": ["root"]}

    assert indexed(Kind.PROCEDURE, body).text == "stop\nstart\nroot"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"path": "docs/a.md", "text": "hello"}, "hello\ndocs/a.md"),
        ({"path": "docs/a.md"}, "docs/a.md"),
        ({"text": "", "path": "docs/a.md"}, "docs/a.md"),
    ],
)
def test_a_document_is_indexed_by_text_and_path(body: dict[str, Any], text: str) -> None:
    assert indexed(Kind.DOCUMENT, body).text == text


def test_an_entity_without_observations_still_has_its_type() -> None:
    assert indexed(Kind.ENTITY, {"observations": [], "entityType": "person"}).text == "person"


def test_a_turn_has_its_conversation_and_role_beside_the_text_not_in_it() -> None:
    body = {"content": "hi", "role": "user", "conversationId": "c1", "ordinal": 3}

    found = indexed(Kind.CONVERSATION_TURN, body)

    assert found.text == "hi"
    assert (found.conversation_id, found.role, found.ordinal) == ("c1", "user", 3)


def test_the_other_fields_are_taken_over() -> None:
    found = indexed(
        Kind.NOTE,
        {"text": "x"},
        tags=["a", "b"],
        keywords=["k"],
        source={"type": "doc"},
        metadata={"n": 1},
    )

    assert (found.id, found.title) == ("p:a", "A title")
    assert (found.tags, found.keywords) == (("a", "b"), ("k",))
    assert (found.source_type, found.metadata) == ("doc", {"n": 1})


@pytest.mark.parametrize(
    "body",
    [
        {"text": "x"},
        {"text": "x", "conversationId": "c", "ordinal": 2, "role": "assistant"},
        {"text": "x", "conversationId": 7, "ordinal": True, "role": None},
        {"text": "x", "ordinal": "2", "role": ["user"]},
    ],
)
@pytest.mark.parametrize(
    "fields", [{}, {"source": {"type": "doc"}, "metadata": {"a": [1]}}, {"source": {"type": 5}}]
)
def test_a_line_gives_the_facets_that_its_document_gives(
    body: dict[str, Any], fields: dict[str, Any]
) -> None:
    given = document(Kind.NOTE, body, **fields)
    header = header_of(given)
    whole = index_document(header, given)

    facets = line_facets(header, encode_line(given))

    assert facets == Facets(**{name: getattr(whole, name) for name in Facets.__struct_fields__})


@pytest.mark.parametrize(
    ("title", "own"),
    [
        ("A title", "A title"),
        ("Caroline: I went to the…", ""),
        ("Caroline:  I went to the", ""),
        ("Caroline: I went", ""),
        ("Caroline", "Caroline"),
        ("Caroline: I went to the museum, and\nthen home", ""),
        ("Caroline: I stayed", "Caroline: I stayed"),
    ],
)
def test_a_title_that_only_begins_the_text_says_nothing_of_its_own(title: str, own: str) -> None:
    body = {"text": "Caroline: I went\nto the museum, and then home"}

    assert indexed(Kind.NOTE, body, title=title).own_title == own


def test_the_instant_is_that_of_the_source_else_that_of_storing() -> None:
    times = {"createdUtc": INSTANT, "updatedUtc": INSTANT, "sourceUtc": "2023-05-08T13:56:00Z"}

    assert indexed(Kind.NOTE, {"text": "a"}, timestamps=times).instant.year == 2023
    assert indexed(Kind.NOTE, {"text": "a"}).instant.year == 2026


def test_a_source_is_called_by_everything_but_its_type() -> None:
    source = {"type": "doc", "path": "docs/spec.md", "anchors": ["getUserName"], "line": 3}

    assert indexed(Kind.NOTE, {"text": "a"}, source=source).source == (
        "docs/spec.md",
        "getUserName",
    )
