"""Drafts: what a plan sees and changes."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from qms.memory.access import AccessTier, Right, SystemRight
from qms.memory.changes import Put, Remove
from qms.memory.errors import ConflictError, InvalidInputError, NotAllowedError
from qms.memory.limits import DEFAULT_LIMITS, Limits
from qms.memory.validation import version_of
from qms.store.draft import Draft
from qms.store.view import StoreView
from tests.support.boxes import entry, line_of


def draft(
    view: StoreView | None = None,
    limits: Limits = DEFAULT_LIMITS,
    right: Right = AccessTier.ADMIN,
) -> Draft:
    return Draft(view or StoreView("p"), limits, right)


def holding(**fields: Any) -> StoreView:
    """Return a store whose one entry has these fields."""
    one = draft()
    one.put(entry("a", **fields))
    return one.finish()


def test_a_plan_sees_what_it_has_put() -> None:
    one = draft()
    record = one.put(entry("a"))

    assert one.get("p:a") is record
    assert one.find_exact(entry("other", title="Title of a", body=entry("a")["body"])) is record
    assert (one.count, one.total_bytes) == (1, len(record.line) + 1)
    assert record.version() == version_of(entry("a"))


def test_changes_are_noted_in_their_order() -> None:
    one = draft()
    one.put(entry("a"))
    one.put(entry("a", title="Again"))
    one.remove("p:a", "expired")
    one.remove("p:absent")

    first, second, third = one.changes
    assert isinstance(first, Put)
    assert isinstance(second, Put)
    assert isinstance(third, Remove)
    assert (first.created, second.created) == (True, False)
    assert first.line == line_of(entry("a"))
    assert (third.reason, bytes(third.entry)) == ("expired", second.line)


def test_a_finished_draft_is_the_next_moment() -> None:
    one = draft()
    one.put(entry("a"))
    view = one.finish()

    assert view.sequence == 1
    assert view.records["p:a"].order == 1
    assert Draft(view, DEFAULT_LIMITS, AccessTier.ADMIN).finish().sequence == 2


def test_the_latest_entry_of_a_title_is_the_one_written_last() -> None:
    view = StoreView("p")
    for local, updated in (("a", "2030-01-01T00:00:00Z"), ("b", "2020-01-01T00:00:00Z")):
        one = draft(view)
        times = {"createdUtc": updated, "updatedUtc": updated}
        one.put(entry(local, title="Same", timestamps=times))
        view = one.finish()

    found = draft(view).find_by_title("fact", None, "SAME")
    assert found is not None
    assert found.header.id == "p:b"
    assert draft(view).find_by_title("fact", None, "other") is None


def test_a_line_that_is_too_long_is_refused_and_leaves_nothing() -> None:
    one = draft(limits=Limits(line_bytes=300))
    with pytest.raises(InvalidInputError) as refused:
        one.put(entry("a", filler="x" * 300))

    assert refused.value.details["limit"] == "lineBytes"
    assert one.changes == []
    assert one.count == 0


CHANGES: list[Callable[[Draft], object]] = [
    lambda one: one.put(entry("a", title="Another")),
    lambda one: one.put_line(line_of(entry("a", title="Another"))),
    lambda one: one.remove("p:a", force=True),
]
NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("change", CHANGES, ids=["put", "put_line", "remove"])
@pytest.mark.parametrize(
    ("fields", "too_low"),
    [
        ({}, AccessTier.READER),
        ({"curationTier": "curated"}, AccessTier.WRITER),
        ({"curationTier": "canonical"}, AccessTier.CURATOR),
        ({"isPermanent": True}, AccessTier.CURATOR),
    ],
)
def test_each_change_is_checked_against_the_right_of_the_draft(
    change: Callable[[Draft], object], fields: dict[str, Any], too_low: AccessTier
) -> None:
    view = holding(**fields)
    refused = draft(view, right=too_low)

    with pytest.raises(NotAllowedError):
        change(refused)
    assert (refused.changes, refused.finish().records) == ([], view.records)
    for right in (AccessTier(too_low + 1), *SystemRight):
        allowed = draft(view, right=AccessTier.ADMIN if "isPermanent" in fields else right)
        change(allowed)
        assert len(allowed.changes) == 1


def test_a_guarded_field_is_set_under_the_right_that_may() -> None:
    with pytest.raises(NotAllowedError, match="pinned"):
        draft(right=AccessTier.WRITER).put(entry("a", pinned=True))
    with pytest.raises(NotAllowedError, match="pinned"):
        draft(holding(pinned=True), right=AccessTier.WRITER).put(entry("a"))


def test_a_permanent_entry_is_removed_with_force_only() -> None:
    one = draft(holding(isPermanent=True))

    with pytest.raises(ConflictError):
        one.remove("p:a")
    assert one.changes == []


@pytest.mark.parametrize("right", [AccessTier.NONE, SystemRight.EXPIRY])
def test_what_is_past_its_end_leaves_under_any_right_and_nothing_else_does(right: Right) -> None:
    ended = {"curationTier": "canonical", "ttlUtc": "2029-01-01T00:00:00Z"}
    one = draft(holding(**ended), right=right)

    assert one.expire("p:a", NOW)
    assert not one.expire("p:a", NOW)
    assert not draft(holding(**ended, isPermanent=True), right=right).expire("p:a", NOW)
    assert not draft(holding(), right=right).expire("p:a", NOW)
