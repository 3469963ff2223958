"""Cost of a search in process, against raw tantivy and raw faiss on the same data.

Every query runs in our search, tantivy and faiss in turn, so that all three use the same caches.
Run as a program it opens a store, with or without its indexes, and prints the cost as JSON.
"""

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import faiss  # type: ignore[import-untyped,unused-ignore]  # it ships no types
import msgspec
import numpy as np
from numpy.typing import NDArray

from qms.disk.disk import Disk
from qms.index.build import Built
from qms.index.embedding import embedded_text
from qms.index.indexed_entry import index_document
from qms.index.sources import Source
from qms.index.store_indexes import StoreIndexes
from qms.index.words.filter_terms import Conditions
from qms.index.words.query_plan import analyse, make_plan
from qms.index.words.segments import Segments
from qms.memory.limits import DEFAULT_LIMITS
from qms.memory.ports import Embedder
from qms.models.in_use import Models
from qms.search.pipeline import search
from qms.search.query import SearchQuery
from qms.store.view import Record
from qms.text.terms import ENGLISH
from tools.benchmarks.corpus import open_store
from tools.benchmarks.measure import (
    Plan,
    Row,
    Spent,
    Verdict,
    both,
    duration,
    median_of,
    quiet_collector,
    spend,
)
from tools.benchmarks.search_corpus import (
    DIMENSION,
    MODEL_NOTE,
    PROJECT,
    Asked,
    Memories,
    WordVectors,
)
from tools.benchmarks.store_loading import anonymous_mb

BOUND_FROM = 100_000
QUESTIONS = 200
RAW_K = 100
RECALL_K = 25
SHARES = (0.01, 0.1, 0.5)
MEMORY_QUERIES = 1_000
_ADDED_AT_ONCE = 50_000


class _Opened(msgspec.Struct):
    spent: Spent
    anonymous_mb: float


class Finder:
    """A store with its indexes, and the same data for raw tantivy and raw faiss."""

    def __init__(self, root: Path, embedder: Embedder) -> None:
        folder = root / "MemoryStores" / PROJECT
        self._store = open_store(folder, PROJECT)
        indexes = StoreIndexes(self._store, folder / "indexes", Disk())
        indexes.make(embedder)
        indexes.compact()
        built = indexes.wait(0.0)
        assert built is not None
        self.built: Built = built
        self._embedder = embedder
        self._segments = Segments(folder / "indexes" / "tantivy")
        self._searcher = self._segments.searcher()
        self._models = Models(embedder=embedder)
        self._source = Source(
            view=self._store.view,
            columns=built.columns,
            keyword=built.keyword,
            vectors=built.vectors,
        )

    def ask(self, asked: Asked) -> None:
        """Search as a command does, with a given query vector."""
        search(
            [self._source],
            SearchQuery(text=asked.text, embedding=asked.vector),
            models=self._models,
            limits=DEFAULT_LIMITS,
            now=datetime.now(UTC),
        )

    def raw_words(self, asked: Asked) -> Callable[[], object]:
        """Return a function that runs the same boolean query in raw tantivy."""
        plan = make_plan(analyse(asked.text), (ENGLISH,))
        query = self._segments.query(plan, Conditions())
        return lambda: self._searcher.search(query, RAW_K, count=False)

    def raw_scan(self) -> Callable[[NDArray[np.float32]], object]:
        """Return a function that runs the same scan of bytes in raw faiss."""
        rows = self.vectors()
        faiss.omp_set_num_threads(1)
        index: Any = faiss.IndexScalarQuantizer(
            rows.shape[1],
            faiss.ScalarQuantizer.QT_8bit_direct_signed,
            faiss.METRIC_INNER_PRODUCT,
        )
        index.train(rows[:1])
        for start in range(0, len(rows), _ADDED_AT_ONCE):
            index.add(np.rint(rows[start : start + _ADDED_AT_ONCE] * 127))
        return lambda query: index.search(query[None], RAW_K)

    def vectors(self) -> NDArray[np.float32]:
        """Return the vectors of all entries, by slot."""
        assert self.built.vectors is not None
        return self.built.vectors.centres(np.arange(len(self.built.columns)))

    def originals(self) -> NDArray[np.float32]:
        """Return the embedder's unquantized vectors of all entries, by slot."""
        slots = self.built.columns.slots
        records = [self._store.view.get(slots.id_of(slot)) for slot in range(len(slots))]
        texts = [_text(record) for record in records if record is not None]
        parts = range(0, len(texts), _ADDED_AT_ONCE)
        made = [self._embedder.embed(texts[start : start + _ADDED_AT_ONCE]) for start in parts]
        return np.concatenate(made)

    def recall(self, questions: Sequence[Asked], rows: NDArray[np.float32], share: float) -> float:
        """Return the recall of the best 25 among a part of the entries, against an exact search."""
        index = self.built.vectors
        assert index is not None
        allowed = np.random.default_rng(1).random(len(rows)) < share
        found = 0
        for asked in questions:
            query = np.array(asked.vector, np.float32)
            exact = np.where(allowed, rows @ query, -2)
            best = np.argpartition(-exact, RECALL_K)[:RECALL_K]
            slots, _ = index.nearest(query, RECALL_K, allowed)
            found += len(set(best.tolist()) & set(slots.tolist()))
        return found / (RECALL_K * len(questions))


