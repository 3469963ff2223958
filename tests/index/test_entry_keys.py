"""From the numbers in the keyword files to the slots of a store."""

import numpy as np

from qms.index.entry_keys import KeyTable, keys_of
from qms.index.slots import Slots


def names(begin: int, end: int) -> list[str]:
    return [f"p:{number}" for number in range(begin, end)]


def test_every_key_leads_to_the_slot_of_its_id() -> None:
    table = KeyTable(Slots(names(0, 20_000)))
    assert table.find(keys_of(names(0, 20_000))).tolist() == list(range(20_000))


def test_a_key_that_no_id_has_leads_nowhere() -> None:
    for count in (0, 1, 5, 10_000):
        table = KeyTable(Slots(names(0, count)))
        assert table.find(keys_of(["q:other", "p:0"])).tolist() == [-1, 0 if count else -1]


def test_ids_that_come_later_are_found_beside_the_earlier_ones() -> None:
    slots = Slots(names(0, 5_000))
    table = KeyTable(slots)
    for begin in range(5_000, 15_000, 1_500):
        for name in names(begin, begin + 1_500):
            slots.claim(name)
        end = begin + 1_500
        asked = names(0, end)[::7]
        assert table.find(keys_of(asked)).tolist() == list(range(0, end, 7))


def test_extreme_keys_are_looked_for_like_others() -> None:
    table = KeyTable(Slots(names(0, 5_000)))
    extreme = np.array([0, 2**64 - 1], np.uint64)
    assert table.find(extreme).tolist() == [-1, -1]
