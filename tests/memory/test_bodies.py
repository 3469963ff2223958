"""The thirteen kinds and their bodies."""

from typing import Any

import pytest

from qms.memory.bodies import BODY_TYPES, MAIN_FIELDS, Kind, body_from_text, main_text
from qms.memory.errors import InvalidInputError
from qms.memory.limits import DEFAULT_LIMITS
from qms.memory.validation import check
from tests.support.boxes import PROJECT, entry

MAIN_FIELD = {
    "note": "text",
    "fact": "statement",
    "procedure": "steps",
    "conversationTurn": "content",
    "timelineEvent": "summary",
    "codeSnippet": "snippet",
    "decision": "decision",
    "observation": "metric",
    "question": "text",
    "task": "summary",
    "document": "text",
    "chunk": "text",
    "entity": "observations",
}

FULL_BODIES: dict[str, dict[str, Any]] = {
    "note": {"text": "t", "context": "c"},
    "fact": {"statement": "s", "justification": "j", "metrics": [{"name": "m", "value": 1.5}]},
    "procedure": {"steps": ["one", "two"], "prerequisites": ["p"]},
    "conversationTurn": {"content": "c", "role": "user", "conversationId": "k", "ordinal": 3},
    "timelineEvent": {"summary": "s", "occurredUtc": "2026-01-01T00:00:00Z", "links": ["l"]},
    "codeSnippet": {"snippet": "x", "language": "python", "files": [{"path": "a", "lineStart": 1}]},
    "decision": {"decision": "d", "rationale": "r", "owner": "o", "questionId": "p:q"},
    "observation": {"metric": "m", "value": True, "unit": "u", "period": "1d", "source": "s"},
    "question": {"text": "t", "context": "c", "relatedEntries": ["p:x"]},
    "task": {"summary": "s", "status": "open", "assignee": "a", "dueUtc": "2026-01-01T00:00:00Z"},
    "document": {"text": "t", "path": "p", "mime": "text/plain", "sha256": "0"},
    "chunk": {"text": "t", "ordinal": 0},
    "entity": {"observations": ["o"], "entityType": "person"},
}


def accept(kind: str, body: Any) -> None:
    check(entry(kind=kind, body=body), PROJECT, DEFAULT_LIMITS)


def refuse(kind: str, body: Any) -> InvalidInputError:
    with pytest.raises(InvalidInputError) as refused:
        accept(kind, body)
    return refused.value


def test_there_are_thirteen_kinds_each_with_its_main_field() -> None:
    assert {kind.value: MAIN_FIELDS[kind][0] for kind in Kind} == MAIN_FIELD
    assert set(BODY_TYPES) == set(Kind)


@pytest.mark.parametrize("kind", Kind)
def test_a_full_body_is_taken(kind: Kind) -> None:
    accept(kind, FULL_BODIES[kind])


@pytest.mark.parametrize("kind", Kind)
def test_unknown_fields_of_a_body_are_taken(kind: Kind) -> None:
    accept(kind, {**FULL_BODIES[kind], "unheardOf": {"deep": [1, None]}})


@pytest.mark.parametrize("kind", Kind)
def test_the_main_text_is_required(kind: Kind) -> None:
    body = {key: value for key, value in FULL_BODIES[kind].items() if key != MAIN_FIELD[kind]}
    body.pop("path", None)

    assert refuse(kind, body).details["field"] == f"body.{MAIN_FIELD[kind]}"


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.ENTITY])
@pytest.mark.parametrize("blank", ["", "  \t\n"])
def test_a_blank_main_text_is_refused(kind: Kind, blank: str) -> None:
    body = body_from_text(kind, blank)

    assert refuse(kind, body).details["field"] == f"body.{MAIN_FIELD[kind]}"


def test_a_document_may_have_a_path_instead_of_a_text() -> None:
    accept("document", {"path": "docs/spec.md"})


def test_an_entity_may_have_no_observations_yet() -> None:
    accept("entity", {"observations": []})


def test_a_procedure_needs_a_step() -> None:
    assert refuse("procedure", {"steps": []}).details["field"] == "body.steps"


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("wrong", [None, 5, True, {"a": 1}])
def test_a_main_text_of_the_wrong_type_is_refused_by_name(kind: Kind, wrong: Any) -> None:
    field = MAIN_FIELD[kind]

    assert (
        refuse(kind, {**FULL_BODIES[kind], "path": None, field: wrong})
        .details["field"]
        .startswith(f"body.{field}")
    )


@pytest.mark.parametrize(
    ("kind", "field", "wrong"),
    [
        ("fact", "metrics", "fast"),
        ("conversationTurn", "ordinal", "first"),
        ("timelineEvent", "occurredUtc", "yesterday"),
        ("timelineEvent", "occurredUtc", "2026-01-01T00:00:00"),
        ("codeSnippet", "files", ["a.py"]),
        ("task", "dueUtc", 5),
        ("chunk", "ordinal", 1.5),
        ("entity", "observations", [1]),
    ],
)
def test_an_optional_field_of_the_wrong_type_is_refused_by_name(
    kind: str, field: str, wrong: Any
) -> None:
    refused = refuse(kind, {**FULL_BODIES[kind], field: wrong})

    assert refused.details["field"].startswith(f"body.{field}")


@pytest.mark.parametrize("kind", Kind)
def test_a_text_becomes_the_main_text_and_is_read_back(kind: Kind) -> None:
    body = body_from_text(kind, "Some text")

    accept(kind, body)
    assert main_text(kind, body) == "Some text"
    assert isinstance(body[MAIN_FIELD[kind]], list) is (kind in (Kind.PROCEDURE, Kind.ENTITY))


def test_the_items_of_a_list_stand_on_lines_of_their_own() -> None:
    assert main_text(Kind.PROCEDURE, {"steps": ["one", "two"]}) == "one\ntwo"


def test_the_main_text_of_a_document_without_text_is_its_path() -> None:
    assert main_text(Kind.DOCUMENT, {"path": "docs/spec.md"}) == "docs/spec.md"
