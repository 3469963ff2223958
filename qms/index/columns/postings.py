"""Postings: which entries have a value, for fields with several values per entry.

One flat array of tokens and one of their slots, scanned as a whole. With a few values per entry a
scan takes a fraction of a millisecond at 100,000 entries, and a value takes 12 bytes; a set for
each distinct value would take hundreds.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from qms.index.arrays import IntArray, grown, room_for
from qms.index.columns.column_file import SavedPostings


class Postings:
    """Tokens (codes of values) and the slots that have them."""

    def __init__(self, token_type: npt.DTypeLike = np.int64) -> None:
        self._tokens: npt.NDArray[Any] = np.zeros(0, token_type)
        self._gone_token = np.iinfo(self._tokens.dtype).min
        self._slots = np.zeros(0, np.int32)
        self._starts = np.zeros(0, np.int32)
        self._counts = np.zeros(0, np.int32)
        self._used = 0
        self._gone = 0

    def put(self, slot: int, tokens: Sequence[int]) -> None:
        """Set the tokens of a slot."""
        if not tokens and slot >= len(self._counts):
            return
        self.remove(slot)
        if not tokens:
            return
        if slot >= len(self._counts):
            capacity = room_for(slot + 1, len(self._counts))
            self._starts, self._counts = (
                grown(self._starts, capacity),
                grown(self._counts, capacity),
            )
        self._make_room(len(tokens))
        start, end = self._used, self._used + len(tokens)
        self._tokens[start:end] = tokens
        self._slots[start:end] = slot
        self._starts[slot], self._counts[slot] = start, len(tokens)
        self._used = end

    def remove(self, slot: int) -> None:
        """Remove all tokens of a slot."""
        count = int(self._counts[slot]) if slot < len(self._counts) else 0
        if count:
            start = int(self._starts[slot])
            self._tokens[start : start + count] = self._gone_token
            self._counts[slot] = 0
            self._gone += count

    def carrying(self, wanted: Sequence[int]) -> npt.NDArray[np.int32]:
        """Return the slots that have one of the wanted tokens, in one scan."""
        tokens = self._tokens[: self._used]
        found = tokens == wanted[0] if len(wanted) == 1 else np.isin(tokens, wanted)
        return self._slots[np.flatnonzero(found)]

    def renumbered(self, kept: IntArray) -> "Postings":
        """Return the postings of the slots in `kept`, numbered from 0 in its order."""
        result = Postings(self._tokens.dtype)
        self._pack()
        numbers = np.full(max(len(self._counts), int(kept.max(initial=-1)) + 1), -1, np.int32)
        numbers[kept] = np.arange(len(kept), dtype=np.int32)
        owners = numbers[self._slots[: self._used]]
        stays = owners >= 0
        result._adopt(self._tokens[: self._used][stays], owners[stays], len(kept))
        return result

    def saved(self) -> SavedPostings:
        """Return the input of `adopt`."""
        self._pack()
        return SavedPostings(self._tokens[: self._used], self._slots[: self._used])

    def adopt(self, saved: SavedPostings, count: int) -> None:
        """Restore the saved tokens of the first `count` slots; only for empty postings."""
        self._adopt(saved.tokens, saved.slots, count)

    def fill(self, tokens: Sequence[Sequence[int]]) -> None:
        """Set the tokens of slots 0, 1, 2 …; only for empty postings."""
        counts = np.fromiter(map(len, tokens), np.int64, len(tokens))
        slots = np.repeat(np.arange(len(tokens), dtype=np.int32), counts)
        flat = np.fromiter(chain.from_iterable(tokens), self._tokens.dtype, len(slots))
        self._adopt(flat, slots, len(tokens))

    def _adopt(self, tokens: npt.NDArray[Any], slots: npt.NDArray[np.int32], count: int) -> None:
        """Use these arrays; the tokens of a slot are contiguous."""
        self._tokens, self._slots, self._used = tokens, slots, len(slots)
        self._counts = np.bincount(slots, minlength=count).astype(np.int32)
        self._starts = np.zeros(count, np.int32)
        first = np.flatnonzero(np.diff(slots, prepend=-1))
        self._starts[slots[first]] = first

    def _make_room(self, count: int) -> None:
        if self._used + count <= len(self._tokens):
            return
        if self._gone * 4 >= self._used:
            self._pack()
        capacity = room_for(self._used + count, len(self._tokens))
        self._tokens, self._slots = grown(self._tokens, capacity), grown(self._slots, capacity)

    def _pack(self) -> None:
        """Drop removed tokens; the tokens of a slot stay contiguous."""
        if not self._gone:
            return
        stays = self._tokens[: self._used] != self._gone_token
        places = np.cumsum(stays, dtype=np.int32) - 1
        carrying = self._counts > 0
        self._starts[carrying] = places[self._starts[carrying]]
        self._tokens = self._tokens[: self._used][stays]
        self._slots = self._slots[: self._used][stays]
        self._used, self._gone = len(self._tokens), 0
