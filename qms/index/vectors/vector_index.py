"""The vector index of one store: several vectors per entry, searched under a filter.

A byte scan finds candidates, their 16-bit vectors rank them, and an entry has the score of its best
piece. Above `DENSE_FROM` vectors, `compact` adds a faster 4-bit scan.

There is one writer at a time. A reader takes the rows and a mask under a short lock and searches
them without it; it does not see later writes.
"""

import math
import threading
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from qms.index.arrays import BoolArray, FloatArray, IntArray, grown, room_for
from qms.index.slots import Slots
from qms.index.vectors.blocks import Block, Refusal, SavedSums
from qms.index.vectors.codes import ByteArray, LowArray, decode, encode, unit_query, unit_vectors
from qms.index.vectors.cosine_stats import Moments, RunningSums, sums_of
from qms.index.vectors.piece_rows import Pieces
from qms.index.vectors.vector_file import Counts, VectorFile

DENSE_FROM = 30_000
"""From this many vectors on the 4-bit scan with its extra candidates beats the byte scan."""

_MARGIN = 25
"""Extra candidates, beside a quarter more than needed: rounding to bytes changes ranks little."""
_LEAST_DEAD = 4096
_REMOVED_AT_ONCE = 4096
_SPARE = 1.25
"""Spare capacity as a factor; small, since the scanned bytes use memory from the start."""


class Embedded(NamedTuple):
    """The vectors of an entry, and the mark of the line that they were computed from."""

    entry_id: str
    vectors: object
    mark: int = 0


class _Selection(NamedTuple):
    """The rows at one moment, and which of them are allowed."""

    pieces: Pieces
    mask: BoolArray
    total: int
    sums: RunningSums
    entries: int

    def enough_for(self, k: int) -> int:
        """Return how many pieces probably contain the best `k` entries."""
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
            limit = min(4 * limit, self.total)  # entries with many pieces displace others
        return np.zeros(0, np.int64), np.zeros(0, np.float32)

    def moments(self, unit: FloatArray) -> Moments:
        """Return mean and deviation of the cosines of all allowed rows."""
        left_out = self.sums.pieces - self.total
        if not left_out:
            return self.sums.of(unit).moments()
        if left_out < self.total:
            outside = self.pieces.live[: len(self.mask)] & ~self.mask
            return self.sums.of(unit).less(sums_of(self.pieces, outside, unit)).moments()
        return sums_of(self.pieces, self.mask, unit).moments()


