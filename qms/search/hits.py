"""The tables of the pipeline: candidates of one store, then hits of all stores.

Both have a row per entry and a column per score. Every stage adds columns or drops rows, so that an
explanation is a row of the table.
"""

from collections.abc import Sequence
from enum import StrEnum

import msgspec
import numpy as np
import numpy.typing as npt

from qms.index.arrays import IntArray
from qms.index.slots import Slots
from qms.index.vectors.cosine_stats import Moments

Column = npt.NDArray[np.float64]
"""One score per row; NaN where a stage gave none."""

NOBODY = -1
"""No row, no conversation, no role."""


class Exact(StrEnum):
    """How a query matches an entry exactly: by its id, its path or a quoted phrase."""

    ID = "id"
    PATH = "path"
    PHRASE = "phrase"


EXACTNESS: tuple[Exact | None, ...] = (*Exact, None)
"""The order of exact matches; None, for all other entries, comes last."""
CLASSES: dict[Exact | None, int] = {how: number for number, how in enumerate(EXACTNESS)}


class Candidates(msgspec.Struct, frozen=True, kw_only=True):
    """The candidates of one store, with all data from its indexes."""

    slots: IntArray
    table: Slots
    """The table that the slots belong to."""
    text: Column
    vector: Column
    graph: Column
    exact: dict[int, Exact]
    """The rows that match exactly, and how."""
    conversation: IntArray
    previous: IntArray
    """The row of the previous turn, `NOBODY` where it is no candidate."""
    following: IntArray
    roles: list[str | None]
    ideal_text: float = 1.0
    """The approximate text score of an entry with every word of the query."""
    moments: Moments = Moments(0.0, 0.0, 0)
    """The distribution of the query's cosines over all allowed entries."""

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def is_compared(self) -> bool:
        """Say whether the query was compared with vectors of allowed entries."""
        return self.moments.pieces > 0 and not (len(self) and bool(np.isnan(self.vector).all()))

    @property
    def ids(self) -> list[str]:
        """The ids of all rows."""
        return self.table.ids_of(self.slots.tolist())

    def classes(self) -> IntArray:
        """Return the class of each row: an index into `EXACTNESS`."""
        numbers = np.full(len(self), CLASSES[None])
        for row, how in self.exact.items():
            numbers[row] = CLASSES[how]
        return numbers


class Hits(msgspec.Struct, frozen=True, kw_only=True):
    """Entries of all stores, best first, by slot: ids are looked up only for the answer."""

    tables: Sequence[Slots]
    """The table of slots of each store."""
    sources: IntArray
    """The number of the store of each row."""
    slots: IntArray
    classes: IntArray
    """How exactly each row matches: an index into `EXACTNESS`."""
    scores: dict[str, Column]
    ranks: dict[str, IntArray] = {}
    """The rank of each row by a score when the score was added; 0 for none."""
    is_compared: bool = False
    """Whether the query was compared with vectors of any allowed entry."""

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def ids(self) -> list[str]:
        """The ids of all rows."""
        rows = zip(self.sources.tolist(), self.slots.tolist(), strict=True)
        return [self.tables[source].id_of(slot) for source, slot in rows]

    @property
    def called(self) -> npt.NDArray[np.bool_]:
        """Say for each row whether it is an exact match."""
        return self.classes < CLASSES[None]

    def take(self, rows: IntArray | slice) -> "Hits":
        """Return these rows in this order."""
        return msgspec.structs.replace(
            self,
            sources=self.sources[rows],
            slots=self.slots[rows],
            classes=self.classes[rows],
            scores={name: column[rows] for name, column in self.scores.items()},
            ranks={name: column[rows] for name, column in self.ranks.items()},
        )

    def scored(self, **columns: Column) -> "Hits":
        """Return the same rows with columns added or replaced."""
        return msgspec.structs.replace(self, scores={**self.scores, **columns})

    def ranked(self) -> "Hits":
        """Return the same rows with ranks for every score that has none yet."""
        new = {name: _places(self.scores[name]) for name in self.scores if name not in self.ranks}
        return msgspec.structs.replace(self, ranks={**self.ranks, **new})

    def best_first(self, name: str) -> "Hits":
        """Return the rows by a column, best first; exact matches stay before the others."""
        return self.take(np.lexsort((-self.scores[name], self.classes)))


def _places(scores: Column) -> IntArray:
    """Return 1 for the best score, equal numbers for ties, 0 for none."""
    known = np.flatnonzero(~np.isnan(scores))
    values, numbers = np.unique(-scores[known], return_inverse=True)
    counts = np.bincount(numbers, minlength=len(values))
    places = np.zeros(len(scores), np.int64)
    places[known] = (np.cumsum(counts) - counts + 1)[numbers]
    return places
