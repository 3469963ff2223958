"""The rights table of docs/access: who may do what to which entry."""

from typing import Any

import pytest

from qms.memory.access import (
    GUARDED_FIELDS,
    AccessTier,
    check_delete,
    check_put,
    may_edit,
    may_set,
    tier_to_edit,
)
from qms.memory.entry import Header
from qms.memory.errors import ConflictError, NotAllowedError
from qms.memory.validation import header_of
from tests.support.boxes import entry

TIERS = tuple(AccessTier)

LEAST_TIER_TO_EDIT: list[tuple[dict[str, Any], AccessTier]] = [
    ({}, AccessTier.WRITER),
    ({"curationTier": "provisional"}, AccessTier.WRITER),
    ({"curationTier": "curated"}, AccessTier.CURATOR),
    ({"curationTier": "canonical"}, AccessTier.ADMIN),
    ({"isPermanent": True}, AccessTier.ADMIN),
    ({"isPermanent": True, "curationTier": "curated"}, AccessTier.ADMIN),
    ({"pinned": True}, AccessTier.WRITER),
]

LEAST_TIER_TO_SET: list[tuple[str, Any, AccessTier]] = [
    ("title", "Another title", AccessTier.WRITER),
    ("tags", ["x"], AccessTier.WRITER),
    ("priority", 9, AccessTier.WRITER),
    ("retention", "short", AccessTier.WRITER),
    ("pinned", True, AccessTier.CURATOR),
    ("curationTier", "curated", AccessTier.CURATOR),
    ("curationTier", "canonical", AccessTier.CURATOR),
    ("isPermanent", True, AccessTier.ADMIN),
]


def header(**overrides: Any) -> Header:
    return header_of(entry(**overrides))


@pytest.mark.parametrize("access", TIERS)
@pytest.mark.parametrize(("fields", "least"), LEAST_TIER_TO_EDIT)
def test_an_entry_is_edited_and_deleted_from_its_own_tier_upwards(
    fields: dict[str, Any], least: AccessTier, access: AccessTier
) -> None:
    before = header(**fields)
    allowed = access >= least

    assert tier_to_edit(before) is least
    assert may_edit(access, before) is allowed
    if allowed:
        check_put(access, before, before)
        check_delete(access, before, force=True)
        return
    with pytest.raises(NotAllowedError) as edited:
        check_put(access, before, before)
    with pytest.raises(NotAllowedError) as deleted:
        check_delete(access, before, force=True)
    for refused in (edited.value, deleted.value):
        assert refused.details == {"needs": least.label, "has": access.label}


@pytest.mark.parametrize("access", TIERS)
@pytest.mark.parametrize(("field", "value", "least"), LEAST_TIER_TO_SET)
def test_a_field_is_set_from_its_own_tier_upwards(
    field: str, value: Any, least: AccessTier, access: AccessTier
) -> None:
    after = header(**{field: value})

    assert may_set(access, field) is (access >= least)
    if access >= least:
        check_put(access, None, after)
        check_put(access, header(), after)
        return
    with pytest.raises(NotAllowedError) as created:
        check_put(access, None, after)
    with pytest.raises(NotAllowedError) as edited:
        check_put(access, header(), after)
    if access >= AccessTier.WRITER:
        assert created.value.details["field"] == edited.value.details["field"] == field
        assert field in created.value.message


@pytest.mark.parametrize("value", ["curated", "provisional"])
def test_a_curator_sets_the_curation_tier_in_any_direction_below_canonical(value: str) -> None:
    check_put(AccessTier.CURATOR, header(curationTier="curated"), header(curationTier=value))


def test_a_curator_may_make_an_entry_canonical_but_not_touch_it_then() -> None:
    canonical = header(curationTier="canonical")

    check_put(AccessTier.CURATOR, header(), canonical)
    with pytest.raises(NotAllowedError):
        check_put(AccessTier.CURATOR, canonical, header())


@pytest.mark.parametrize(
    ("field", "value"), [("curationTier", "curated"), ("pinned", True), ("isPermanent", True)]
)
def test_taking_a_guarded_field_away_needs_the_tier_that_sets_it(field: str, value: Any) -> None:
    below = {"curationTier": "writer", "pinned": "writer", "isPermanent": "curator"}[field]

    with pytest.raises(NotAllowedError):
        check_put(AccessTier.from_label(below), header(**{field: value}), header())


def test_a_permanent_entry_is_deleted_by_an_admin_with_force_only() -> None:
    permanent = header(isPermanent=True)

    check_delete(AccessTier.ADMIN, permanent, force=True)
    with pytest.raises(ConflictError) as unforced:
        check_delete(AccessTier.ADMIN, permanent, force=False)
    assert unforced.value.details == {"id": "p:a", "field": "force"}


def test_force_does_not_lift_a_tier() -> None:
    with pytest.raises(NotAllowedError):
        check_delete(AccessTier.CURATOR, header(isPermanent=True), force=True)


def test_the_guarded_fields_are_the_three_of_the_table() -> None:
    assert set(GUARDED_FIELDS) == {"curationTier", "pinned", "isPermanent"}


@pytest.mark.parametrize("access", TIERS)
def test_a_tier_is_found_by_its_name(access: AccessTier) -> None:
    assert AccessTier.from_label(access.label) is access


@pytest.mark.parametrize("label", ["", "Admin", "ADMINS", "root", "Reader", "1"])
def test_a_name_that_is_no_tier_is_refused(label: str) -> None:
    with pytest.raises(KeyError):
        AccessTier.from_label(label)
