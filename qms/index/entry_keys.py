"""Entry keys: 64-bit hashes of entry ids in the keyword files, and the table from keys to slots.

A vector scan empties the CPU caches, so that the cost of a look-up is its memory accesses: about
eight in a dictionary of objects, three in a sorted array indexed by the first bits of the key.
"""

import threading
from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from qms.index.arrays import IntArray
from qms.index.slots import Slots

KeyArray = npt.NDArray[np.uint64]

_MOST_LATE = 4096
"""How many new ids are kept outside of the sorted array, at most."""


def key_of(entry_id: str) -> int:
    """Return the key of an id; tantivy reads numbers far faster than strings."""
    return int.from_bytes(blake2b(entry_id.encode(), digest_size=8).digest(), "big")


def keys_of(ids: Iterable[str]) -> KeyArray:
    """Return the keys of ids."""
    return np.array([key_of(entry_id) for entry_id in ids], np.uint64)


class _Sorted:
    """Sorted keys, with the place where keys with the same first bits begin."""

    def __init__(self, keys: KeyArray, slots: IntArray) -> None:
        order = np.argsort(keys)
        self.keys, self.slots = keys[order], slots[order]
        bits = max(1, len(keys).bit_length())
        self._shift = np.uint64(64 - bits)
        first_bits = (self.keys >> self._shift).astype(np.int64)
        counts = np.bincount(first_bits, minlength=1 << bits)
        self._begins = np.cumsum(counts) - counts
        # Keys are hashes, so that few of them have the same first bits.
        self._beside = np.arange(int(counts.max(initial=1)))

    def find(self, keys: KeyArray) -> IntArray:
        """Return the slot of each key, -1 for one that is not here."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        begins = self._begins[(keys >> self._shift).astype(np.int64)]
        places = np.minimum(begins[:, None] + self._beside, len(self.keys) - 1)
        is_it = self.keys[places] == keys[:, None]
        place = places[np.arange(len(keys)), is_it.argmax(axis=1)]
        return np.where(is_it.any(axis=1), self.slots[place], -1)


class KeyTable:
    """Finds slots by keys; a look-up first adds the slots that are new."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._seen = 0
        self._sorted = _Sorted(np.zeros(0, np.uint64), np.zeros(0, np.int64))
        self._late: dict[int, int] = {}
        self._lock = threading.Lock()

    def find(self, keys: KeyArray) -> IntArray:
        """Return the slot of each key, -1 for an unknown key."""
        if self._seen < len(self._slots):
            self._catch_up()
        late = self._late  # read it first: keys are in `_sorted` before they leave `_late`
        found = self._sorted.find(keys)
        for row in np.flatnonzero(found < 0).tolist() if late else ():
            found[row] = late.get(int(keys[row]), -1)
        return found

    def _catch_up(self) -> None:
        with self._lock:
            begin, end = self._seen, len(self._slots)
            keys = keys_of(self._slots.ids_of(range(begin, end)))
            slots = np.arange(begin, end)
            if len(keys) + len(self._late) > _MOST_LATE:
                before, late = self._sorted, self._late
                keys = np.concatenate((before.keys, np.array([*late], np.uint64), keys))
                slots = np.concatenate((before.slots, np.array([*late.values()], np.int64), slots))
                self._sorted = _Sorted(keys, slots)
                self._late = {}
            else:
                self._late = {**self._late, **dict(zip(keys.tolist(), slots.tolist(), strict=True))}
            self._seen = end
