"""The table that travels through the pipeline."""

import math

import numpy as np

from qms.search.hits import Exact
from tests.support.searching import make_hits, record

RECORDS = [record(name, "text") for name in "abc"]


def test_entries_called_for_exactly_stay_before_better_ones() -> None:
    hits = make_hits(RECORDS, [None, Exact.PATH, Exact.ID], fused=[3, 2, 1]).best_first("fused")
    assert hits.ids == ["p:c", "p:b", "p:a"]


def test_equal_scores_keep_their_order() -> None:
    assert make_hits(RECORDS, fused=[1, 1, 1]).best_first("fused").ids == ["p:a", "p:b", "p:c"]


def test_ranks_are_equal_for_equal_scores_and_absent_for_none() -> None:
    hits = make_hits(RECORDS, fused=[1, 1, 0], vector=[0.5, math.nan, 0.7]).ranked()
    assert hits.ranks["fused"].tolist() == [1, 1, 3]
    assert hits.ranks["vector"].tolist() == [2, 0, 1]


def test_a_rank_is_that_of_the_moment_when_the_score_was_new() -> None:
    hits = make_hits(RECORDS, fused=[3, 2, 1]).ranked().take(np.array([2])).ranked()
    assert hits.ranks["fused"].tolist() == [3]
    assert hits.ids == ["p:c"]
