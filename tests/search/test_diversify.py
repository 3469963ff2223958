"""Of entries that say the same, one is enough."""

import numpy as np

from qms.search.diversify import diversify
from qms.search.hits import Exact
from tests.support.searching import make_hits, record

RECORDS = [record(name, "text") for name in "abc"]
VECTORS = np.array([[1, 0], [1, 0], [0, 1]], np.float32)


def order(balance: float, exact: list[Exact | None] | None = None, limit: int = 3) -> list[str]:
    hits = make_hits(RECORDS, exact or (), score=[0.9, 0.8, 0.7])
    chosen = diversify(hits, VECTORS, balance=balance, limit=limit)
    return [i.removeprefix("p:") for i in chosen.ids]


def test_a_repetition_gives_way_to_something_new() -> None:
    assert order(0.7) == ["a", "c", "b"]


def test_with_all_weight_on_the_score_the_order_stays() -> None:
    assert order(1.0) == ["a", "b", "c"]


def test_only_as_many_as_asked_for_are_chosen() -> None:
    assert order(0.7, limit=2) == ["a", "c"]


def test_exact_hits_stay_first_and_count_as_said() -> None:
    assert order(0.5, [None, Exact.ID, None]) == ["b", "c", "a"]


def test_entries_without_vectors_are_unlike_everything() -> None:
    hits = make_hits(RECORDS, score=[0.9, 0.8, 0.7])
    chosen = diversify(hits, np.zeros((3, 2), np.float32), balance=0.7, limit=3)
    assert chosen.ids == hits.ids
