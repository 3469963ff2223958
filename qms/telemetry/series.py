"""An hour of the server's figures for charts, sampled from its metrics every few seconds."""

import threading
from collections import deque
from collections.abc import Mapping
from datetime import datetime

import msgspec

from qms.telemetry import metrics

SAMPLE_S = 5.0
"""How far the moments of the series lie apart."""

KEPT_MOMENTS = 720
"""An hour of them."""


class StoreFigures(msgspec.Struct, frozen=True, rename="camel"):
    """One store at a moment."""

    entries: int
    embedding_backlog: int
    pending_journal: int


class Moment(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The server at a moment, and what it did since the moment before."""

    at_utc: datetime
    requests: int
    failures: int
    mean_ms: float
    p95_ms: float
    """At most: the upper bound of the histogram's bucket."""
    memory_bytes: int
    cpu_percent: float
    """Of one core: two busy cores are 200."""
    stores: dict[str, StoreFigures]


class _Totals(msgspec.Struct, frozen=True):
    """What the metrics have counted since the start."""

    requests: float
    failures: float
    seconds: float
    buckets: dict[float, float]
    """Requests that took at most so many seconds, by the bound."""


class Series:
    """The moments that were sampled; any thread may call any method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._moments: deque[Moment] = deque(maxlen=KEPT_MOMENTS)
        self._before = _totals()
        self._process: _Process | None = None

    def sample(self, at_utc: datetime, stores: Mapping[str, StoreFigures]) -> None:
        """Keep the present moment."""
        now = _totals()
        if self._process is None:
            self._process = _Process()
        memory_bytes, cpu_percent = self._process.figures()
        with self._lock:
            before, self._before = self._before, now
            requests = now.requests - before.requests
            self._moments.append(
                Moment(
                    at_utc=at_utc,
                    requests=int(requests),
                    failures=int(now.failures - before.failures),
                    mean_ms=_ms((now.seconds - before.seconds) / requests if requests else 0.0),
                    p95_ms=_ms(_percentile(before, now, 0.95)),
                    memory_bytes=memory_bytes,
                    cpu_percent=cpu_percent,
                    stores=dict(stores),
                )
            )

    def moments(self) -> list[Moment]:
        """Return the moments of the last hour, the oldest first."""
        with self._lock:
            return list(self._moments)


class _Process:
    """What this process uses of the machine."""

    def __init__(self) -> None:
        import psutil  # when somebody samples, not whenever the module is read

        self._process = psutil.Process()
        self._process.cpu_percent(None)

    def figures(self) -> tuple[int, float]:
        """Return the resident bytes, and the percentage of a core since the last call."""
        return self._process.memory_info().rss, self._process.cpu_percent(None)


def _totals() -> _Totals:
    requests = failures = seconds = 0.0
    buckets: dict[float, float] = {}
    for sample in next(iter(metrics.REQUESTS.collect())).samples:
        requests += sample.value
        failures += sample.value if sample.labels["outcome"] != "ok" else 0.0
    for sample in next(iter(metrics.REQUEST_SECONDS.collect())).samples:
        if sample.name.endswith("_sum"):
            seconds += sample.value
        elif sample.name.endswith("_bucket"):
            bound = float(sample.labels["le"])
            buckets[bound] = buckets.get(bound, 0.0) + sample.value
    return _Totals(requests, failures, seconds, buckets)


def _percentile(before: _Totals, now: _Totals, share: float) -> float:
    """Return the bound below which that share of the requests between two moments stayed."""
    counts = {
        bound: count - before.buckets.get(bound, 0.0)
        for bound, count in sorted(now.buckets.items())
    }
    total = max(counts.values(), default=0.0)
    if not total:
        return 0.0
    largest = max(bound for bound in counts if bound != float("inf"))
    return min(largest, next(bound for bound, count in counts.items() if count >= share * total))


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
