"""Lifespan arithmetic."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.memory.entry import Header, Retention
from qms.memory.retention import MAX_SECONDS, RetentionLengths, expiry, is_expired
from qms.memory.validation import header_of, instant_text
from tests.support.boxes import NOW, entry


def living_until(end: Any, **fields: Any) -> Header:
    return header_of(entry(ttlUtc=None if end is None else instant_text(end), **fields))


@pytest.mark.parametrize(
    ("retention", "length"),
    [
        (Retention.SHORT, timedelta(hours=6)),
        (Retention.MID, timedelta(days=7)),
        (Retention.LONG, None),
    ],
)
def test_each_retention_has_its_length(retention: Retention, length: timedelta | None) -> None:
    assert expiry(retention, NOW, RetentionLengths()) == (NOW + length if length else None)


@pytest.mark.parametrize("retention", list(Retention))
def test_a_length_of_zero_is_for_ever(retention: Retention) -> None:
    none = RetentionLengths(short_seconds=0, mid_seconds=0, long_seconds=0)

    assert expiry(retention, NOW, none) is None


def test_the_longest_finite_retention_is_ten_years() -> None:
    longest = RetentionLengths(long_seconds=MAX_SECONDS)

    assert expiry(Retention.LONG, NOW, longest) == NOW + timedelta(days=3650)


@pytest.mark.parametrize(("late", "expired"), [(-1, False), (0, True), (1, True)])
def test_an_entry_is_gone_from_the_very_instant_it_expires(late: int, expired: bool) -> None:
    assert is_expired(living_until(NOW), NOW + timedelta(milliseconds=late)) is expired


def test_an_entry_without_an_end_never_expires() -> None:
    assert not is_expired(living_until(None), NOW + timedelta(days=365_000))


def test_a_permanent_entry_does_not_expire_whatever_its_end() -> None:
    assert not is_expired(living_until(NOW, isPermanent=True), NOW + timedelta(days=1))


def test_an_end_in_another_time_zone_is_the_same_instant() -> None:
    header = header_of(entry(ttlUtc="2026-01-05T11:00:00+02:00"))

    assert is_expired(header, NOW)
    assert not is_expired(header, NOW - timedelta(seconds=1))


@given(st.integers(1, MAX_SECONDS), st.integers(-(10**7), 10**7))
def test_an_entry_lives_exactly_as_long_as_its_retention(seconds: int, after: int) -> None:
    end = expiry(Retention.SHORT, NOW, RetentionLengths(short_seconds=seconds))
    assert end is not None

    assert is_expired(living_until(end), NOW + timedelta(seconds=after)) is (after >= seconds)
