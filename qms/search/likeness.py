"""Likeness of entries to one another, by their vectors."""

import heapq
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from qms.index.arrays import FloatArray
from qms.search.sources import Source

_ROWS = 1024
"""So many entries at a time are compared with all: a bound on memory, not on the answer."""


class Alike(NamedTuple):
    """Two entries and the cosine between them."""

    score: float
    a: str
    b: str


def alike_pairs(
    source: Source, ids: Sequence[str], threshold: float, *, most: int | None = None
) -> list[Alike]:
    """Return the pairs of entries whose cosine reaches the threshold, most alike first."""
    found = _pairs(source, ids, threshold)
    if most is not None:
        return heapq.nlargest(most, found)
    return sorted(found, reverse=True)


def _pairs(source: Source, ids: Sequence[str], threshold: float) -> Iterator[Alike]:
    known, vectors = _vectors(source, ids)
    for start in range(0, len(known), _ROWS):
        cosines = vectors[start : start + _ROWS] @ vectors[start:].T
        rows, columns = np.nonzero(np.triu(cosines >= threshold, k=1))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            score = float(cosines[row, column])
            yield Alike(score, known[start + row], known[start + column])


def _vectors(source: Source, ids: Sequence[str]) -> tuple[list[str], FloatArray]:
    """Return the entries that have vectors, and the middle of each one's pieces."""
    if source.vectors is None:
        return [], np.zeros((0, 1), np.float32)
    slots = np.array(source.columns.slots.find_all(list(ids)), np.int64)
    centres = source.vectors.centres(slots)
    has_vector = np.flatnonzero(centres.any(axis=1))
    return [ids[row] for row in has_vector.tolist()], centres[has_vector]
