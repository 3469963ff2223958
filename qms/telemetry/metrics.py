"""Every metric of the server, declared once; `docs/metrics.md` explains them.

Labels come from closed sets only: nothing that a caller sends becomes one. No counter names a
project, since whoever reads the metrics may not be allowed to know that project's figures; what
belongs to one store is collected at the moment of reading, for the stores open to the reader.
"""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
)

# A time beside every counter would double the page.
disable_created_metrics()  # type: ignore[no-untyped-call]  # it carries no types

REGISTRY = CollectorRegistry()

_SHORT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
_LONG = (0.005, 0.025, 0.1, 0.25, 1, 2.5, 10, 60)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

REQUESTS = Counter(
    "qms_mcp_requests",
    "Commands answered, by door (mcp, api, admin), command and outcome (ok or the error's code)",
    ("door", "command", "outcome"),
    registry=REGISTRY,
)
REQUEST_SECONDS = Histogram(
    "qms_mcp_request_duration_seconds",
    "Time from the decoded request to its answer, by door and command",
    ("door", "command"),
    buckets=_SHORT,
    registry=REGISTRY,
)
COMMANDS_RUNNING = Gauge(
    "qms_queue_commands",
    "Commands that run or wait for a thread now",
    registry=REGISTRY,
)
LOOP_LAG_SECONDS = Histogram(
    "qms_event_loop_lag_seconds",
    "By how much a timer of the event loop came late",
    buckets=_SHORT,
    registry=REGISTRY,
)
JOURNAL_GROUP = Histogram(
    "qms_journal_group_records",
    "Writes that shared one sync of a journal",
    buckets=_SIZES,
    registry=REGISTRY,
)
JOURNAL_SECONDS = Histogram(
    "qms_journal_append_duration_seconds",
    "Time to append to a journal and sync it",
    buckets=_SHORT,
    registry=REGISTRY,
)
JOURNAL_BYTES = Counter(
    "qms_journal_bytes",
    "Bytes appended to journals",
    registry=REGISTRY,
)
FOLD_SECONDS = Histogram(
    "qms_fold_duration_seconds",
    "Time to bring a journal into entries.jsonl, by outcome",
    ("outcome",),
    buckets=_LONG,
    registry=REGISTRY,
)
RELOAD_SECONDS = Histogram(
    "qms_reload_duration_seconds",
    "Time to take in an entries.jsonl that was edited by hand",
    buckets=_LONG,
    registry=REGISTRY,
)
RELOADED_ENTRIES = Counter(
    "qms_reload_entries",
    "Entries added, changed and removed by hand, and conflicts with the server's own writes",
    ("change",),
    registry=REGISTRY,
)
EMBEDDED_ENTRIES = Counter(
    "qms_embedding_entries",
    "Entries that were given their vectors",
    registry=REGISTRY,
)
EMBEDDING_SECONDS = Counter(
    "qms_embedding_seconds",
    "Time spent giving entries their vectors",
    registry=REGISTRY,
)
