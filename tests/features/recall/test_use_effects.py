"""What follows from use, exactly at the boundaries."""

from datetime import timedelta
from typing import Any

import pytest

from qms.features.recall.use_effects import can_wait, follow_up, raises
from qms.memory.entry import Header
from qms.memory.retention import RetentionLengths
from qms.memory.validation import instant_text
from qms.store.pending_uses import Touch
from tests.support.searching import NOW, record

LENGTHS = RetentionLengths()
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def header(**fields: Any) -> Header:
    return record("a", "text", **fields).header


def after(uses: int, *, rewarded: int = 0) -> Touch:
    return Touch(at_utc=NOW, uses=uses, rewarded=rewarded)


@pytest.mark.parametrize(("retention", "extension"), [("short", HOUR), ("mid", DAY)])
def test_the_later_of_the_old_end_and_the_extension_counts(
    retention: str, extension: timedelta
) -> None:
    second = timedelta(seconds=1)
    ends = {
        end: follow_up(
            header(retention=retention, ttlUtc=instant_text(NOW + extension + end)),
            after(1),
            LENGTHS,
        )
        for end in (-second, timedelta(0), second)
    }

    assert ends == {
        -second: {"ttlUtc": instant_text(NOW + extension)},
        timedelta(0): {},
        second: {},
    }


@pytest.mark.parametrize(("uses", "is_promoted"), [(4, False), (5, True), (6, True)])
def test_the_fifth_use_promotes_what_lives_for_a_middle_time(uses: int, is_promoted: bool) -> None:
    ends = instant_text(NOW + 6 * DAY)

    fields = follow_up(header(retention="mid", ttlUtc=ends), after(uses), LENGTHS)

    assert fields == ({"retention": "long", "ttlUtc": None} if is_promoted else {})


def test_what_is_promoted_where_long_has_an_end_ends_no_earlier_than_before() -> None:
    lengths = RetentionLengths(long_seconds=86400)
    ends = NOW + 6 * DAY

    fields = follow_up(header(retention="mid", ttlUtc=instant_text(ends)), after(5), lengths)

    assert fields["ttlUtc"] == instant_text(ends)


@pytest.mark.parametrize(
    ("uses", "rewarded", "times"),
    [(9, 0, 0), (10, 0, 1), (10, 10, 0), (19, 10, 0), (20, 10, 1), (35, 0, 3), (35, 30, 0)],
)
def test_every_tenth_use_raises_once(uses: int, rewarded: int, times: int) -> None:
    assert raises(after(uses, rewarded=rewarded)) == times


@pytest.mark.parametrize(("priority", "raised"), [(5, 6), (9, 10), (10, None)])
def test_priority_ends_at_ten(priority: int, raised: int | None) -> None:
    fields = follow_up(header(priority=priority), after(10), LENGTHS)

    assert fields.get("priority") == raised


def test_what_is_permanent_or_over_stays_as_it_is() -> None:
    ended = header(retention="short", ttlUtc=instant_text(NOW))

    assert follow_up(header(isPermanent=True, retention="mid"), after(10), LENGTHS) == {}
    assert follow_up(ended, after(10), LENGTHS) == {}


def test_a_slightly_later_end_can_wait_and_a_promotion_cannot() -> None:
    def ending_in(length: timedelta) -> Header:
        return header(retention="short", ttlUtc=instant_text(NOW + length))

    minute = timedelta(minutes=1)

    assert can_wait(ending_in(2 * HOUR), after(1), LENGTHS)
    assert can_wait(ending_in(HOUR - minute / 2), after(1), LENGTHS)
    assert not can_wait(ending_in(HOUR - minute), after(1), LENGTHS)
    assert not can_wait(header(retention="mid"), after(5), LENGTHS)
    assert can_wait(header(), after(9), LENGTHS)
    assert not can_wait(header(), after(10), LENGTHS)
