"""Slots: one small number for each entry id, shared by the indexes of a store.

An id keeps its slot during the life of the table, even after the entry is gone, and no other id
gets it. A reader's mask over slots therefore stays valid during later writes. Slots are freed only
by making a new table (`Columns.compacted`).
"""

import threading
from collections.abc import Iterable, Sequence


class Slots:
    """The numbers of one store's entry ids, in order of arrival."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._ids = list(ids)
        self._numbers = {entry_id: slot for slot, entry_id in enumerate(self._ids)}
        self._claiming = threading.Lock()

    def __len__(self) -> int:
        return len(self._ids)

    def claim(self, entry_id: str) -> int:
        """Return the slot of an id; assign a new one if it has none."""
        slot = self._numbers.get(entry_id)
        if slot is not None:
            return slot
        with self._claiming:
            slot = self._numbers.setdefault(entry_id, len(self._ids))
            if slot == len(self._ids):
                self._ids.append(entry_id)
            return slot

    def find(self, entry_id: str) -> int | None:
        """Return the slot of an id, or None when it never had one."""
        return self._numbers.get(entry_id)

    def find_all(self, ids: Iterable[str]) -> list[int]:
        """Return the slot of each id, -1 for one that never had any."""
        find = self._numbers.get
        return [find(entry_id, -1) for entry_id in ids]

    def id_of(self, slot: int) -> str:
        """Return the id of a slot."""
        return self._ids[slot]

    def ids_of(self, slots: Sequence[int]) -> list[str]:
        """Return the ids of slots."""
        ids = self._ids
        return [ids[slot] for slot in slots]
