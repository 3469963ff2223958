"""Cron expressions: which moments they name, also where clocks change."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.config.cron import find_zone, parse_cron

START = datetime(2020, 1, 1, tzinfo=UTC)


def following(text: str, moment: str, zone: str = "UTC", count: int = 1) -> list[str]:
    cron, now, found = parse_cron(text), datetime.fromisoformat(moment), []
    for _ in range(count):
        later = cron.next_after(now, find_zone(zone))
        assert later is not None
        found.append(later.strftime("%Y-%m-%dT%H:%MZ"))
        now = later
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 3 * * *", "2026-03-02T03:00Z"),
        ("* * * * *", "2026-03-01T12:01Z"),
        ("*/15 * * * *", "2026-03-01T12:15Z"),
        ("5/20 * * * *", "2026-03-01T12:05Z"),
        ("0 9-17/4 * * *", "2026-03-01T13:00Z"),
        ("30 2 1,15 * *", "2026-03-15T02:30Z"),
        ("0 0 * * mon", "2026-03-02T00:00Z"),
        ("0 0 * * 7", "2026-03-08T00:00Z"),
        ("0 0 29 feb *", "2028-02-29T00:00Z"),
        ("0 0 13 * fri", "2026-03-06T00:00Z"),
        ("0 0 ? * 1-5", "2026-03-02T00:00Z"),
    ],
)
def test_the_next_moment_is_the_one_that_the_fields_name(text: str, expected: str) -> None:
    assert following(text, "2026-03-01T12:00:00+00:00") == [expected]


@pytest.mark.parametrize(
    "text",
    [
        *("", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *"),
        *("* * * * 8", "a * * * *", "5-1 * * * *", "*/0 * * * *", "1, * * * *", "- * * * *"),
    ],
)
def test_what_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_cron(text)


def test_a_day_that_never_comes_has_no_next_moment() -> None:
    assert parse_cron("0 0 31 feb *").next_after(datetime(2026, 1, 1, tzinfo=UTC), UTC) is None


def test_a_time_that_the_clock_leaves_out_comes_once_and_later() -> None:
    runs = following("30 2 * * *", "2026-03-28T12:00:00+00:00", "Europe/Berlin", 2)

    assert runs == ["2026-03-29T01:30Z", "2026-03-30T00:30Z"]


def test_a_time_that_comes_twice_counts_once() -> None:
    runs = following("30 2 * * *", "2026-10-24T12:00:00+00:00", "Europe/Berlin", 2)

    assert runs == ["2026-10-25T00:30Z", "2026-10-26T01:30Z"]


def test_every_hour_means_every_hour_when_clocks_go_back() -> None:
    runs = following("0 * * * *", "2026-10-24T23:30:00+00:00", "Europe/Berlin", 4)

    assert runs == [f"2026-10-25T0{hour}:00Z" for hour in range(4)]


def test_the_systems_own_zone_is_taken_with_its_rules() -> None:
    assert find_zone("local") is None
    assert len(following("0 3 * * *", "2026-03-01T12:00:00+00:00", "local", 3)) == 3


def test_a_zone_that_nobody_knows_is_named() -> None:
    with pytest.raises(ValueError, match="Mars/Olympus"):
        find_zone("Mars/Olympus")


@given(
    st.integers(0, 15 * 365 * 1440).map(lambda n: START + timedelta(minutes=n)),
    st.integers(0, 23),
    st.integers(0, 59),
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]),
)
def test_a_daily_run_comes_once_a_day_whatever_the_clocks_do(
    moment: datetime, hour: int, minute: int, zone: str
) -> None:
    cron, found = parse_cron(f"{minute} {hour} * * *"), find_zone(zone)
    first = cron.next_after(moment, found)
    assert first is not None
    second = cron.next_after(first, found)
    assert second is not None

    assert timedelta(0) < first - moment <= timedelta(hours=26)
    assert timedelta(hours=22) <= second - first <= timedelta(hours=26)
