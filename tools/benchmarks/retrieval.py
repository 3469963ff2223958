"""Retrieval: how often search brings the memories that answer a question."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from qms.domain.limits import DEFAULT_LIMITS
from qms.domain.ports import Embedder
from qms.inference.hash_embedder import MODEL_ID as HASH_MODEL
from qms.search.pipeline import Models, search
from qms.search.query import SearchQuery
from qms.search.sources import Source
from tools.benchmarks.retrieval_sets import MemorySet, Question, read_sets
from tools.benchmarks.retrieval_stores import PROJECT, START, make_source
from tools.benchmarks.retrieval_vectors import KeptVectors, Vectors

TOP = 10
NOW = START + timedelta(days=30)
MEASURES = ("any@5", "any@10", "frac@10", "nDCG@10")

Scores = tuple[float, float, float, float]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table: a set or a part of it, what is asked of it and what came out."""

    name: str
    questions: int
    scores: Scores
    keyword: Scores | None = None
    goal: Scores | None = None

    @property
    def is_reached(self) -> bool:
        """Say whether every measure is at its goal and above the best plain keyword engine."""
        at_goal = all(map(_at_least, self.scores, self.goal or self.scores))
        return at_goal and all(map(_above, self.scores, self.keyword or (-1.0,) * 4))


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Which questions of which set a line is about, and how its memories are imported."""

    name: str
    set: str
    type_prefix: str = ""
    plain: bool = False
    keyword: Scores | None = None
    goal: Scores | None = None


PARTS = (
    Part(
        name="session",
        set="locomo-session",
        keyword=(92.6, 97.6, 94.9, 81.7),
        goal=(94.5, 98.0, 95.5, 86.5),
    ),
    Part(
        name="turn",
        set="locomo-turn",
        keyword=(55.9, 64.5, 59.1, 45.1),
        goal=(76.0, 85.5, 80.0, 58.5),
    ),
    Part(
        name="beam, all",
        set="beam-100k",
        keyword=(52.1, 60.0, 41.9, 32.9),
        goal=(67.0, 74.0, 57.5, 48.5),
    ),
    Part(
        name="beam, core:",
        set="beam-100k",
        type_prefix="core:",
        keyword=(78.5, 86.5, 65.0, 51.8),
        goal=(88.0, 91.0, 77.0, 67.5),
    ),
    Part(name="turn, plain", set="locomo-turn", plain=True, goal=(66.0, 75.5, 70.5, 53.5)),
    Part(name="beam, plain", set="beam-100k", plain=True, goal=(53.0, 60.0, 43.0, 34.5)),
)
"""The figures were measured before the first line was written; see docs/benchmarks.md."""

Rank = Callable[[Source, str], list[str]]
"""The local ids that a store answers a question with, best first."""


class _QueryVectors:
    """An embedder that knows the vectors of the questions already."""

    def __init__(self, embedder: Embedder, known: Mapping[str, Vectors]) -> None:
        self._embedder = embedder
        self._known = known
        self.model_id = embedder.model_id
        self.dimension = embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embedder.embed(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        found = self._known.get(text)
        return self._embedder.embed_query(text) if found is None else found

    def pieces(self, text: str) -> list[str]:
        return self._embedder.pieces(text)


def measure(files: Sequence[Path], vectors: KeptVectors | None) -> Iterator[Row]:
    """Yield the lines of the table for every part whose set is among the files."""
    for path in files:
        asked: dict[bool, list[tuple[Question, Scores]]] = {}
        for given in read_sets(path):
            for plain in sorted({part.plain for part in _parts_of(given.set)}):
                asked.setdefault(plain, []).extend(_ask(given, vectors, plain=plain))
            print(f"{given.set} {given.store}: {len(given.docs)} memories", file=sys.stderr)
            name = given.set
        for part in _parts_of(name):
            chosen = [
                scores
                for question, scores in asked[part.plain]
                if question.type.startswith(part.type_prefix)
            ]
            yield Row(
                name=part.name,
                questions=len(chosen),
                scores=_mean(chosen),
                keyword=part.keyword,
                goal=part.goal,
            )


def _parts_of(name: str) -> list[Part]:
    known = [part for part in PARTS if name.casefold().startswith(part.set)]
    return known or [Part(name=name, set=name)]


def _ask(
    given: MemorySet, vectors: KeptVectors | None, *, plain: bool
) -> Iterator[tuple[Question, Scores]]:
    source = make_source(given, vectors, plain=plain)
    models = Models()
    if vectors is not None:
        known = vectors.of_queries([question.text for question in given.questions])
        embedder = _QueryVectors(vectors.embedder, known)
        models = Models(embedder=embedder, is_hash=embedder.model_id == HASH_MODEL)
    for question in given.questions:
        query = SearchQuery(text=question.text, max_results=TOP)
        found = search([source], query, models=models, limits=DEFAULT_LIMITS, now=NOW)
        ranked = [result.id.removeprefix(f"{PROJECT}:") for result in found.results]
        yield question, score(ranked, question.gold)


def score(ranked: Sequence[str], gold: Mapping[str, float]) -> Scores:
    """Return the four measures of one answer, from 0 to 1."""
    found = [gold.get(entry_id, 0.0) for entry_id in ranked[:TOP]]
    gains = sum(gain / math.log2(place + 2) for place, gain in enumerate(found))
    best = sorted(gold.values(), reverse=True)[:TOP]
    ideal = sum(gain / math.log2(place + 2) for place, gain in enumerate(best))
    hits = sum(gain > 0 for gain in found)
    return (
        float(any(found[:5])),
        float(hits > 0),
        hits / len(gold) if gold else 0.0,
        gains / ideal if ideal else 0.0,
    )


def table(rows: Sequence[Row]) -> str:
    """Return the lines as text: scores, then the best plain keyword engine's, then the goals."""
    head = f"{'set':<14}{'n':>5}  {' · '.join(MEASURES):<32}{'keyword':<28}{'goal':<28}"
    lines = [head]
    for row in rows:
        cells = (f"{_text(row.scores):<32}", f"{_text(row.keyword):<28}", f"{_text(row.goal):<28}")
        verdict = "reached" if row.is_reached else "missed"
        lines.append(f"{row.name:<14}{row.questions:>5}  {''.join(cells)}{verdict}")
    return "\n".join(lines)


def _text(scores: Scores | None) -> str:
    return " · ".join(f"{value:.1f}" for value in scores) if scores else "–"


def _mean(scores: Sequence[Scores]) -> Scores:
    first, second, third, fourth = (
        100 * sum(column) / len(scores) for column in zip(*scores, strict=True)
    )
    return first, second, third, fourth


def _at_least(value: float, goal: float) -> bool:
    return round(value, 1) >= goal


def _above(value: float, other: float) -> bool:
    return round(value, 1) > other
