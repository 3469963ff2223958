"""Time series for charts: one hour of metrics, sampled every 5 s."""

import threading
from collections import deque
from collections.abc import Mapping
from datetime import datetime

import msgspec

from qms.telemetry import metrics

SAMPLE_S = 5.0
"""The interval between two samples."""

KEPT_MOMENTS = 720
"""One hour of samples."""

KEPT_RECALLS = 200
RECALLED_IDS = 5
"""The number of ids that a recall keeps: the best ones."""


class StoreFigures(msgspec.Struct, frozen=True, rename="camel"):
    """The figures of one store in a sample."""

    entries: int
    embedding_backlog: int
    pending_journal: int


class Moment(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One sample: the state of the server, and its requests since the sample before."""

    at_utc: datetime
    requests: int
    failures: int
    mean_ms: float
    p95_ms: float
    """An upper bound: that of the histogram's bucket."""
    memory_bytes: int
    cpu_percent: float
    """Percent of one core: two busy cores are 200."""
    stores: dict[str, StoreFigures]


class Recall(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Entries that a search or recall returned, and to whom; kept in memory alone."""

    at_utc: datetime
    project: str
    user: str
    agent_id: str | None
    command: str
    ids: tuple[str, ...]


class _Totals(msgspec.Struct, frozen=True):
    """The totals of the metrics since the start."""

    requests: float
    failures: float
    seconds: float
    buckets: dict[float, float]
    """The number of requests that took at most the bound, by the bound in seconds."""


class Series:
    """The samples of the last hour; any thread may call any method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._moments: deque[Moment] = deque(maxlen=KEPT_MOMENTS)
        self._recalls: deque[Recall] = deque(maxlen=KEPT_RECALLS)
        self._before = _totals()
        self._process: _Process | None = None

    def sample(self, at_utc: datetime, stores: Mapping[str, StoreFigures]) -> None:
        """Take a sample now."""
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

    def note_recall(self, recall: Recall) -> None:
        """Keep a recall; the oldest goes when there are too many."""
        self._recalls.append(recall)

    def recalls(self) -> list[Recall]:
        """Return the recalls that are kept, the newest first."""
        return list(self._recalls)[::-1]

    def moments(self) -> list[Moment]:
        """Return the samples of the last hour, oldest first."""
        with self._lock:
            return list(self._moments)


class _Process:
    """The memory and CPU use of this process."""

    def __init__(self) -> None:
        import psutil  # at the first sample, not at import

        self._process = psutil.Process()
        self._process.cpu_percent(None)

    def figures(self) -> tuple[int, float]:
        """Return the resident bytes, and the percent of a core since the last call."""
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
    """Return the bucket bound below which this share of the requests between two samples is."""
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
