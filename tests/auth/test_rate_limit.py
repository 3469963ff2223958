import pytest

from qms.auth.rate_limit import RateLimit


def take(buckets: RateLimit, name: str, now_s: float) -> float:
    return buckets.take(name, per_minute=60, at_once=3, now_s=now_s)


def test_a_bucket_is_full_at_first_and_then_fills_at_its_rate() -> None:
    buckets = RateLimit(most=10)

    assert [take(buckets, "a", 0.0) for _ in range(4)] == [0, 0, 0, 1.0]
    assert take(buckets, "a", 0.75) == pytest.approx(0.25)
    assert take(buckets, "a", 1.0) == 0


def test_a_bucket_holds_no_more_than_its_size_however_long_it_waits() -> None:
    buckets = RateLimit(most=10)
    take(buckets, "a", 0.0)

    assert [take(buckets, "a", 1e6) for _ in range(4)] == [0, 0, 0, 1.0]


def test_a_refusal_costs_nothing_of_the_future() -> None:
    buckets = RateLimit(most=10)
    for _ in range(100):
        take(buckets, "a", 0.0)

    assert take(buckets, "a", 1.0) == 0


def test_one_name_does_not_empty_the_bucket_of_another() -> None:
    buckets = RateLimit(most=10)
    for _ in range(100):
        take(buckets, "a", 0.0)

    assert take(buckets, "b", 0.0) == 0


def test_a_clock_that_goes_back_gives_nothing_and_takes_nothing() -> None:
    buckets = RateLimit(most=10)
    assert [take(buckets, "a", 10.0) for _ in range(3)] == [0, 0, 0]

    assert take(buckets, "a", 5.0) == 1.0
    assert take(buckets, "a", 6.0) == 0


def test_no_more_names_are_kept_than_allowed() -> None:
    buckets = RateLimit(most=10)
    for number in range(1000):
        take(buckets, str(number), 0.0)

    assert len(buckets) == 10
