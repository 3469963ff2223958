"""Retrieval scores in process, with indexes in RAM, for tuning."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from qms.memory.limits import DEFAULT_LIMITS
from qms.memory.ports import Embedder
from qms.models.hash_embedder import MODEL_ID as HASH_MODEL
from qms.models.in_use import Models
from qms.search.pipeline import search
from qms.search.query import SearchQuery
from tools.benchmarks.retrieval_entries import Form, Times, names_of
from tools.benchmarks.retrieval_scores import TOP, Answered, Row, parts_of, rows_of, score
from tools.benchmarks.retrieval_sets import MemorySet, read_sets
from tools.benchmarks.retrieval_stores import PROJECT, START, make_source
from tools.benchmarks.retrieval_vectors import KeptVectors, Vectors

NOW = START + timedelta(days=30)


class _QueryVectors:
    """An embedder with precomputed vectors of the questions."""

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

    def familiarity(self, text: str) -> float:
        return self._embedder.familiarity(text)


def measure(
    files: Sequence[Path], vectors: KeptVectors | None, times: Times = Times.TITLE
) -> Iterator[Row]:
    """Yield the lines of the table for every part whose set is among the files."""
    for path in files:
        answered: dict[bool, list[Answered]] = {}
        name = ""
        for given in read_sets(path):
            name = given.set
            for plain in sorted({part.plain for part in parts_of(name)}):
                form = Form(plain=plain, times=times)
                answered.setdefault(plain, []).extend(_ask(given, vectors, form))
            print(f"{given.set} {given.store}: {len(given.docs)} memories", file=sys.stderr)
        yield from rows_of(name, answered)


def _ask(given: MemorySet, vectors: KeptVectors | None, form: Form) -> Iterator[Answered]:
    source = make_source(given, vectors, form)
    models = Models()
    if vectors is not None:
        known = vectors.of_queries([question.text for question in given.questions])
        embedder = _QueryVectors(vectors.embedder, known)
        models = Models(embedder=embedder, is_hash=embedder.model_id == HASH_MODEL)
    for question in given.questions:
        query = SearchQuery(text=question.text, max_results=TOP)
        found = search([source], query, models=models, limits=DEFAULT_LIMITS, now=NOW)
        ranked = names_of(given, PROJECT, [result.id for result in found.results])
        yield question, score(ranked, question.gold)
