"""Documents: validity, limits, stored form, version."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.memory.bodies import Kind
from qms.memory.entry import FIELD_DEFAULTS, FIELD_ORDER, REQUIRED_FIELDS, Document
from qms.memory.errors import InvalidInputError
from qms.memory.limits import DEFAULT_LIMITS, Limits
from qms.memory.lines import decode_line, encode_line
from qms.memory.validation import (
    check,
    complete,
    encode_checked,
    instant_text,
    normalise,
    title_from,
    version_of,
)
from tests.support.boxes import NOW, PROJECT, entry
from tests.support.refusals import refusal_or_none
from tests.support.strategies import documents, values, with_written_defaults


def refusal(document: Document, limits: Limits = DEFAULT_LIMITS) -> InvalidInputError:
    with pytest.raises(InvalidInputError) as refused:
        check(document, PROJECT, limits)
    return refused.value


# -- the stored form


@given(documents())
def test_normalising_twice_changes_nothing_more(document: Document) -> None:
    once = normalise(document)

    assert normalise(once) == once
    assert list(normalise(once)) == list(once)


@given(documents())
def test_the_stored_form_leaves_out_defaults_only(document: Document) -> None:
    stored = normalise(document)

    assert stored.items() <= document.items()
    assert set(stored) >= set(REQUIRED_FIELDS)
    for key in set(document) - set(stored):
        assert document[key] == FIELD_DEFAULTS[key]


@given(documents())
def test_known_fields_of_a_new_entry_stand_in_their_order_before_unknown_ones(
    document: Document,
) -> None:
    stored = list(normalise(document))
    known = [key for key in stored if key in FIELD_ORDER]

    assert known == [key for key in FIELD_ORDER if key in stored]
    assert stored[: len(known)] == known
    assert stored[len(known) :] == [key for key in document if key in stored[len(known) :]]


@given(documents(), documents())
def test_fields_keep_the_place_that_they_had_in_the_line(before: Document, after: Document) -> None:
    stored = list(normalise(after, like=before))
    shared = [key for key in before if key in stored]

    assert stored[: len(shared)] == shared


def test_the_project_is_not_stored_since_the_id_carries_it() -> None:
    assert "project" not in normalise(entry(project=PROJECT))


@given(documents())
def test_a_stored_form_survives_being_written_and_read(document: Document) -> None:
    stored = normalise(document)

    assert normalise(decode_line(encode_line(stored)), like=stored) == stored


# -- the version


@given(documents(), st.randoms())
def test_a_version_does_not_depend_on_key_order_or_written_defaults(
    document: Document, random: Any
) -> None:
    keys = list(document)
    random.shuffle(keys)
    shuffled = {key: document[key] for key in keys}

    assert version_of(shuffled) == version_of(document)
    assert version_of(with_written_defaults(document)) == version_of(document)
    assert version_of(normalise(document)) == version_of(document)


@given(documents(), values)
def test_a_version_depends_on_unknown_fields(document: Document, value: Any) -> None:
    other = {**document, "unheardOf": [value]}

    assert version_of(other) != version_of(document)


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Another"},
        {"body": {"statement": "Another"}},
        {"tags": ["x"]},
        {"embedding": [0.5]},
        {"priority": 6},
        {
            "timestamps": {
                "createdUtc": "2026-01-01T00:00:00Z",
                "updatedUtc": "2026-01-01T00:00:00Z",
            }
        },
    ],
)
def test_a_version_depends_on_every_known_field(change: Document) -> None:
    assert version_of(entry(**change)) != version_of(entry())


def test_a_version_is_the_hash_of_the_canonical_json() -> None:
    canonical = json.dumps(entry(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    assert version_of(entry()) == hashlib.sha256(canonical.encode()).hexdigest()[:16]


# -- what is valid


@given(documents())
def test_a_drawn_entry_is_valid(document: Document) -> None:
    assert check(document, PROJECT, DEFAULT_LIMITS).id == document["id"]


@given(documents(), st.sampled_from(sorted(FIELD_ORDER)), values)
def test_any_value_in_any_field_is_taken_or_refused_by_name(
    document: Document, field: str, value: Any
) -> None:
    refused = refusal_or_none(
        lambda: check({**document, field: value}, PROJECT, DEFAULT_LIMITS),
    )

    assert refused is None or isinstance(refused.details.get("field"), str)


@pytest.mark.parametrize("field", sorted(REQUIRED_FIELDS - {"schemaVersion"}))
def test_a_required_field_is_asked_for_by_name(field: str) -> None:
    assert refusal(entry(**{field: ...})).details["field"] == field


@pytest.mark.parametrize(
    ("overrides", "field"),
    [
        ({"kind": "poem"}, "kind"),
        ({"kind": 5}, "kind"),
        ({"kind": ["fact"]}, "kind"),
        ({"body": []}, "body"),
        ({"body": "text"}, "body"),
        ({"title": "  "}, "title"),
        ({"title": 5}, "title"),
        ({"id": "other:a"}, "id"),
        ({"id": "a"}, "id"),
        ({"id": "p:"}, "id"),
        ({"id": "p:a b"}, "id"),
        ({"id": "p:../x"}, "id"),
        ({"id": "p:a:b"}, "id"),
        ({"id": "p:\u0430"}, "id"),
        ({"id": "P:a"}, "id"),
        ({"project": "other"}, "project"),
        ({"schemaVersion": 2}, "schemaVersion"),
        ({"schemaVersion": "1"}, "schemaVersion"),
        ({"schemaVersion": True}, "schemaVersion"),
        ({"tags": "x"}, "tags"),
        ({"tags": ["x", " "]}, "tags[1]"),
        ({"tags": [5]}, "tags[0]"),
        ({"priority": 0}, "priority"),
        ({"priority": 11}, "priority"),
        ({"priority": 5.5}, "priority"),
        ({"priority": "5"}, "priority"),
        ({"confidence": -0.1}, "confidence"),
        ({"confidence": 1.1}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"retention": "eternal"}, "retention"),
        ({"ttlUtc": "tomorrow"}, "ttlUtc"),
        ({"ttlUtc": "2026-01-01T00:00:00"}, "ttlUtc"),
        ({"curationTier": "holy"}, "curationTier"),
        ({"isPermanent": 1}, "isPermanent"),
        ({"pinned": "yes"}, "pinned"),
        ({"namespace": "a b"}, "namespace"),
        ({"namespace": "a/b"}, "namespace"),
        ({"namespace": ""}, "namespace"),
        ({"namespace": "a\0"}, "namespace"),
        ({"agentId": "a b"}, "agentId"),
        ({"metadata": []}, "metadata"),
        ({"embedding": ["x"]}, "embedding[0]"),
        ({"embedding": [float("inf")]}, "embedding"),
        ({"timestamps": {"createdUtc": "2026-01-01T00:00:00Z"}}, "timestamps.updatedUtc"),
        ({"timestamps": "now"}, "timestamps"),
        ({"relations": [{"type": "ref"}]}, "relations[0].targetId"),
        ({"relations": [{"type": "1", "targetId": "p:b"}]}, "relations[0].type"),
        ({"relations": [{"type": "ref", "targetId": "b"}]}, "relations[0].targetId"),
        ({"relations": [{"type": "ref", "targetId": "p:a"}]}, "relations[0].targetId"),
        ({"relations": [{"type": "ref", "targetId": "../x:b"}]}, "relations[0].targetId"),
        (
            {"relations": [{"type": "ref", "targetId": "p:b", "weight": float("inf")}]},
            "relations[0].weight",
        ),
    ],
)
def test_an_invalid_field_is_named(overrides: Document, field: str) -> None:
    assert refusal(entry(**overrides)).details["field"] == field


@pytest.mark.parametrize(
    "overrides",
    [
        {"id": "p:A.b_c~d-e"},
        {"id": f"p:{'x' * 128}"},
        {"project": PROJECT},
        {"namespace": "n" * 128},
        {"agentId": "ai:claude-code@host/1.0"},
        {"relations": [{"type": "mine-own_1", "targetId": "other:x", "note": "kept"}]},
        {"relations": [{"type": "a" * 64, "targetId": "p:b", "weight": 0.7, "metadata": {}}]},
        {"embedding": [0.1, 1, -3]},
        {"priority": 10, "confidence": 0},
        {"unknown": {"deep": [None]}},
    ],
)
def test_a_valid_field_is_taken(overrides: Document) -> None:
    check(entry(**overrides), PROJECT, DEFAULT_LIMITS)


@pytest.mark.parametrize(
    "overrides",
    [
        {"id": f"p:{'x' * 129}"},
        {"namespace": "n" * 129},
        {"agentId": "a" * 129},
        {"relations": [{"type": "a" * 65, "targetId": "p:b"}]},
    ],
)
def test_a_name_that_is_one_too_long_is_refused(overrides: Document) -> None:
    message = refusal(entry(**overrides)).message

    assert "128" in message or "63" in message


# -- every limit at its boundary


def relations(count: int) -> list[Document]:
    return [{"type": "ref", "targetId": f"p:t{number}"} for number in range(count)]


def deep(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


AT_THE_LIMIT: list[tuple[str, str, int, Any, Any]] = [
    ("title", "titleBytes", 512, {"title": "x" * 512}, {"title": "x" * 513}),
    ("title", "titleBytes", 512, {"title": "é" * 256}, {"title": "é" * 256 + "x"}),
    ("title", "titleBytes", 512, {"title": "😀" * 128}, {"title": "😀" * 128 + "x"}),
    (
        "body.statement",
        "textBytes",
        65536,
        {"body": {"statement": "x" * 65536}},
        {"body": {"statement": "x" * 65537}},
    ),
    (
        "body.statement",
        "textBytes",
        65536,
        {"body": {"statement": "é" * 32768}},
        {"body": {"statement": "é" * 32768 + "x"}},
    ),
    (
        "body.other.deep[0]",
        "textBytes",
        65536,
        {"body": {"statement": "s", "other": {"deep": ["x" * 65536]}}},
        {"body": {"statement": "s", "other": {"deep": ["x" * 65537]}}},
    ),
    (
        "tags",
        "tags",
        50,
        {"tags": [f"t{number}" for number in range(50)]},
        {"tags": [f"t{number}" for number in range(51)]},
    ),
    ("tags[1]", "tagBytes", 128, {"tags": ["a", "x" * 128]}, {"tags": ["a", "x" * 129]}),
    ("tags[0]", "tagBytes", 128, {"tags": ["é" * 64]}, {"tags": ["é" * 64 + "x"]}),
    (
        "relations",
        "relations",
        1000,
        {"relations": relations(1000)},
        {"relations": relations(1001)},
    ),
]


@pytest.mark.parametrize(("field", "limit", "maximum", "good", "over"), AT_THE_LIMIT)
def test_a_field_is_taken_at_its_limit_and_refused_one_above(
    field: str, limit: str, maximum: int, good: Document, over: Document
) -> None:
    check(entry(**good), PROJECT, DEFAULT_LIMITS)

    refused = refusal(entry(**over))
    assert refused.details == {"field": field, "limit": limit, "maximum": maximum}
    assert field in refused.message
    assert limit in refused.message


def test_depth_is_taken_at_its_limit_and_refused_one_above() -> None:
    check(entry(metadata={"deep": deep(62)}), PROJECT, DEFAULT_LIMITS)

    refused = refusal(entry(metadata={"deep": deep(63)}))
    assert refused.details["limit"] == "jsonDepth"
    assert "64" in refused.message


def test_a_line_is_taken_at_its_limit_and_refused_one_above() -> None:
    room = 1024 * 1024 - len(encode_line(entry(filler="")))
    good, over = entry(filler="x" * room), entry(filler="x" * (room + 1))

    assert len(encode_checked(good, DEFAULT_LIMITS)) == 1024 * 1024
    with pytest.raises(InvalidInputError) as refused:
        encode_checked(over, DEFAULT_LIMITS)
    assert refused.value.details == {"field": "entry", "limit": "lineBytes", "maximum": 1048576}


@pytest.mark.parametrize(
    ("limits", "over"),
    [
        (Limits(title_bytes=3), {"title": "four"}),
        (Limits(text_bytes=3), {"body": {"statement": "four"}}),
        (Limits(tags=1), {"tags": ["a", "b"]}),
        (Limits(tag_bytes=3), {"tags": ["four"]}),
        (Limits(relations=1), {"relations": relations(2)}),
        (Limits(json_depth=2), {"metadata": {"a": []}}),
    ],
)
def test_every_limit_is_a_setting(limits: Limits, over: Document) -> None:
    check(entry(**over), PROJECT, DEFAULT_LIMITS)

    short = {"title": "abc", "body": {"statement": "abc"}}

    assert "limit" in refusal(entry(**(short | over)), limits).details


# -- completing what an author left out


def completed(document: Document) -> Document:
    return complete(document, project=PROJECT, local_id="made", instant=NOW)


def test_a_complete_document_is_returned_as_it_is() -> None:
    document = entry()

    assert completed(document) is document


def test_kind_and_body_are_enough() -> None:
    document = completed({"kind": "note", "body": "The release train leaves on Thursdays"})

    assert document == {
        "kind": "note",
        "body": {"text": "The release train leaves on Thursdays"},
        "schemaVersion": 1,
        "id": "p:made",
        "title": "The release train leaves on Thursdays",
        "timestamps": {"createdUtc": instant_text(NOW), "updatedUtc": instant_text(NOW)},
    }
    check(document, PROJECT, DEFAULT_LIMITS)


def test_a_local_id_gets_the_project_before_it() -> None:
    assert completed(entry(id="mine"))["id"] == "p:mine"


def test_a_time_of_change_alone_is_the_time_of_creation_too() -> None:
    times = completed(entry(timestamps={"updatedUtc": "2020-01-01T00:00:00Z"}))["timestamps"]

    assert times == {"createdUtc": "2020-01-01T00:00:00Z", "updatedUtc": "2020-01-01T00:00:00Z"}


@pytest.mark.parametrize("kind", [*Kind, "poem", 5, None])
@pytest.mark.parametrize("body", ["text", {}, [], 5, None, {"statement": 5}])
def test_completing_never_fails_whatever_was_given(kind: Any, body: Any) -> None:
    completed({"kind": kind, "body": body, "timestamps": 5, "id": [], "title": {}})
    completed({"kind": kind, "body": body})


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("short", "short"),
        ("  first line \n second", "first line"),
        ("a  b\t c", "a b c"),
        ("w" * 200, "w" * 79 + "…"),
        ("word " * 40, ("word " * 15).strip() + "…"),
    ],
)
def test_a_title_is_the_beginning_of_the_text(text: str, title: str) -> None:
    assert title_from(text) == title


@given(st.text())
def test_a_made_title_is_one_line_within_its_limit(text: str) -> None:
    title = title_from(text)

    assert "\n" not in title
    assert len(title) <= 80


def test_an_instant_is_written_in_utc_with_milliseconds() -> None:
    assert instant_text(datetime(2026, 1, 5, 9, 0, 0, 1500, UTC)) == "2026-01-05T09:00:00.001Z"
