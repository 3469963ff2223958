"""What travels through the pipeline: candidates of one store, then hits of all of them.

Both are tables: a row for each entry, a column for each score. Every stage adds columns or leaves
rows out, so that an explanation is the table itself.
"""

from collections.abc import Sequence
from enum import StrEnum

import msgspec
import numpy as np
import numpy.typing as npt

from qms.index.arrays import IntArray
from qms.index.slots import Slots
from qms.index.vector_moments import Moments

Column = npt.NDArray[np.float64]
"""One score a row; NaN where a stage has nothing to say about it."""

NOBODY = -1
"""Stands for no row, no conversation, no role."""


class Exact(StrEnum):
    """How an entry was called for, in words that can mean nothing else."""

    ID = "id"
    PATH = "path"
    PHRASE = "phrase"


EXACTNESS: tuple[Exact | None, ...] = (*Exact, None)
"""In which order entries come that were called for exactly, and all others after them."""
CLASSES: dict[Exact | None, int] = {how: number for number, how in enumerate(EXACTNESS)}


class Candidates(msgspec.Struct, frozen=True, kw_only=True):
    """What one store has found, with everything about it that only the indexes know."""

    slots: IntArray
    table: Slots
    """Whose slots these are."""
    text: Column
    vector: Column
    graph: Column
    exact: dict[int, Exact]
    """The rows that were called for exactly."""
    conversation: IntArray
    previous: IntArray
    """The row of the previous turn, `NOBODY` where it is not among the candidates."""
    following: IntArray
    roles: list[str | None]
    ideal_text: float = 1.0
    """About what the store would score an entry that holds every word of the query."""
    moments: Moments = Moments(0.0, 0.0, 0)
    """How the query's cosines are spread over everything that may be found here."""

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def ids(self) -> list[str]:
        """The ids of all rows."""
        return self.table.ids_of(self.slots.tolist())

    def classes(self) -> IntArray:
        """Return a number for each row: the smaller, the more exactly it was called for."""
        numbers = np.full(len(self), CLASSES[None])
        for row, how in self.exact.items():
            numbers[row] = CLASSES[how]
        return numbers


class Hits(msgspec.Struct, frozen=True, kw_only=True):
    """Entries of all stores, best first, by number: only what is answered gets its name."""

    tables: Sequence[Slots]
    """Whose slots the numbers are, for each store."""
    sources: IntArray
    """The number of the store that holds it."""
    slots: IntArray
    classes: IntArray
    """How exactly it was called for: a place in `EXACTNESS`."""
    scores: dict[str, Column]
    ranks: dict[str, IntArray] = {}
    """The place of each row by a score when that score was new; 0 for none."""

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def ids(self) -> list[str]:
        """The ids of all rows."""
        rows = zip(self.sources.tolist(), self.slots.tolist(), strict=True)
        return [self.tables[source].id_of(slot) for source, slot in rows]

    @property
    def called(self) -> npt.NDArray[np.bool_]:
        """Say of each row whether it was called for exactly."""
        return self.classes < CLASSES[None]

    def take(self, rows: IntArray) -> "Hits":
        """Return these rows in this order."""
        return Hits(
            tables=self.tables,
            sources=self.sources[rows],
            slots=self.slots[rows],
            classes=self.classes[rows],
            scores={name: column[rows] for name, column in self.scores.items()},
            ranks={name: column[rows] for name, column in self.ranks.items()},
        )

    def scored(self, **columns: Column) -> "Hits":
        """Return the same rows with more columns, or with others in their place."""
        return msgspec.structs.replace(self, scores={**self.scores, **columns})

    def ranked(self) -> "Hits":
        """Return the same rows with the places by every score that has none yet."""
        new = {name: _places(self.scores[name]) for name in self.scores if name not in self.ranks}
        return msgspec.structs.replace(self, ranks={**self.ranks, **new})

    def best_first(self, name: str) -> "Hits":
        """Return the rows by a column; entries that were called for exactly stay before others."""
        return self.take(np.lexsort((-self.scores[name], self.classes)))


def _places(scores: Column) -> IntArray:
    """Return 1 for the best score, the same number for equal ones, 0 for none."""
    known = np.flatnonzero(~np.isnan(scores))
    values, numbers = np.unique(-scores[known], return_inverse=True)
    counts = np.bincount(numbers, minlength=len(values))
    places = np.zeros(len(scores), np.int64)
    places[known] = (np.cumsum(counts) - counts + 1)[numbers]
    return places
