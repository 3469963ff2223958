"""Every metric of the server, declared once; `docs/metrics.md` explains them.

Labels come from closed sets only: nothing that a caller sends becomes a label. No counter has a
project label, because the reader of the metrics may not be allowed to see that project. Figures of
a store are collected at each scrape, for the stores that are open to the reader.
"""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
)

# A creation time for every counter would double the page.
disable_created_metrics()  # type: ignore[no-untyped-call]  # it carries no types

REGISTRY = CollectorRegistry()

_SHORT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
_LONG = (0.005, 0.025, 0.1, 0.25, 1, 2.5, 10, 60)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

REQUESTS = Counter(
    "qms_mcp_requests",
    "Commands answered, by door (mcp, api, admin), command and outcome (ok or the error code)",
    ("door", "command", "outcome"),
    registry=REGISTRY,
)
REQUEST_SECONDS = Histogram(
    "qms_mcp_request_duration_seconds",
    "Time from the decoded request to its response, by door and command",
    ("door", "command"),
    buckets=_SHORT,
    registry=REGISTRY,
)
COMMANDS_RUNNING = Gauge(
    "qms_queue_commands",
    "Commands that are running or waiting for a thread",
    registry=REGISTRY,
)
LOOP_LAG_SECONDS = Histogram(
    "qms_event_loop_lag_seconds",
    "Delay of a timer of the event loop",
    buckets=_SHORT,
    registry=REGISTRY,
)
JOURNAL_GROUP = Histogram(
    "qms_journal_group_records",
    "Writes per sync of a journal (group commit)",
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
    "Time to fold a journal into entries.jsonl, by outcome",
    ("outcome",),
    buckets=_LONG,
    registry=REGISTRY,
)
RELOAD_SECONDS = Histogram(
    "qms_reload_duration_seconds",
    "Time to reload an entries.jsonl that was edited by hand",
    buckets=_LONG,
    registry=REGISTRY,
)
RELOADED_ENTRIES = Counter(
    "qms_reload_entries",
    "Entries added, changed and removed by hand, and conflicts with writes of the server",
    ("change",),
    registry=REGISTRY,
)
EMBEDDED_ENTRIES = Counter(
    "qms_embedding_entries",
    "Entries embedded",
    registry=REGISTRY,
)
EMBEDDING_SECONDS = Counter(
    "qms_embedding_seconds",
    "Time spent embedding entries",
    registry=REGISTRY,
)
