from datetime import UTC, datetime

import pytest

from qms.telemetry import metrics
from qms.telemetry.series import Series

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def observe(seconds: float, *, outcome: str = "ok") -> None:
    metrics.REQUESTS.labels("api", "getEntry", outcome).inc()
    metrics.REQUEST_SECONDS.labels("api", "getEntry").observe(seconds)


def test_a_moment_tells_what_happened_since_the_one_before() -> None:
    observe(9.0)
    series = Series()
    for _ in range(19):
        observe(0.002)
    observe(0.2, outcome="conflict")
    series.sample(NOW, {})
    series.sample(NOW, {})

    busy, quiet = series.moments()

    assert (busy.requests, busy.failures) == (20, 1)
    assert busy.mean_ms == pytest.approx(11.9)
    assert busy.p95_ms == 2.5
    assert (quiet.requests, quiet.failures, quiet.mean_ms, quiet.p95_ms) == (0, 0, 0.0, 0.0)


def test_a_request_beyond_the_last_bucket_is_shown_as_long_as_it() -> None:
    series = Series()
    observe(60.0)
    series.sample(NOW, {})

    assert series.moments()[0].p95_ms == 10_000
