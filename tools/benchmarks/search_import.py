"""Imports with the shipped model: latency of concurrent searches, and speed of embedding."""

import json
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from qms.disk.disk import Disk
from qms.index.embedding import embedded_text
from qms.index.indexed_entry import index_document
from qms.index.indexer import EMBED_ENTRIES
from qms.index.store_indexes import StoreIndexes
from qms.memory.lines import encode_line
from qms.memory.ports import Embedder
from qms.store.view import Record
from tools.benchmarks.corpus import make_store, open_store
from tools.benchmarks.measure import Plan, Row, duration
from tools.benchmarks.search_corpus import PROJECT, Asked, Memories, WordVectors, make_root
from tools.benchmarks.served import Client, serving

STORED = 10_000
IMPORTED = 20_000
IMPORT_CALL = 1_000
IDLE_SEARCHES = 100
BUSY_SEARCHES = 5_000
"""More than an import needs, so that no query's vector is cached from an earlier one."""
EMBEDDED = 96


class _Import(threading.Thread):
    """Imports entries call by call and records the cost."""

    def __init__(self, client: Client) -> None:
        super().__init__(daemon=True)
        self._client = client
        entries = list(Memories(5).documents(IMPORTED))
        self._bodies = [
            json.dumps({"entries": [_new(one) for one in entries[start : start + IMPORT_CALL]]})
            for start in range(0, IMPORTED, IMPORT_CALL)
        ]
        self.took_s = 0.0

    def run(self) -> None:
        began = time.perf_counter()
        for body in self._bodies:
            self._client.send("bulkImport", body.encode())
        self.took_s = time.perf_counter() - began


def import_rows(plan: Plan, root: Path, embedder: WordVectors) -> list[Row]:
    """Measure searches during an import, against the same searches before it."""
    make_root(root, STORED, embedder)
    questions = Memories(17).questions(IDLE_SEARCHES + BUSY_SEARCHES, embedder)
    with serving(root) as client:
        client.call("searchEntries", {"query": {"text": "anything"}})
        return _rows(plan, client, iter(questions))


def _rows(plan: Plan, client: Client, questions: Iterator[Asked]) -> list[Row]:
    idle = [_wait_s(client, asked) for asked in islice(questions, IDLE_SEARCHES)]
    importing = _Import(client.another())
    importing.start()
    busy: list[float] = []
    while importing.is_alive():
        busy.append(_wait_s(client, next(questions)))
    importing.join()
    busy.sort()
    before, median = statistics.median(idle), statistics.median(busy)
    worst = busy[int(0.99 * (len(busy) - 1))]
    slower, longest = plan.bounds["import-search"], plan.bounds["import-wait"]
    return [
        Row(
            subject=f"search over HTTP while {IMPORTED:,} entries are imported",
            entries=STORED,
            ours=f"– / {duration(median)}",
            raw=f"– / {duration(before)} idle",
            figure=f"{median / before:.2f} × the idle median, of {len(busy)} searches",
            bound=str(slower),
            verdict=slower.judge(median / before),
        ),
        Row(
            subject="the same, 99 of 100",
            entries=STORED,
            ours=f"– / {duration(worst)}",
            figure=f"{1e3 * worst:.0f} ms; {IMPORTED / importing.took_s:,.0f} entries/s came in",
            bound=str(longest),
            verdict=longest.judge(1e3 * worst),
        ),
    ]


def embedding_row(plan: Plan, folder: Path, embedder: Embedder) -> Row:
    """Measure how fast entries get their vectors, against the model alone on their texts."""
    documents = Memories(9).documents(EMBEDDED * (plan.rounds + 1))
    make_store(folder, PROJECT, [encode_line(one) for one in documents])
    store = open_store(folder, PROJECT)
    indexes = StoreIndexes(store, folder / "indexes", Disk())
    indexes.make(embedder)
    texts = [_text(record) for record in store.in_file_order(store.view)]
    pairs = []
    for start in range(0, len(texts), EMBEDDED):
        part = texts[start : start + EMBEDDED]
        raw = _cpu_s(lambda: embedder.embed(part))  # noqa: B023 - called at once
        pairs.append((raw, _cpu_s(lambda: _embed_some(indexes, embedder))))
    store.close()
    raw, ours = (statistics.median(found) for found in zip(*pairs[1:], strict=True))
    bound = plan.bounds["embedding-share"]
    return Row(
        subject="embed what waits, one thread, an entry",
        entries=len(texts),
        ours=duration(ours / EMBEDDED),
        raw=duration(raw / EMBEDDED),
        figure=f"{100 * raw / ours:.0f} % of the model's own rate, {EMBEDDED / ours:.0f}/s",
        bound=str(bound),
        verdict=bound.judge(100 * raw / ours),
    )


def _embed_some(indexes: StoreIndexes, embedder: Embedder) -> None:
    left = indexes.backlog - EMBEDDED
    while indexes.backlog > left:
        indexes.embed(embedder, EMBED_ENTRIES)


def _text(record: Record) -> str:
    return embedded_text(index_document(record.header, record.document()))


def _cpu_s(action: Callable[[], object]) -> float:
    before = time.process_time()
    action()
    return time.process_time() - before


def _wait_s(client: Client, asked: Asked) -> float:
    began = time.perf_counter()
    client.call("searchEntries", {"query": {"text": asked.text}})
    return time.perf_counter() - began


def _new(document: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in document.items() if name not in ("id", "relations")}
