"""Cost of an upsert with and without its checks for similar entries and contradictions."""

import random
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from qms.app.build import open_root
from qms.commands.gate import Gate
from qms.disk.disk import Disk
from qms.memory.access import AccessTier, Caller
from tools.benchmarks.measure import Plan, Row, duration

BARE, SIMILAR, BOTH = "bare", "similar", "both"
IMPORT_CALL = 1_000
_CALLER = Caller(user="bench", access=AccessTier.ADMIN)
_SHARED_TITLES = 0.3
_SETTINGS = '[global.embedding]\nmodel = "hash"\n' + "".join(
    f'[endpoint.{slug}]\nslug = "{slug}"\n' for slug in (BARE, SIMILAR, BOTH)
)
_OFF = {
    BARE: {
        "qms.commands.entry_writes._similar": (),
        "qms.features.entries.entries.potential_contradictions": (),
    },
    SIMILAR: {"qms.features.entries.entries.potential_contradictions": ()},
    BOTH: {},
}
"""The functions that each project's upserts skip, and their replacements."""


def facts(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield distinct facts; many share their title, and some their subject."""
    chance = random.Random(seed)
    things = [f"{one} {two}" for one in _PLACES for two in _PARTS]
    for number in range(count):
        thing, value = chance.choice(things), f"{chance.choice(_VALUES)} {seed}-{number}"
        where = chance.choice(_PLACES)
        text = f"The {thing} for client {chance.randrange(count)} is {value}. It runs in {where}."
        clash = chance.random() < _SHARED_TITLES
        title = f"About the {thing}" if clash else f"The {thing} {seed}-{number}"
        yield {"kind": "fact", "title": title, "body": text, "tags": thing.split()}


def check_rows(plan: Plan, root: Path, size: int) -> list[Row]:
    """Measure three projects of equal content in turn, one upsert each."""
    root.mkdir()
    (root / "QuickMemoryServer.toml").write_text(_SETTINGS, encoding="utf-8")
    with _services(root) as services:
        for project in _OFF:
            _fill(services, project, size)
        spent = _measured(services, plan.writes)
    bare = spent[BARE]
    return [
        _row(plan, "an upsert that looks for similar entries", size, spent[SIMILAR], bare),
        _row(plan, "and for contradictions as well", size, spent[BOTH], bare, bound="checks-ratio"),
    ]


def _measured(services: Gate, writes: int) -> dict[str, float]:
    spent: dict[str, list[float]] = {project: [] for project in _OFF}
    for entry in facts(writes, seed=2):
        for project, off in _OFF.items():
            with ExitStack() as stack:
                for name, value in off.items():
                    stack.enter_context(patch(name, lambda *_, value=value: value))
                begun = time.thread_time()
                services.call(_CALLER, project, "upsertEntry", {"entry": dict(entry)})
                spent[project].append(time.thread_time() - begun)
    return {project: statistics.median(times) for project, times in spent.items()}


def _fill(services: Gate, project: str, size: int) -> None:
    entries = list(facts(size, seed=1))
    for start in range(0, size, IMPORT_CALL):
        request = {"entries": entries[start : start + IMPORT_CALL]}
        services.call(_CALLER, project, "bulkImport", request)
    # On a running server the indexer has read these already.
    services.call(_CALLER, project, "listContradictions", {"filter": {"tags": ["none"]}})


def _row(
    plan: Plan, subject: str, size: int, ours: float, bare: float, bound: str = "similar-ratio"
) -> Row:
    limit = plan.bounds[bound]
    return Row(
        subject=subject,
        entries=size,
        ours=duration(ours),
        raw=f"{duration(bare)} without",
        figure=f"{ours / bare:.2f} × the CPU without",
        bound=str(limit),
        verdict=limit.judge(ours / bare),
    )


@contextmanager
def _services(root: Path) -> Iterator[Gate]:
    opened = open_root(
        root, disk=Disk(), clock=lambda: datetime.now(UTC), command="bench", in_background=False
    )
    try:
        yield opened.runtime.gate()
    finally:
        opened.close()


_PLACES = (
    "staging", "production", "billing", "search", "login", "payment", "archive", "mail",
    "parser", "scheduler", "gateway", "reporting", "catalog", "checkout", "warehouse", "audit",
)  # fmt: skip
_PARTS = (
    "port", "timeout", "owner", "database", "queue", "region", "version", "backup window",
    "log level", "retry limit", "certificate", "cache size", "address", "language", "quota",
)  # fmt: skip
_VALUES = ("PostgreSQL", "forty", "Frankfurt", "Ada", "weekly", "enabled", "blue", "Redis", "large")
