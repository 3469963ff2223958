"""Similarity of entries to each other, by their vectors."""

import heapq
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from qms.index.arrays import FloatArray
from qms.index.sources import Source
from qms.memory.deadline import NO_DEADLINE, Deadline

_ROWS = 256
"""How many entries at a time are compared with all: it bounds memory, not the result."""


class Alike(NamedTuple):
    """Two entries and the cosine between them."""

    score: float
    a: str
    b: str


def alike_pairs(
    source: Source,
    ids: Sequence[str],
    threshold: float,
    *,
    most: int | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> list[Alike]:
    """Return the pairs of entries whose cosine reaches the threshold, most similar first."""
    found = _pairs(source, ids, threshold, most, deadline)
    if most is not None:
        return heapq.nlargest(most, found)
    return sorted(found, reverse=True)


def _pairs(
    source: Source, ids: Sequence[str], threshold: float, most: int | None, deadline: Deadline
) -> Iterator[Alike]:
    known, vectors = _vectors(source, ids)
    for start in range(0, len(known), _ROWS):
        deadline.check()
        cosines = vectors[start : start + _ROWS] @ vectors[start:].T
        rows, columns = np.nonzero(np.triu(cosines >= threshold, k=1))
        scores = cosines[rows, columns]
        if most is not None and len(scores) > most:
            # With a low threshold there are millions of pairs, and each would be an object.
            best = np.argpartition(scores, -most)[-most:]
            rows, columns, scores = rows[best], columns[best], scores[best]
        for row, column, score in zip(
            rows.tolist(), columns.tolist(), scores.tolist(), strict=True
        ):
            yield Alike(score, known[start + row], known[start + column])


def _vectors(source: Source, ids: Sequence[str]) -> tuple[list[str], FloatArray]:
    """Return the entries that have vectors, and the mean of each one's pieces."""
    if source.vectors is None:
        return [], np.zeros((0, 1), np.float32)
    slots = np.array(source.columns.slots.find_all(list(ids)), np.int64)
    centres = source.vectors.centres(slots)
    has_vector = np.flatnonzero(centres.any(axis=1))
    return [ids[row] for row in has_vector.tolist()], centres[has_vector]
