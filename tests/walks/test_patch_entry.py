from typing import Any

import pytest

from tests.conftest import EntryMaker
from tests.support.house import Clock, Door, House


def test_a_patch_changes_what_it_names_and_removes_what_it_sets_to_null(
    as_writer: Door, entry: EntryMaker, clock: Clock
) -> None:
    body = {"statement": "Old", "justification": "Because"}
    as_writer("upsertEntry", entry=entry(id="one", tags=["a"], body=body, colour="blue"))
    clock.move(minutes=5)

    answer = as_writer(
        "patchEntry",
        id="one",
        patch={"tags": ["b"], "body": {"justification": None, "statement": "New"}, "colour": None},
    )

    assert answer == as_writer("getEntry", id="one")
    assert answer["entry"]["tags"] == ["b"]
    assert answer["entry"]["body"] == {"statement": "New"}
    assert "colour" not in answer["entry"]
    assert answer["entry"]["timestamps"]["updatedUtc"] == "2026-03-01T12:05:00.000Z"


@pytest.mark.parametrize(
    ("patch", "field"),
    [
        ({"id": "projA:two"}, "id"),
        ({"project": "projB"}, "project"),
        ({"kind": "rumour"}, "kind"),
        ({"body": None}, "body"),
        ({"priority": 11}, "priority"),
        ({"title": None}, "title"),
        ({"tags": 7}, "tags"),
        ({"relations": [{"type": "ref", "targetId": "projA:one"}]}, "relations[0].targetId"),
    ],
)
def test_a_patch_that_makes_no_valid_entry_is_refused_and_names_the_field(
    as_writer: Door, entry: EntryMaker, patch: dict[str, Any], field: str
) -> None:
    before = as_writer("upsertEntry", entry=entry(id="one"))["version"]

    refusal = as_writer.fails("patchEntry", id="one", patch=patch)

    assert (refusal.status, refusal.code) == (400, "invalidInput")
    assert refusal.details["field"] == field
    assert as_writer("getEntry", id="one")["version"] == before


def test_a_patch_may_repeat_the_id_and_the_project(as_writer: Door, entry: EntryMaker) -> None:
    as_writer("upsertEntry", entry=entry(id="one"))

    as_writer("patchEntry", id="one", patch={"id": "one", "project": "proja", "tags": ["x"]})

    assert as_writer("getEntry", id="one")["entry"]["tags"] == ["x"]


def test_an_absent_id_is_not_found(as_writer: Door) -> None:
    assert as_writer.fails("patchEntry", id="absent", patch={}).code == "notFound"


@pytest.mark.parametrize(
    ("tier", "field", "value", "allowed"),
    [
        ("writer", "curationTier", "curated", False),
        ("writer", "pinned", True, False),
        ("curator", "curationTier", "canonical", True),
        ("curator", "pinned", True, True),
        ("curator", "isPermanent", True, False),
        ("admin", "isPermanent", True, True),
    ],
)
def test_guarded_fields_are_patched_by_those_who_may(
    house: House, entry: EntryMaker, tier: str, field: str, value: Any, *, allowed: bool
) -> None:
    door = house.door(tier)
    door("upsertEntry", entry=entry(id="one"))

    answer = door.send("patchEntry", {"id": "one", "patch": {field: value}})

    assert answer.status == (200 if allowed else 403)
    assert (field in door("getEntry", id="one")["entry"]) is allowed


@pytest.mark.parametrize(
    "patch", [{"agentId": "me"}, {"timestamps": {"updatedUtc": "2020-01-01T00:00:00Z"}}]
)
def test_what_a_change_does_not_take_over_is_told(
    as_writer: Door, entry: EntryMaker, patch: dict[str, Any]
) -> None:
    made = as_writer("upsertEntry", entry=entry())["id"]
    before = as_writer("getEntry", id=made)["entry"]
    (told,) = as_writer("patchEntry", id=made, patch=patch)["warnings"]

    assert next(iter(patch)) in told
    assert "warnings" not in as_writer("patchEntry", id=made, patch={"agentId": before["agentId"]})
    sent = {**before, "agentId": "me"}
    assert as_writer("upsertEntry", entry=sent)["warnings"] == [
        "entry.agentId: the author of an entry stays as it is"
    ]
