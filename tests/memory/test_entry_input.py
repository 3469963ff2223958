"""From what a caller sent to the document that is stored."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.memory.access import AccessTier, Caller
from qms.memory.bodies import LIST_FIELDS, MAIN_FIELDS, Kind
from qms.memory.entry import FIELD_ORDER, Document
from qms.memory.entry_input import (
    EntryRules,
    is_same,
    merge_patch,
    new_document,
    patched_document,
    replaced_document,
)
from qms.memory.errors import InvalidInputError
from qms.memory.limits import Limits
from qms.memory.retention import RetentionLengths
from qms.memory.validation import instant_text, version_of
from tests.support.boxes import NOW, PROJECT, entry
from tests.support.refusals import refusal_or_none
from tests.support.strategies import documents, values

RULES = EntryRules(project=PROJECT)
LATER = NOW + timedelta(hours=1)


def caller(access: AccessTier = AccessTier.WRITER, agent: str | None = None) -> Caller:
    return Caller(user="alice", access=access, agent_id=agent)


def new(given_: Document, rules: EntryRules = RULES, who: Caller | None = None) -> Document:
    return new_document(given_, local_id="made", now=NOW, caller=who or caller(), rules=rules)


def replaced(given_: Document, before: Document, who: Caller | None = None) -> Document:
    return replaced_document(given_, before, now=LATER, caller=who or caller(), rules=RULES)


def patched(patch: Document, before: Document) -> Document:
    return patched_document(patch, before, now=LATER, rules=RULES)


def refusal_of(call: Any, *arguments: Any) -> InvalidInputError:
    with pytest.raises(InvalidInputError) as refused:
        call(*arguments)
    return refused.value


# -- a new entry


@pytest.mark.parametrize("kind", Kind)
def test_a_plain_text_becomes_the_main_text_of_every_kind(kind: Kind) -> None:
    document = new({"kind": kind.value, "body": "Some text"})
    field = MAIN_FIELDS[kind][0]

    assert document["body"] == {field: ["Some text"] if field in LIST_FIELDS else "Some text"}
    assert document["title"] == "Some text"
    assert document["id"] == "p:made"


def test_a_new_entry_is_stamped_with_now_and_its_agent() -> None:
    document = new(entry(id=..., timestamps=...), who=caller(agent="ai:one"))

    assert document["timestamps"] == {
        "createdUtc": instant_text(NOW),
        "updatedUtc": instant_text(NOW),
    }
    assert document["agentId"] == "ai:one"


def test_a_given_agent_stays_and_a_given_time_of_creation_too() -> None:
    times = {"createdUtc": "2020-01-01T00:00:00Z", "updatedUtc": "2020-01-01T00:00:00Z"}
    document = new(entry(agentId="ai:two", timestamps=times), who=caller(agent="ai:one"))

    assert document["agentId"] == "ai:two"
    assert document["timestamps"] == {**times, "updatedUtc": instant_text(NOW)}


def test_unknown_fields_of_entry_and_body_are_kept() -> None:
    document = new(entry(mine=[1, {"x": None}], body={"statement": "s", "own": 2}))

    assert document["mine"] == [1, {"x": None}]
    assert document["body"] == {"statement": "s", "own": 2}


@pytest.mark.parametrize(
    ("fields", "end"),
    [
        ({}, None),
        ({"retention": "long"}, None),
        ({"retention": "short"}, NOW + timedelta(hours=6)),
        ({"retention": "mid"}, NOW + timedelta(days=7)),
        ({"retention": "short", "ttlUtc": "2031-01-01T00:00:00.000Z"}, "2031-01-01T00:00:00.000Z"),
        ({"ttlUtc": "2031-01-01T00:00:00.000Z"}, "2031-01-01T00:00:00.000Z"),
        ({"retention": "mid", "ttlUtc": None}, NOW + timedelta(days=7)),
    ],
)
def test_the_end_follows_from_the_retention_unless_it_is_given(fields: Document, end: Any) -> None:
    expected = end if end is None or isinstance(end, str) else instant_text(end)

    assert new(entry(**fields)).get("ttlUtc") == expected


def test_retention_lengths_are_settings() -> None:
    rules = EntryRules(project=PROJECT, lengths=RetentionLengths(long_seconds=60, short_seconds=0))

    assert new(entry(), rules)["ttlUtc"] == instant_text(NOW + timedelta(seconds=60))
    assert "ttlUtc" not in new(entry(retention="short"), rules)


def test_limits_are_settings() -> None:
    refused = refusal_of(
        new, entry(title="four"), EntryRules(project=PROJECT, limits=Limits(title_bytes=3))
    )

    assert refused.details == {"field": "title", "limit": "titleBytes", "maximum": 3}


@given(documents(), st.sampled_from(sorted(FIELD_ORDER)), values)
def test_whatever_stands_in_a_field_it_is_taken_or_refused_by_name(
    document: Document, field: str, value: Any
) -> None:
    hostile = {**document, field: value}
    before = new(entry())
    for refused in (
        refusal_or_none(lambda: new(hostile)),
        refusal_or_none(lambda: replaced(hostile, before)),
    ):
        assert refused is None or isinstance(refused.details.get("field"), str)


@given(st.sampled_from(sorted(FIELD_ORDER)), values)
def test_whatever_a_patch_holds_it_is_taken_or_refused_by_name(field: str, value: Any) -> None:
    before = new(entry(tags=["x"], metadata={"a": 1}))
    refused = refusal_or_none(lambda: patched({field: value}, before))

    assert refused is None or isinstance(refused.details.get("field"), str)


@pytest.mark.parametrize("times", [5, True, "now", [], ["createdUtc"], {"createdUtc": 5}])
def test_times_that_are_none_are_refused_by_name(times: Any) -> None:
    for call in (
        lambda: new(entry(timestamps=times)),
        lambda: replaced(entry(timestamps=times), new(entry())),
    ):
        assert refusal_of(call).details["field"].startswith("timestamps")


# -- a full replacement


@pytest.mark.parametrize("access", [AccessTier.WRITER, AccessTier.CURATOR, AccessTier.ADMIN])
def test_a_replacement_keeps_guarded_fields_that_its_caller_may_not_set(access: AccessTier) -> None:
    before = new(entry(curationTier="curated", pinned=True, isPermanent=True))
    after = replaced(entry(), before, caller(access))

    may_set = {
        "curationTier": access >= AccessTier.CURATOR,
        "pinned": access >= AccessTier.CURATOR,
        "isPermanent": access >= AccessTier.ADMIN,
    }
    for field, allowed in may_set.items():
        assert (field in after) is not allowed


def test_a_replacement_drops_what_it_leaves_out_but_not_author_and_creation() -> None:
    before = new(entry(tags=["x"], mine=1, agentId="ai:one", timestamps=...))
    after = replaced(entry(timestamps=...), before, caller(agent="ai:two"))

    assert "tags" not in after
    assert "mine" not in after
    assert after["agentId"] == "ai:one"
    assert after["timestamps"] == {
        "createdUtc": before["timestamps"]["createdUtc"],
        "updatedUtc": instant_text(LATER),
    }


def test_nobody_becomes_the_author_by_replacing() -> None:
    before = {key: value for key, value in new(entry()).items() if key != "agentId"}

    assert "agentId" not in replaced(entry(agentId="ai:two"), before)


def test_a_replacement_keeps_the_order_of_the_line() -> None:
    before = {"mine": 1, **dict(reversed(new(entry(tags=["x"])).items()))}
    after = replaced({**entry(tags=["y"]), "mine": 2, "more": 3}, before)

    assert list(after) == [*before, "more"]


# -- a patch


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_merge_patch_does_as_rfc_7386_says(target: Any, patch: Any, result: Any) -> None:
    assert merge_patch(target, patch) == result


@given(values, values)
def test_a_merge_patch_leaves_its_target_alone(target: Any, patch: Any) -> None:
    before = repr(target)
    merge_patch(target, patch)

    assert repr(target) == before


@given(documents())
def test_an_empty_patch_changes_the_time_only(document: Document) -> None:
    before = new(document)
    after = patched({}, before)

    assert is_same(before, after)
    assert list(after) == list(before)
    assert after["timestamps"]["updatedUtc"] == instant_text(LATER)


def test_a_patch_changes_what_it_names_and_nothing_else() -> None:
    before = new(entry(tags=["x"], mine={"a": 1, "b": 2}))
    after = patched({"mine": {"a": None, "c": 3}, "priority": 7}, before)

    assert after["mine"] == {"b": 2, "c": 3}
    assert after["priority"] == 7
    assert after["tags"] == ["x"]
    assert version_of(after) != version_of(before)


@pytest.mark.parametrize("field", ["id", "project", "schemaVersion"])
@pytest.mark.parametrize("value", [None, "other", 2, []])
def test_a_patch_does_not_change_what_is_fixed(field: str, value: Any) -> None:
    assert refusal_of(patched, {field: value}, new(entry())).details["field"] == field


def test_a_patch_may_repeat_what_is_fixed() -> None:
    patched({"id": "p:a", "project": PROJECT, "schemaVersion": 1}, new(entry()))


@pytest.mark.parametrize(
    ("before", "patch", "end"),
    [
        ({}, {"retention": "short"}, instant_text(LATER + timedelta(hours=6))),
        ({"retention": "short"}, {"retention": "long"}, None),
        ({"retention": "short"}, {"title": "T"}, instant_text(NOW + timedelta(hours=6))),
        ({}, {"retention": "mid", "ttlUtc": "2031-01-01T00:00:00Z"}, "2031-01-01T00:00:00Z"),
        ({"retention": "short"}, {"ttlUtc": None}, None),
        (
            {"retention": "short"},
            {"retention": "short"},
            instant_text(LATER + timedelta(hours=6)),
        ),
    ],
)
def test_a_patch_of_the_retention_sets_the_end_anew(
    before: Document, patch: Document, end: str | None
) -> None:
    assert patched(patch, new(entry(**before))).get("ttlUtc") == end


def test_a_patch_takes_a_plain_text_as_the_main_text() -> None:
    assert patched({"body": "New"}, new(entry()))["body"] == {"statement": "New"}


@pytest.mark.parametrize("gone", ["kind", "title", "body", "timestamps"])
def test_a_patch_cannot_take_away_what_is_required(gone: str) -> None:
    assert refusal_of(patched, {gone: None}, new(entry())).details["field"] == gone


def test_a_patch_does_not_change_the_author() -> None:
    before = new(entry(agentId="ai:one"))

    assert patched({"agentId": "ai:two"}, before)["agentId"] == "ai:one"