def cost_rows(plan: Plan, root: Path, size: int, embedder: WordVectors) -> list[Row]:
    """Measure searches in process, filtered recall, memory and opening."""
    questions = Memories(7).questions(QUESTIONS, embedder)
    finder = Finder(root, embedder)
    gc.collect()
    gc.freeze()
    rows = [_search_row(plan, finder, questions, size)]
    rows += _recall_rows(plan, finder, questions[:100], size)
    return [*rows, *_opening_rows(plan, root, size)]


def _search_row(plan: Plan, finder: Finder, questions: list[Asked], size: int) -> Row:
    scan = finder.raw_scan()
    raws = [finder.raw_words(asked) for asked in questions]
    vectors = [np.rint(np.array(asked.vector, np.float32) * 500) for asked in questions]
    ours: list[float] = []
    words: list[float] = []
    bytes_: list[float] = []
    for round_ in range(plan.rounds + 1):
        for asked, raw, vector in zip(questions, raws, vectors, strict=True):
            took = [
                _cpu_s(action)
                for action in (lambda: finder.ask(asked), raw, lambda: scan(vector))  # noqa: B023 - at once
            ]
            if round_:
                for all_, one in zip((ours, words, bytes_), took, strict=True):
                    all_.append(one)
    mine, raw_words, raw_scan = map(statistics.median, (ours, words, bytes_))
    ratio, bound = mine / (raw_words + raw_scan), plan.bounds["search-ratio"]
    return Row(
        subject="hybrid search in process, vector given",
        entries=size,
        ours=duration(mine),
        raw=f"{duration(raw_words)} tantivy + {duration(raw_scan)} faiss",
        figure=f"{ratio:.2f} × the CPU of both",
        bound=str(bound) if size >= BOUND_FROM else "",
        verdict=bound.judge(ratio) if size >= BOUND_FROM else Verdict.SHOWN,
    )


def _recall_rows(plan: Plan, finder: Finder, questions: list[Asked], size: int) -> Iterator[Row]:
    bound, exact = plan.bounds["recall"], finder.originals()
    for share in SHARES:
        recall = finder.recall(questions, exact, share)
        yield Row(
            subject=f"recall of the best 25 under a filter that leaves {share:.0%}",
            entries=size,
            figure=f"{recall:.4f} of exact fp32",
            bound=str(bound),
            verdict=bound.judge(recall),
        )


def _opening_rows(plan: Plan, root: Path, size: int) -> list[Row]:
    pairs = [(_in_child("store", root), _in_child("indexes", root)) for _ in range(plan.rounds)]
    raw, mine = (median_of([one.spent for one in found]) for found in zip(*pairs, strict=True))
    memory = _in_child("memory", root).anonymous_mb
    ratio, room = mine.cpu_s / raw.cpu_s, plan.bounds["search-memory"]
    bound, is_bound = plan.bounds["open-ratio"], size >= BOUND_FROM
    return [
        Row(
            subject="open a store with its indexes",
            entries=size,
            ours=both(mine),
            raw=both(raw),
            figure=f"{ratio:.2f} × the CPU of the store alone",
            bound=str(bound) if is_bound else "",
            verdict=bound.judge(ratio) if is_bound else Verdict.SHOWN,
        ),
        Row(
            subject=f"anonymous memory without the model, after {MEMORY_QUERIES:,} searches",
            entries=size,
            figure=f"{memory:.0f} MB",
            bound=str(room) if size == BOUND_FROM else "",
            verdict=room.judge(memory) if size == BOUND_FROM else Verdict.SHOWN,
        ),
    ]


def _cpu_s(action: Callable[[], object]) -> float:
    before = time.process_time()
    action()
    return time.process_time() - before


def _in_child(what: str, root: Path) -> _Opened:
    command = [sys.executable, "-m", "tools.benchmarks.search_cost", what, str(root)]
    found = subprocess.run(command, check=True, capture_output=True)
    return msgspec.json.decode(found.stdout, type=_Opened)


def _main(what: str, root: Path) -> None:
    model_id = (root / MODEL_NOTE).read_text(encoding="utf-8")
    embedder, folder = WordVectors(model_id, DIMENSION), root / "MemoryStores" / PROJECT
    spent = Spent(0.0, 0.0)
    match what:
        case "store":
            with quiet_collector():
                spent = spend(lambda: open_store(folder, PROJECT))
        case "indexes":
            with quiet_collector():
                spent = spend(lambda: _open_all(folder, embedder))
        case "memory":
            finder = Finder(root, embedder)
            questions = Memories(7).questions(QUESTIONS, embedder)
            for number in range(MEMORY_QUERIES):
                finder.ask(questions[number % QUESTIONS])
    sys.stdout.buffer.write(msgspec.json.encode(_Opened(spent, anonymous_mb())))
    sys.stdout.flush()
    os._exit(0)  # freeing all objects is not measured


def _text(record: Record) -> str:
    return embedded_text(index_document(record.header, record.document()))


def _open_all(folder: Path, embedder: WordVectors) -> None:
    store = open_store(folder, PROJECT)
    StoreIndexes(store, folder / "indexes", Disk()).make(embedder)


if __name__ == "__main__":
    _main(sys.argv[1], Path(sys.argv[2]))
