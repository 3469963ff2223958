"""The vector index of one store: several vectors an entry, searched under a filter.

A scan over bytes finds candidates, their 16-bit vectors rank them, and an entry counts as its best
piece. Above `DENSE_FROM` vectors, `compact` puts a scan of four bits for two components in front.

Writers are one at a time. A reader takes the rows and a mask of them in one short moment under a
lock and searches them without it; what is written meanwhile it does not see.
"""

import math
import threading
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from qms.index.arrays import BoolArray, FloatArray, IntArray, grown, room_for
from qms.index.slots import Slots
from qms.index.vector_blocks import Block, Refusal, SavedSums
from qms.index.vector_codes import ByteArray, LowArray, decode, encode, unit_query, unit_vectors
from qms.index.vector_file import Counts, VectorFile
from qms.index.vector_moments import Moments, RunningSums, sums_of
from qms.index.vector_pieces import Pieces

DENSE_FROM = 30_000
"""From how many vectors on the denser structure and its many candidates beat the scan of bytes."""

_MARGIN = 25
"""Candidates beyond a quarter more than are wanted: rounding to bytes moves ranks by few."""
_LEAST_DEAD = 4096
_REMOVED_AT_ONCE = 4096
_SPARE = 1.25
"""Room beyond what is needed; the scanned bytes cost memory from the start, so it is scarce."""


class Embedded(NamedTuple):
    """The vectors of an entry and the mark by which the caller knows what they were made of."""

    entry_id: str
    vectors: object
    mark: int = 0


