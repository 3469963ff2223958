"""`/metrics`: the server's metrics in Prometheus format."""

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from qms.commands.gate import Gate
from qms.features.health.health import report_for
from qms.http.errors import Handler, answers_errors
from qms.http.sessions import Sessions
from qms.store.options import StoreStatus
from qms.telemetry import metrics
from qms.version import __version__

STORE_GAUGES: dict[str, tuple[str, Callable[[StoreStatus], float]]] = {
    "qms_store_loaded": ("1 when the store is open", lambda one: one.loaded),
    "qms_store_pending_journal": (
        "Journal records that are not in entries.jsonl yet",
        lambda one: one.pending_journal,
    ),
    "qms_store_embedding_backlog": (
        "Entries that wait for their vectors",
        lambda one: one.embedding_backlog,
    ),
    "qms_store_problems": (
        "Lines and files that a person should look at",
        lambda one: one.problems,
    ),
    "qms_store_conflicts": ("Conflict copies", lambda one: one.conflicts),
    "qms_store_held": ("1 while a mass deletion waits for a decision", lambda one: one.held),
    "qms_store_read_only": ("1 while writes are refused", lambda one: one.read_only),
}
"""The gauges of each store that the caller may read."""


def metrics_endpoint(gate: Gate, sessions: Sessions) -> Handler:
    """Return the handler of the scrape."""

    @answers_errors
    async def scrape(request: Request) -> Response:
        who = sessions.identify(request)
        gate.check_administrator(who)
        own = CollectorRegistry()
        own.register(_Stores(report_for(gate, who).stores))
        own.register(_Process())
        text = generate_latest(metrics.REGISTRY) + generate_latest(own)
        return Response(text, headers={"content-type": CONTENT_TYPE_LATEST})

    return scrape


def metric_families() -> list[Metric]:
    """Return every metric family; those of stores are without samples."""
    collectors = (metrics.REGISTRY, _Stores([]), _Process())
    return [family for collector in collectors for family in collector.collect()]


class _Stores(Collector):
    """Collects the metrics of the stores that the caller may read."""

    def __init__(self, stores: list[StoreStatus]) -> None:
        self._stores = stores

    def collect(self) -> Iterator[Metric]:
        # A summary, since only a summary may have a name that ends in `_count`; its sum is the
        # size of the entries in bytes.
        sizes = SummaryMetricFamily(
            "qms_store_entry", "Entries of a store, and their bytes", labels=["project"]
        )
        for store in self._stores:
            sizes.add_metric([store.name], count_value=store.entries, sum_value=store.bytes)
        yield sizes
        for name, (help_text, value_of) in STORE_GAUGES.items():
            family = GaugeMetricFamily(name, help_text, labels=["project"])
            for store in self._stores:
                family.add_metric([store.name], value_of(store))
            yield family


class _Process(Collector):
    """Collects the metrics of the server's process on every operating system."""

    def __init__(self) -> None:
        import psutil  # at the first scrape, so that the port opens earlier

        self._process = psutil.Process()

    def collect(self) -> Iterator[Metric]:
        with self._process.oneshot():
            times = self._process.cpu_times()
            yield GaugeMetricFamily(
                "qms_process_resident_memory_bytes",
                "Resident memory of the server",
                value=self._process.memory_info().rss,
            )
            yield CounterMetricFamily(
                "qms_process_cpu_seconds",
                "CPU time that the server has used",
                value=times.user + times.system,
            )
            yield GaugeMetricFamily(
                "qms_process_threads", "Threads of the server", value=self._process.num_threads()
            )
            yield GaugeMetricFamily(
                "qms_process_start_time_seconds",
                "When the server started, in Unix time",
                value=self._process.create_time(),
            )
        version = GaugeMetricFamily("qms_build_info", "Version of the server", labels=["version"])
        version.add_metric([__version__], 1)
        yield version
