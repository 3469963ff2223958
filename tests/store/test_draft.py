"""Drafts: what a plan sees and changes."""

import pytest

from qms.codec.documents import version_of
from qms.domain.changes import Put, Remove
from qms.domain.errors import InvalidInputError
from qms.domain.limits import DEFAULT_LIMITS, Limits
from qms.store.draft import Draft
from qms.store.view import StoreView
from tests.support.boxes import entry, line_of


def draft(view: StoreView | None = None, limits: Limits = DEFAULT_LIMITS) -> Draft:
    return Draft(view or StoreView("p"), limits)


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
    assert Draft(view, DEFAULT_LIMITS).finish().sequence == 2


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