class _Selection(NamedTuple):
    """The rows of one moment and which of them may be found."""

    pieces: Pieces
    mask: BoolArray
    total: int
    sums: RunningSums
    entries: int

    def enough_for(self, k: int) -> int:
        """Return how many pieces probably hold the best `k` entries."""
        pieces_each = self.sums.pieces / max(1, self.entries)
        return min(int((k + k // 4) * pieces_each) + _MARGIN, self.total)

    def nearest(self, unit: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return owners and cosines of the best `k` entries."""
        limit = self.enough_for(k)
        while limit and k > 0:
            rows, cosines = self.pieces.candidates(unit, limit, self.mask)
            slots, scores = _ranked(self.pieces.owners[rows], cosines)
            if self.sums.pieces > self.entries:
                slots, scores = _best(slots, scores)
            if len(slots) >= k or limit == self.total:
                return slots[:k], scores[:k]
            limit = min(4 * limit, self.total)  # entries with many pieces crowd out others
        return np.zeros(0, np.int64), np.zeros(0, np.float32)

    def moments(self, unit: FloatArray) -> Moments:
        """Return how the cosines of all rows are spread."""
        left_out = self.sums.pieces - self.total
        if not left_out:
            return self.sums.of(unit).moments()
        if left_out < self.total:
            outside = self.pieces.live[: len(self.mask)] & ~self.mask
            return self.sums.of(unit).less(sums_of(self.pieces, outside, unit)).moments()
        return sums_of(self.pieces, self.mask, unit).moments()


class VectorIndex:
    """The vectors of one store, by entry id; numbers are slots of the given table."""

    def __init__(
        self, dimension: int, model_id: str, *, slots: Slots | None = None, threads: int = 1
    ) -> None:
        self.dimension = dimension
        self.model_id = model_id
        self.sequence = 0
        """The sequence that was last saved or loaded with the vectors."""
        self.slots = Slots() if slots is None else slots
        self._threads = threads
        self._pieces = Pieces(dimension, 0, threads)
        self._sums = RunningSums.empty(dimension)
        self._entries = 0
        self._first = np.zeros(0, np.int64)
        self._lengths = np.zeros(0, np.uint8)
        self._marks = np.zeros(0, np.uint64)
        self._unsaved: dict[str, None] = {}
        self._writing = threading.RLock()
        self._moment = threading.Lock()

    def __len__(self) -> int:
        """Return how many entries have vectors."""
        return self._entries

    @property
    def pieces(self) -> int:
        """How many vectors there are."""
        return self._sums.pieces

    def put(self, entry_id: str, vectors: object, *, mark: int = 0) -> None:
        """Let an entry have these vectors and no others; `mark` (64 bits) is kept with them.

        Raises:
            InvalidInputError: `unit_vectors` says when.
        """
        self.put_all([Embedded(entry_id, vectors, mark)])

    def put_all(self, entries: Iterable[Embedded]) -> None:
        """Do as `put` for several entries, which costs less than one after the other.

        Raises:
            InvalidInputError: nothing was put.
        """
        given = {entry.entry_id: entry for entry in entries}.values()
        if not given:
            return
        rows = [unit_vectors(entry.vectors, self.dimension) for entry in given]
        lengths = np.array([len(row) for row in rows])
        high, low = encode(np.concatenate(rows))
        with self._writing:
            owners = np.array([self.slots.claim(entry.entry_id) for entry in given], np.int64)
            self._make_room(int(owners.max()), len(high))
            sums = self._sums.changed(decode(high, low), self._vectors_of(owners))
            with self._moment:
                self._place(owners, lengths, high, low)
                self._marks[owners] = [entry.mark for entry in given]
                self._sums = sums
            self._unsaved.update(dict.fromkeys(entry.entry_id for entry in given))

    def remove(self, entry_id: str) -> None:
        """Take the vectors of an entry out, if it has any."""
        with self._writing:
            self._remove(self._owners([entry_id]))

    def keep(self, marks: npt.NDArray[np.uint64]) -> IntArray:
        """Keep the vectors of slots whose mark is the given one; return the slots without any."""
        with self._writing:
            self._reach(len(marks) - 1)
            wanted = grown(marks, len(self._marks))
            having = np.flatnonzero(self._lengths)
            is_outdated = (having >= len(marks)) | (self._marks[having] != wanted[having])
            self._remove(having[is_outdated])
            return np.flatnonzero(self._lengths[: len(marks)] == 0)

    def mark_of(self, entry_id: str) -> int | None:
        """Return the mark of an entry's vectors, or None when it has none."""
        owner = self.slots.find(entry_id)
        if owner is None or owner >= len(self._lengths) or not self._lengths[owner]:
            return None
        return int(self._marks[owner])

    def ids(self) -> list[str]:
        """Return the ids of all entries that have vectors."""
        with self._moment:
            return self.slots.ids_of(np.flatnonzero(self._lengths).tolist())

    def search(
        self, query: object, k: int, allowed: BoolArray | None = None
    ) -> list[tuple[str, float]]:
        """Return at most `k` entries by the cosine of their best piece, the best first.

        `allowed` says by slot which entries may be found; slots beyond it may not.
        """
        slots, scores = self.nearest(query, k, allowed)
        return list(zip(self.slots.ids_of(slots.tolist()), scores.tolist(), strict=True))

    def nearest(
        self, query: object, k: int, allowed: BoolArray | None = None
    ) -> tuple[IntArray, FloatArray]:
        """Do as `search` and return slots and cosines."""
        return self._select(allowed).nearest(unit_query(query, self.dimension), k)

    def around(
        self, query: object, k: int, allowed: BoolArray | None = None
    ) -> tuple[IntArray, FloatArray, Moments]:
        """Do as `nearest` and `moments`, of one moment and for less."""
        unit, selection = unit_query(query, self.dimension), self._select(allowed)
        return *selection.nearest(unit, k), selection.moments(unit)

    def scores(self, query: object, ids: Iterable[str]) -> dict[str, float]:
        """Return the cosine of the best piece of each given entry that has vectors."""
        known = [(i, slot) for i in ids if (slot := self.slots.find(i)) is not None]
        found = self.cosines(query, np.array([slot for _, slot in known], np.int64))
        return {
            entry_id: score
            for (entry_id, _), score in zip(known, found.tolist(), strict=True)
            if not math.isnan(score)
        }

    def cosines(self, query: object, slots: IntArray) -> FloatArray:
        """Return the cosine of the best piece of each slot, NaN where it has none."""
        unit = unit_query(query, self.dimension)
        result = np.full(len(slots), np.nan, np.float32)
        with self._moment:
            pieces = self._pieces
            having = np.flatnonzero(slots < len(self._lengths))
            having = having[self._lengths[slots[having]] > 0]
            rows, begins = self._rows_of(slots[having])
        if len(rows):
            result[having] = np.maximum.reduceat(pieces.cosines(rows, unit), begins)
        return result

    def centres(self, slots: IntArray) -> FloatArray:
        """Return the middle of each slot's pieces at length 1, zeros where it has none."""
        result = np.zeros((len(slots), self.dimension), np.float32)
        with self._moment:
            pieces = self._pieces
            having = np.flatnonzero((slots >= 0) & (slots < len(self._lengths)))
            having = having[self._lengths[slots[having]] > 0]
            rows, begins = self._rows_of(slots[having])
        if len(rows):
            sums = np.add.reduceat(pieces.vectors(rows), begins, axis=0)
            result[having] = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
        return result

    def moments(self, query: object, allowed: BoolArray | None = None) -> Moments:
        """Return mean and deviation of the query's cosine over all pieces that are allowed.

        Exact while few pieces are in or few are out; `sums_of` says what many cost in precision.
        """
        return self._select(allowed).moments(unit_query(query, self.dimension))

    @property
    def wants_compaction(self) -> bool:
        """Say whether `compact` would free a good part of the rows or make search faster."""
        count, dense = self._pieces.count, self._pieces.dense_count
        is_sparse = count - self._sums.pieces > max(self._sums.pieces // 2, _LEAST_DEAD)
        return is_sparse or (self._sums.pieces > DENSE_FROM and count - dense > count // 4)

    def compact(self) -> None:
        """Leave out rows that do not count, and build the denser structure where it pays.

        That takes a second for 100,000 vectors; writers wait only for the copying before it.
        """
        with self._writing:
            if self._pieces.count > self._sums.pieces:
                self._swap(self._pieces.copied(int(self._sums.pieces * _SPARE), packed=True))
            pieces = self._pieces
        if pieces.count > DENSE_FROM:
            pieces.densify()

    def compacted(self, slots: Slots) -> "VectorIndex":
        """Return the same vectors under the numbers of another table; ids it lacks are left out."""
        result = VectorIndex(self.dimension, self.model_id, slots=slots, threads=self._threads)
        with self._writing:
            for entry_id in self.ids():
                if slots.find(entry_id) is None:
                    self.remove(entry_id)
            result._restore([self._whole()])
            result._unsaved = dict(self._unsaved)
        result.sequence = self.sequence
        return result

    @property
    def unsaved(self) -> int:
        """Return how many entries a save would write."""
        return len(self._unsaved)

    def save(self, file: VectorFile, *, sequence: int, is_last: bool = False) -> None:
        """Bring into a file what is not in it; readers and writers go on meanwhile.

        The last save of a process writes the sums too, so that the next start need not add up.

        Raises:
            OSError: the file counts as it was, and the same is unsaved as before.
        """
        with self._writing:
            taken, self._unsaved = self._unsaved, {}
            is_whole = file.wants_all(self._sums.pieces)
            block = self._whole() if is_whole else self._part(taken)
            sums = block.sums
            if not is_whole and (file.wants_sums(len(block.rows)) or is_last):
                sums = SavedSums(self._sums.total, self._sums.squares)
            counts = Counts(sequence, self._entries, self._sums.pieces)
        if not taken and not is_whole:
            return
        try:
            (file.rewrite if is_whole else file.append)(
                msgspec.structs.replace(block, sums=sums), counts
            )
        except BaseException:
            with self._writing:
                self._unsaved = {**taken, **self._unsaved}
            raise
        self.sequence = sequence

    @classmethod
    def load(
        cls,
        file: VectorFile,
        *,
        slots: Slots | None = None,
        threads: int = 1,
    ) -> "VectorIndex | Refusal":
        """Return the index that a file holds, or why the file is not used."""
        blocks = file.read()
        if isinstance(blocks, Refusal):
            return blocks
        result = cls(file.dimension, file.model_id, slots=slots, threads=threads)
        result._restore(blocks)
        return result

    def _whole(self) -> Block:
        pieces = self._pieces
        rows = np.flatnonzero(pieces.live[: pieces.count])
        owners = pieces.owners[rows]
        owners = owners[np.flatnonzero(np.diff(owners, prepend=-1))]
        sums = SavedSums(self._sums.total, self._sums.squares)
        return self._block(owners, rows, removed=[], sums=sums)

    def _part(self, entry_ids: Iterable[str]) -> Block:
        kept = [one for one in entry_ids if self.mark_of(one) is not None]
        owners = self._owners(kept)
        rows, _ = self._rows_of(owners)
        removed = [one for one in entry_ids if self.mark_of(one) is None]
        return self._block(owners, rows, removed=removed, sums=None)

    def _block(
        self, owners: IntArray, rows: IntArray, *, removed: list[str], sums: SavedSums | None
    ) -> Block:
        return Block(
            ids=self.slots.ids_of(owners.tolist()),
            lengths=self._lengths[owners],
            marks=self._marks[owners],
            high=self._pieces.high,
            low=self._pieces.low,
            rows=rows,
            removed=removed,
            sums=sums,
        )

    def _restore(self, blocks: Sequence[Block]) -> None:
        """Fill an empty index."""
        pieces = sum(len(block.rows) for block in blocks)
        self._pieces = Pieces(self.dimension, pieces, self._threads)
        summed = max((n for n, block in enumerate(blocks) if block.sums is not None), default=-1)
        for number, block in enumerate(blocks):
            owners = np.array([self.slots.claim(one) for one in block.ids], np.int64)
            self._reach(int(owners.max(initial=-1)))
            gone = self._owners(block.removed)
            is_whole = len(block.rows) == len(block.high)
            rows = slice(None) if is_whole else block.rows
            high, low = block.high[rows], block.low[rows]
            if number > summed:
                old = self._vectors_of(np.concatenate((owners, gone)))
                self._sums = self._sums.changed(decode(high, low), old)
            self._drop(gone)
            self._place(owners, block.lengths.astype(np.int64), high, low)
            self._marks[owners] = block.marks
            if number == summed and block.sums is not None:
                live = int(np.count_nonzero(self._pieces.live))
                self._sums = RunningSums(live, block.sums.total, block.sums.squares)

    def _remove(self, owners: IntArray) -> None:
        for start in range(0, len(owners), _REMOVED_AT_ONCE):
            part = owners[start : start + _REMOVED_AT_ONCE]
            removed = self._vectors_of(part)
            if len(removed):
                sums = self._sums.changed(removed[:0], removed)
                gone = self.slots.ids_of(part[self._lengths[part] > 0].tolist())
                with self._moment:
                    self._drop(part)
                    self._sums = sums
                self._unsaved.update(dict.fromkeys(gone))

    def _place(self, owners: IntArray, lengths: IntArray, high: ByteArray, low: LowArray) -> None:
        """Let entries have these rows and no others; there is room for them."""
        self._drop(owners)
        start = self._pieces.append(np.repeat(owners, lengths), high, low)
        self._first[owners] = start + np.cumsum(lengths) - lengths
        self._lengths[owners] = lengths
        self._entries += len(owners)

    def _owners(self, entry_ids: Iterable[str]) -> IntArray:
        """Return the slots of entries that may have vectors."""
        found = [slot for one in entry_ids if (slot := self.slots.find(one)) is not None]
        return np.array([slot for slot in found if slot < len(self._lengths)], np.int64)

    def _select(self, allowed: BoolArray | None) -> _Selection:
        with self._moment:
            pieces, sums, entries = self._pieces, self._sums, self._entries
            mask = pieces.live[: pieces.count].copy()
            beyond = len(self._lengths)
        if allowed is not None and not (len(allowed) >= len(self.slots) and allowed.all()):
            if len(allowed) < beyond:
                allowed = grown(allowed, beyond)
            mask &= allowed[pieces.owners[: len(mask)]]
        return _Selection(pieces, mask, int(np.count_nonzero(mask)), sums, entries)

    def _rows_of(self, owners: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows of owners that have some, and where among them each owner begins."""
        lengths = self._lengths[owners].astype(np.int64)
        begins = np.cumsum(lengths) - lengths
        rows = np.arange(int(lengths.sum())) + np.repeat(self._first[owners] - begins, lengths)
        return rows, begins

    def _vectors_of(self, owners: IntArray) -> FloatArray:
        rows, _ = self._rows_of(owners)
        return self._pieces.vectors(rows)

    def _drop(self, owners: IntArray) -> None:
        rows, _ = self._rows_of(owners)
        self._pieces.live[rows] = False
        self._entries -= int(np.count_nonzero(self._lengths[owners]))
        self._lengths[owners] = 0

    def _make_room(self, owner: int, count: int) -> None:
        self._reach(owner)
        pieces = self._pieces
        if pieces.count + count > pieces.capacity:
            is_sparse = pieces.count - self._sums.pieces > pieces.count // 4
            packed = is_sparse and not pieces.dense_count
            kept = self._sums.pieces if packed else pieces.count
            self._swap(pieces.copied(int((kept + count) * _SPARE), packed=packed))

    def _reach(self, owner: int) -> None:
        capacity = room_for(owner + 1, len(self._lengths))
        if capacity > len(self._lengths):
            with self._moment:
                self._first = grown(self._first, capacity)
                self._marks = grown(self._marks, capacity)
                self._lengths = grown(self._lengths, capacity)

    def _swap(self, pieces: Pieces) -> None:
        """Put rows in the place of the present ones and find out where each entry begins."""
        owners = pieces.owners[: pieces.count]
        rows = np.flatnonzero(pieces.live[: pieces.count])
        first = np.zeros_like(self._first)
        first[owners[rows[::-1]]] = rows[::-1]  # of several, the last assignment stays
        with self._moment:
            self._pieces, self._first = pieces, first


def _ranked(owners: IntArray, scores: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return owners and scores, the best first, equal ones by number."""
    order = np.lexsort((owners, -scores))
    return owners[order], scores[order]


def _best(owners: IntArray, scores: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return each of ranked owners once, with its best score."""
    _, first = np.unique(owners, return_index=True)
    first.sort()
    return owners[first], scores[first]
