"""Conversations: which turns belong together, and their order.

Turns are ordered by `ordinal` if every turn of the conversation has one, else by creation time;
ties by arrival. Mixing both keys inside one conversation would give no consistent order.
"""

from array import array
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from qms.index.arrays import BoolArray, IntArray, grown, room_for

NONE = -1
"""No conversation, no previous or no next turn."""

_FAR = 2**62


class _Conversation:
    """The turns of one conversation, in order."""

    __slots__ = ("turns", "unnumbered")

    def __init__(self) -> None:
        self.turns = array("i")
        self.unnumbered = 0


class Conversations:
    """The conversations of one store, by number, and the neighbours of every turn, by slot."""

    def __init__(self) -> None:
        self._by_number: dict[int, _Conversation] = {}
        self._number = np.zeros(0, np.int32)
        self._ordinal = np.zeros(0, np.int64)
        self._has_ordinal = np.zeros(0, np.bool_)
        self._created = np.zeros(0, np.int64)
        self._previous = np.zeros(0, np.int32)
        self._following = np.zeros(0, np.int32)

    def put(self, slot: int, conversation: int, *, ordinal: int | None, created: int) -> None:
        """Make a slot a turn of a conversation; `NONE` removes it from its conversation."""
        self.remove(slot)
        if conversation == NONE:
            return
        self._make_room(slot + 1)
        self._number[slot] = conversation
        self._has_ordinal[slot] = ordinal is not None
        self._ordinal[slot] = _bounded(ordinal)
        self._created[slot] = created
        found = self._by_number.setdefault(conversation, _Conversation())
        found.unnumbered += ordinal is None
        if found.turns and ordinal is None and found.unnumbered == 1:
            self._arrange(found, np.array(found.turns, np.int64))
        self._insert(found, slot)

    def fill(
        self,
        numbers: npt.NDArray[np.int32],
        ordinals: IntArray,
        has_ordinal: BoolArray,
        created: IntArray,
    ) -> None:
        """Fill slots 0, 1, 2 … from these arrays; only for an empty object."""
        self._make_room(len(numbers))
        every = slice(0, len(numbers))
        self._number[every], self._created[every] = numbers, created
        self._ordinal[every], self._has_ordinal[every] = ordinals, has_ordinal
        slots = np.flatnonzero(numbers != NONE)
        slots = slots[np.argsort(numbers[slots], kind="stable")]
        for turns in np.split(slots, np.flatnonzero(np.diff(numbers[slots])) + 1):
            if len(turns):
                found = self._by_number[int(numbers[turns[0]])] = _Conversation()
                found.unnumbered = len(turns) - int(self._has_ordinal[turns].sum())
                self._arrange(found, turns)

    def ordinals(self, count: int) -> tuple[IntArray, BoolArray]:
        """Return the ordinals of the first `count` slots, and which of them have one."""
        self._make_room(count)
        return self._ordinal[:count], self._has_ordinal[:count]

    def remove(self, slot: int) -> None:
        """Remove a slot from its conversation."""
        number = self._number_of(slot)
        if number == NONE:
            return
        found = self._by_number[number]
        place = self._place(found, slot)
        del found.turns[place]
        self._link(int(self._previous[slot]), int(self._following[slot]))
        self._number[slot] = self._previous[slot] = self._following[slot] = NONE
        if not found.turns:
            del self._by_number[number]
        elif not self._has_ordinal[slot]:
            found.unnumbered -= 1
            if not found.unnumbered:
                self._arrange(found, np.array(found.turns, np.int64))

    def turns(self, conversation: int) -> IntArray:
        """Return the slots of a conversation, in order."""
        found = self._by_number.get(conversation)
        return np.array(found.turns if found else (), np.int64)

    def numbers(self, slots: IntArray) -> IntArray:
        """Return the conversation of each slot, `NONE` where there is none."""
        return _taken(self._number, slots)

    def neighbours(self, slots: IntArray) -> tuple[IntArray, IntArray]:
        """Return the slots of the previous and of the next turn, `NONE` where there is none."""
        return _taken(self._previous, slots), _taken(self._following, slots)

    def renumbered(self, kept: IntArray) -> "Conversations":
        """Return the conversations of the slots in `kept`, numbered from 0 in its order."""
        result = Conversations()
        self._make_room(int(kept.max(initial=-1)) + 1)
        numbers = np.full(len(self._number) + 1, NONE, np.int32)  # the last is NONE's own
        numbers[kept] = np.arange(len(kept), dtype=np.int32)
        result._number = self._number[kept]
        result._ordinal = self._ordinal[kept]
        result._has_ordinal = self._has_ordinal[kept]
        result._created = self._created[kept]
        result._previous = numbers[self._previous[kept]]
        result._following = numbers[self._following[kept]]
        for number, found in self._by_number.items():
            moved = result._by_number[number] = _Conversation()
            moved.turns = array("i", numbers[np.array(found.turns, np.int64)].tolist())
            moved.unnumbered = found.unnumbered
        return result

    def _insert(self, found: _Conversation, slot: int) -> None:
        place = self._place(found, slot)
        before = found.turns[place - 1] if place else NONE
        after = found.turns[place] if place < len(found.turns) else NONE
        found.turns.insert(place, slot)
        self._link(before, slot)
        self._link(slot, after)

    def _arrange(self, found: _Conversation, slots: IntArray) -> None:
        """Put the turns of a conversation in order and link them."""
        keys = [slots, self._created[slots]]
        if not found.unnumbered:
            keys.append(self._ordinal[slots])
        ordered = slots[np.lexsort(keys)]
        found.turns = array("i", ordered.tolist())
        self._previous[ordered[1:]] = ordered[:-1]
        self._following[ordered[:-1]] = ordered[1:]
        self._previous[ordered[0]] = self._following[ordered[-1]] = NONE

    def _place(self, found: _Conversation, slot: int) -> int:
        """Return the place of a slot, or where to insert it; most turns come last."""
        numbered = not found.unnumbered

        def key(turn: int) -> tuple[int, int, int]:
            ordinal = int(self._ordinal[turn]) if numbered else 0
            return ordinal, int(self._created[turn]), turn

        if not found.turns or key(found.turns[-1]) < key(slot):
            return len(found.turns)
        return bisect_left(found.turns, key(slot), key=key)

    def _link(self, before: int, after: int) -> None:
        if before != NONE:
            self._following[before] = after
        if after != NONE:
            self._previous[after] = before

    def _number_of(self, slot: int) -> int:
        return int(self._number[slot]) if slot < len(self._number) else NONE

    def _make_room(self, count: int) -> None:
        if count <= len(self._number):
            return
        capacity = room_for(count, len(self._number))
        self._number = grown(self._number, capacity, NONE)
        self._ordinal = grown(self._ordinal, capacity)
        self._has_ordinal = grown(self._has_ordinal, capacity)
        self._created = grown(self._created, capacity)
        self._previous = grown(self._previous, capacity, NONE)
        self._following = grown(self._following, capacity, NONE)


def numbered(ordinals: Sequence[int | None]) -> tuple[IntArray, BoolArray]:
    """Return ordinals as two columns: the numbers, and which are given."""
    numbers, having = np.zeros(len(ordinals), np.int64), np.zeros(len(ordinals), np.bool_)
    given = [slot for slot, ordinal in enumerate(ordinals) if ordinal is not None]
    having[given] = True
    numbers[given] = [_bounded(ordinals[slot]) for slot in given]
    return numbers, having


def _bounded(ordinal: int | None) -> int:
    """Return an ordinal clipped to the range of a column."""
    return max(-_FAR, min(_FAR, ordinal or 0))


def _taken(column: npt.NDArray[np.int32], slots: IntArray) -> IntArray:
    """Return the column's values at slots, `NONE` for slots beyond it."""
    if not len(column):
        return np.full(len(slots), NONE, np.int64)
    found = column.take(slots, mode="clip")
    return np.where(slots < len(column), found, NONE).astype(np.int64)
