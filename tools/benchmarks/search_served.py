"""Searches over HTTP against the same command in process, and imports."""

import json
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import psutil

from qms.app.build import open_root
from qms.commands.gate import Gate
from qms.disk.disk import Disk
from qms.memory.access import AccessTier, Caller
from qms.memory.entry import Document
from tools.benchmarks.measure import Plan, Row, Spent, both, duration, median_of, spend
from tools.benchmarks.search_corpus import PROJECT, Asked, Memories, WordVectors
from tools.benchmarks.served import Client, serving

QUESTIONS = 200
IMPORTED = 20_000
IMPORT_CALL = 1_000
_SETTLED_S = 120.0
_CALLER = Caller(user="bench", access=AccessTier.ADMIN)
_SETTINGS = """\
[global.embedding]
model = "{model}"
[endpoint.default]
slug = "default"
[users.bench]
tier = "admin"
apiKey = "qms_bench"
"""
_HASH, _MODEL = "hash", "models/embeddings.onnx"


class _Import(msgspec.Struct, frozen=True):
    """The cost of an import until it was acknowledged, and of the first search after it."""

    entries: int
    spent: Spent
    search_s: float

    @property
    def rate(self) -> float:
        """Return the entries per second of wall time."""
        return self.entries / self.spent.wall_s


def served_rows(plan: Plan, root: Path, size: int, embedder: WordVectors) -> list[Row]:
    """Measure searches over HTTP; the root must never have been served."""
    questions = Memories(11).questions(QUESTIONS, embedder)
    with serving(root) as client:
        _settle(client)
        served = _over_http(client, questions)
        fresh = Memories(13).questions(QUESTIONS, embedder)
        waits = [
            spend(lambda: client.call("searchEntries", _text(asked))).wall_s  # noqa: B023 - called at once
            for asked in fresh
        ]
    extra = 1e3 * (served.cpu_s - _in_process(root, questions).cpu_s)
    more, wait = plan.bounds["search-http"], plan.bounds["search-wait"]
    median = 1e3 * statistics.median(waits)
    return [
        Row(
            subject="hybrid search over HTTP, vector given",
            entries=size,
            ours=both(served),
            figure=f"{extra:.2f} ms of CPU more than the command in process",
            bound=str(more),
            verdict=more.judge(extra),
        ),
        Row(
            subject="hybrid search over HTTP, query embedded",
            entries=size,
            ours=f"– / {duration(median / 1e3)}",
            figure=f"{median:.0f} ms at the median; the aim is 25 ms",
            bound=str(wait),
            verdict=wait.judge(median),
        ),
    ]


def import_rows(
    plan: Plan, folder: Path, *, imported: int = IMPORTED, call: int = IMPORT_CALL
) -> list[Row]:
    """Measure `bulkImport` in process without and with the model, in turn."""
    entries = list(Memories(3).documents(imported))
    found: dict[str, list[_Import]] = {_HASH: [], _MODEL: []}
    for number in range(plan.rounds):
        for model, results in found.items():
            results.append(_import(folder / f"{number}-{len(model)}", model, entries, call))
    plain, embedded = (_typical(results) for results in found.values())
    cpu_rate, share = imported / plain.spent.cpu_s, embedded.rate / plain.rate
    bound, same = plan.bounds["import-rate"], plan.bounds["import-share"]
    return [
        Row(
            subject=f"bulkImport in process, {call:,} entries a call",
            entries=imported,
            ours=both(plain.spent),
            figure=f"{cpu_rate:,.0f} entries a CPU second;"
            f" the first search after it takes {duration(plain.search_s)}",
            bound=str(bound),
            verdict=bound.judge(cpu_rate),
        ),
        Row(
            subject="the same by the clock",
            entries=imported,
            ours=f"– / {duration(plain.spent.wall_s)}",
            figure=f"{plain.rate:,.0f} entries/s",
            bound=str(bound),
            verdict=bound.judge(plain.rate),
        ),
        Row(
            subject="the same with the model, until it is acknowledged",
            entries=imported,
            ours=both(embedded.spent),
            raw=f"{both(plain.spent)} without",
            figure=f"{share:.2f} × the rate without it, {embedded.rate:,.0f} entries/s",
            bound=str(same),
            verdict=same.judge(share),
        ),
    ]


def _import(root: Path, model: str, entries: list[Document], call: int) -> _Import:
    root.mkdir(parents=True)
    settings = _SETTINGS.format(model=model)
    (root / "QuickMemoryServer.toml").write_text(settings, encoding="utf-8")
    with _services(root) as services:
        services.call(_CALLER, PROJECT, "searchEntries", {"query": {"text": "anything"}})
        wall, cpu = time.perf_counter(), time.thread_time()
        for start in range(0, len(entries), call):
            request = {"entries": entries[start : start + call]}
            services.call(_CALLER, PROJECT, "bulkImport", request)
        spent = Spent(time.perf_counter() - wall, time.thread_time() - cpu)
        asked = {"query": {"text": entries[5]["title"]}}
        first = spend(lambda: services.call(_CALLER, PROJECT, "searchEntries", asked))
    return _Import(len(entries), spent, first.wall_s)


def _typical(results: list[_Import]) -> _Import:
    spent = median_of([one.spent for one in results])
    search_s = statistics.median(one.search_s for one in results)
    return _Import(results[0].entries, spent, search_s)


def _over_http(client: Client, questions: list[Asked]) -> Spent:
    bodies = [json.dumps(_request(asked)).encode() for asked in questions]
    process = psutil.Process(client.process_id)
    for body in bodies:
        client.send("searchEntries", body)
    before = process.cpu_times()
    waits = [spend(lambda: client.send("searchEntries", body)).wall_s for body in bodies]  # noqa: B023 - called at once
    after = process.cpu_times()
    cpu_s = after.user + after.system - before.user - before.system
    return Spent(statistics.median(waits), cpu_s / len(bodies))


def _in_process(root: Path, questions: list[Asked]) -> Spent:
    with _services(root) as services:
        requests = [_request(asked) for asked in questions]
        for request in requests:
            services.call(_CALLER, PROJECT, "searchEntries", request)
        begun = time.thread_time()
        for request in requests:
            services.call(_CALLER, PROJECT, "searchEntries", request)
        return Spent(0.0, (time.thread_time() - begun) / len(requests))


@contextmanager
def _services(root: Path) -> Iterator[Gate]:
    opened = open_root(root, disk=Disk(), clock=lambda: datetime.now(UTC))
    try:
        yield opened.runtime.gate()
    finally:
        opened.close()


def _settle(client: Client) -> None:
    """Wait until stores are loaded, indexes are built and the indexer is idle."""
    client.call("searchEntries", {"query": {"text": "anything"}})
    process, deadline = psutil.Process(client.process_id), time.monotonic() + _SETTLED_S
    process.cpu_percent()
    while time.monotonic() < deadline:
        time.sleep(1.0)
        if process.cpu_percent() < 3:
            return


def _request(asked: Asked) -> dict[str, object]:
    return {"query": {"text": asked.text, "embedding": asked.vector}}


def _text(asked: Asked) -> dict[str, object]:
    return {"query": {"text": asked.text}}
