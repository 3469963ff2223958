"""The rows of a vector index: encoded pieces, the slot of each, and which are live.

Rows are appended and never rewritten. A full or sparse set of rows is copied into a new one, so
that a reader with rows and a mask can search for any time.
"""

from collections.abc import Iterator

import numpy as np

from qms.index.arrays import LEAST_ROOM, BoolArray, FloatArray, IntArray
from qms.index.vectors.codes import ByteArray, LowArray, cosines, decode
from qms.index.vectors.scan import ByteScan, DenseScan, bitmap_of

_CHUNK_ROWS = 8192
_COSINE_ROWS = 1024
"""Rows decoded at a time for exact cosines: what the processor's cache holds."""

_ROUGH_LEAST = 100
_ROUGH_FACTOR = 1.5
"""How many candidates the 4-bit scan fetches; fewer are too often not sure enough."""
_SURE_SHARE = 0.4
_SURE_ERRORS = 2.0
"""The least distance, in standard errors, between this share of the limit and unfetched rows.

The limit includes a margin; its last part may be any of many rows with about the same score.
"""
_DENSE_SHARE = 20
"""Below a twentieth of the rows, the byte scan is faster and more exact than the 4-bit scan."""


class Pieces:
    """Encoded vectors, with room for at least `capacity` of them."""

    def __init__(self, dimension: int, capacity: int, threads: int = 1) -> None:
        capacity = max(capacity, LEAST_ROOM)
        self._scan = ByteScan(dimension, capacity, threads)
        self._dense: DenseScan | None = None
        self._dimension = dimension
        self._threads = threads
        self.high: ByteArray = self._scan.codes
        self.low: LowArray = np.zeros((capacity, dimension), np.int8)
        self.owners: IntArray = np.zeros(capacity, np.int64)
        self.live: BoolArray = np.zeros(capacity, np.bool_)
        self.count = 0

    @property
    def capacity(self) -> int:
        """How many rows there is room for."""
        return len(self.live)

    @property
    def dense_count(self) -> int:
        """How many of the first rows the 4-bit scan covers."""
        return len(self._dense) if self._dense else 0

    def append(self, owners: IntArray | int, high: ByteArray, low: LowArray) -> int:
        """Add live rows and return the place of the first."""
        start, end = self.count, self.count + len(high)
        self.high[start:end], self.low[start:end] = high, low
        self.owners[start:end] = owners
        self.live[start:end] = True
        self.count = end
        return start

    def copied(self, capacity: int, *, packed: bool) -> "Pieces":
        """Return the same rows with another capacity; if packed, only live ones."""
        result = Pieces(self._dimension, capacity, self._threads)
        places = np.flatnonzero(self.live[: self.count]) if packed else np.arange(self.count)
        for start in range(0, len(places), _CHUNK_ROWS):
            rows = places[start : start + _CHUNK_ROWS]
            result.append(self.owners[rows], self.high[rows], self.low[rows])
        if not packed:
            result.live[: self.count] = self.live[: self.count]
            result._dense = self._dense
        return result

    def densify(self) -> None:
        """Build the 4-bit scan over all present rows; rows may be appended at the same time."""
        self._dense = DenseScan(self._dimension, self.chunks(), self._threads)

    def chunks(self) -> Iterator[FloatArray]:
        """Yield the decoded rows in chunks."""
        for start in range(0, self.count, _CHUNK_ROWS):
            end = min(start + _CHUNK_ROWS, self.count)
            yield decode(self.high[start:end], self.low[start:end])

    def vectors(self, rows: IntArray | slice) -> FloatArray:
        """Return decoded rows."""
        return decode(self.high[rows], self.low[rows])

    def cosines(self, rows: IntArray, query: FloatArray, *, exact: bool = True) -> FloatArray:
        """Return the cosine of rows with a unit query, exact or by high bytes only."""
        if len(rows) > _COSINE_ROWS:
            parts = np.split(rows, range(_COSINE_ROWS, len(rows), _COSINE_ROWS))
            return np.concatenate([self.cosines(part, query, exact=exact) for part in parts])
        # `take` copies whole rows and is faster than an index in brackets.
        low = self.low.take(rows, axis=0) if exact else None
        return cosines(self.high.take(rows, axis=0), low, query)

    def candidates(
        self, query: FloatArray, limit: int, mask: BoolArray
    ) -> tuple[IntArray, FloatArray]:
        """Return approximately the best `limit` rows of the mask, and their cosines."""
        count = self.dense_count
        if count and np.count_nonzero(mask[:count]) * _DENSE_SHARE >= count:
            found = self._dense_candidates(query, limit, mask[:count])
            if found is not None and count == self.count:
                return found
            if found is not None:
                late = self._late_candidates(query, limit, mask)
                return np.concatenate((found[0], late[0])), np.concatenate((found[1], late[1]))
        rows = self._scan.search(query, limit, bitmap_of(mask))
        return rows, self.cosines(rows, query)

    def _late_candidates(
        self, query: FloatArray, limit: int, mask: BoolArray
    ) -> tuple[IntArray, FloatArray]:
        """Return the best rows among those that the 4-bit scan does not cover yet."""
        late = mask.copy()
        late[: self.dense_count] = False
        rows = self._scan.search(query, limit, bitmap_of(late))
        return rows, self.cosines(rows, query)

    def _dense_candidates(
        self, query: FloatArray, limit: int, mask: BoolArray
    ) -> tuple[IntArray, FloatArray] | None:
        """Return the best rows by the 4-bit scan, or None when its order is too inexact."""
        assert self._dense is not None
        wanted = min(_ROUGH_LEAST + int(_ROUGH_FACTOR * limit), len(mask))
        rows, rough = self._dense.search(query, wanted, bitmap_of(mask))
        exact = self.cosines(rows, query)
        if len(rows) <= limit:
            return rows, exact
        if len(rows) == wanted:
            # A row that was not fetched scores at most `rough.min()`, plus its error.
            off = rough - exact
            sure = max(1, int(_SURE_SHARE * limit))
            needed = np.partition(exact, -sure)[-sure]
            if needed - float(rough.min() - off.mean()) < _SURE_ERRORS * float(off.std()):
                return None
        best = np.argpartition(-exact, limit)[:limit]
        return rows[best], exact[best]