class VectorIndex:
    """The vectors of one store, by entry id; slots are those of the given table."""

    def __init__(
        self,
        dimension: int,
        model_id: str,
        *,
        slots: Slots | None = None,
        threads: int = 1,
        dense_from: int = DENSE_FROM,
    ) -> None:
        self.dimension = dimension
        self._dense_from = dense_from
        self.model_id = model_id
        self.sequence = 0
        """The sequence of the last save or load."""
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

    @property
    def capacity(self) -> int:
        """How many vectors there is room for."""
        return self._pieces.capacity

    def put(self, entry_id: str, vectors: object, *, mark: int = 0) -> None:
        """Set the vectors of an entry; `mark` (64 bits) is stored with them.

        Raises:
            InvalidInputError: as `unit_vectors`.
        """
        self.put_all([Embedded(entry_id, vectors, mark)])

    def put_all(self, entries: Iterable[Embedded]) -> None:
        """Set the vectors of several entries, which costs less than one `put` after the other.

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
        """Remove the vectors of an entry, if it has any."""
        with self._writing:
            self._remove(self._owners([entry_id]))

    def keep(self, marks: npt.NDArray[np.uint64]) -> IntArray:
        """Remove the vectors of slots with another mark; return the slots without vectors."""
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
        """Return at most `k` entries by the cosine of their best piece, best first.

        `allowed` says by slot which entries may be returned; slots beyond it may not.
        """
        slots, scores = self.nearest(query, k, allowed)
        return list(zip(self.slots.ids_of(slots.tolist()), scores.tolist(), strict=True))

    def nearest(
        self, query: object, k: int, allowed: BoolArray | None = None
    ) -> tuple[IntArray, FloatArray]:
        """Search as `search` does, and return slots and cosines."""
        return self._select(allowed).nearest(unit_query(query, self.dimension), k)

    def around(
        self, query: object, k: int, allowed: BoolArray | None = None
    ) -> tuple[IntArray, FloatArray, Moments]:
        """Return `nearest` and `moments` of the same rows, at a lower cost."""
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
        """Return the normalised mean of each slot's pieces, zeros where it has none."""
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
        """Return mean and deviation of the query's cosine over all allowed pieces.

        Exact if few pieces are allowed or few are excluded; else as precise as `sums_of`.
        """
        return self._select(allowed).moments(unit_query(query, self.dimension))

    @property
    def wants_compaction(self) -> bool:
        """Say whether `compact` would free many rows or make searches faster."""
        count, dense = self._pieces.count, self._pieces.dense_count
        is_sparse = count - self._sums.pieces > max(self._sums.pieces // 2, _LEAST_DEAD)
        return is_sparse or (self._sums.pieces > self._dense_from and count - dense > count // 4)

    def compact(self) -> None:
        """Drop removed rows, and build the 4-bit scan if there are enough vectors.

        The build takes a second for 100,000 vectors; writers wait only for the copy before it.
        """
        with self._writing:
            if self._pieces.count > self._sums.pieces:
                self._swap(self._pieces.copied(int(self._sums.pieces * _SPARE), packed=True))
            pieces = self._pieces
        if pieces.count > self._dense_from:
            pieces.densify()

    def compacted(self, slots: Slots) -> "VectorIndex":
        """Return the same vectors with the slots of another table, without ids that it lacks."""
        result = VectorIndex(
            self.dimension,
            self.model_id,
            slots=slots,
            threads=self._threads,
            dense_from=self._dense_from,
        )
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
        """Write unsaved vectors to a file, while readers and writers continue.

        The last save of a process writes the sums too, so that the next start need not compute
        them.

        Raises:
            OSError: the file is unchanged, and the vectors stay unsaved.
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
        with ExitStack() as undo:
            undo.callback(self._put_back, taken)
            (file.rewrite if is_whole else file.append)(
                msgspec.structs.replace(block, sums=sums), counts
            )
            undo.pop_all()
        self.sequence = sequence

    @classmethod
    def load(
        cls,
        file: VectorFile,
        *,
        slots: Slots | None = None,
        threads: int = 1,
    ) -> "VectorIndex | Refusal":
        """Return the index in a file, or why the file is not used."""
        blocks = file.read()
        if isinstance(blocks, Refusal):
            return blocks
        result = cls(file.dimension, file.model_id, slots=slots, threads=threads)
        result._restore(blocks)
        return result

    def _put_back(self, entry_ids: dict[str, None]) -> None:
        """Count entries as unsaved again: the file did not take them."""
        with self._writing:
            self._unsaved = {**entry_ids, **self._unsaved}

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
        """Replace the rows of entries; there is room for the new ones."""
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
        """Return the rows of owners that have any, and where among them each owner begins."""
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
        """Replace the present rows and compute where each entry begins."""
        owners = pieces.owners[: pieces.count]
        rows = np.flatnonzero(pieces.live[: pieces.count])
        first = np.zeros_like(self._first)
        first[owners[rows[::-1]]] = rows[::-1]  # of several, the last assignment stays
        with self._moment:
            self._pieces, self._first = pieces, first


def _ranked(owners: IntArray, scores: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return owners and scores, best first, ties by owner."""
    order = np.lexsort((owners, -scores))
    return owners[order], scores[order]


def _best(owners: IntArray, scores: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return each of ranked owners once, with its best score."""
    _, first = np.unique(owners, return_index=True)
    first.sort()
    return owners[first], scores[first]
