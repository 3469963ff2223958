"""Mean and standard deviation of a query's cosines over all allowed pieces, not only the best.

Over all pieces both follow from the sum of the vectors and the matrix of second moments, which are
kept up to date; for a filter they are computed over the rows that it keeps or excludes.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qms.index.arrays import BoolArray, FloatArray, products
from qms.index.vectors.piece_rows import Pieces

_SAMPLE_ROWS = 16_384
_EXACT_ROWS = 2048


class Moments(NamedTuple):
    """The distribution of a query's cosines over a set of pieces."""

    mean: float
    deviation: float
    pieces: int


class Sums(NamedTuple):
    """How many cosines there are, their sum and the sum of their squares."""

    pieces: int
    total: float
    squares: float

    def less(self, other: "Sums") -> "Sums":
        """Return the difference to the sums of a subset."""
        return Sums(
            self.pieces - other.pieces, self.total - other.total, self.squares - other.squares
        )

    def moments(self) -> Moments:
        """Return mean and deviation; both are 0 for no pieces."""
        if not self.pieces:
            return Moments(0.0, 0.0, 0)
        mean = self.total / self.pieces
        variance = max(0.0, self.squares / self.pieces - mean * mean)
        return Moments(mean, variance**0.5, self.pieces)


class RunningSums(NamedTuple):
    """Count, sum and second moments of vectors; immutable, so that a reader may keep it."""

    pieces: int
    total: npt.NDArray[np.float64]
    squares: npt.NDArray[np.float64]

    @classmethod
    def empty(cls, dimension: int) -> "RunningSums":
        """Return the sums of no vectors."""
        return cls(0, np.zeros(dimension), np.zeros((dimension, dimension)))

    def changed(self, added: FloatArray, removed: FloatArray) -> "RunningSums":
        """Return the sums after adding and removing vectors."""
        total = self.total + added.sum(axis=0, dtype=np.float64)
        squares = self.squares + added.T @ added
        if len(removed):
            total -= removed.sum(axis=0, dtype=np.float64)
            squares -= removed.T @ removed
        return RunningSums(self.pieces + len(added) - len(removed), total, squares)

    def of(self, query: FloatArray) -> Sums:
        """Return the sums of a query's cosines."""
        unit = query.astype(np.float64)
        return Sums(
            self.pieces, float(self.total @ unit), float(products(self.squares, unit) @ unit)
        )


def sums_of(pieces: Pieces, mask: BoolArray, query: FloatArray) -> Sums:
    """Return the sums over the rows of a mask.

    Above 2,048 rows only high bytes are used, which changes the deviation by 0.1 %; above 16,384 an
    even sample is used, which changes the mean by 1 % of the deviation.
    """
    rows = np.flatnonzero(mask)
    if not len(rows):
        return Sums(0, 0.0, 0.0)
    step = -(-len(rows) // _SAMPLE_ROWS)
    is_exact = len(rows) <= _EXACT_ROWS
    found = pieces.cosines(rows[::step], query, exact=is_exact).astype(np.float64)
    scale = len(rows) / len(found)
    return Sums(len(rows), float(found.sum()) * scale, float(found @ found) * scale)
