"""Scores of stores of any size on one scale."""

import math

import numpy as np
import pytest

from qms.index.vectors.cosine_stats import Moments
from qms.search.normalize import level
from tests.search.candidates_of import candidates


def test_text_scores_count_as_shares_of_what_all_words_would_score_there() -> None:
    small, large = level(
        [candidates("a", [4.0], ideal_text=4.0), candidates("b", [11.0], ideal_text=22.0)]
    )
    assert small.text[0] == pytest.approx(2 * large.text[0])


def test_one_store_keeps_its_text_scores() -> None:
    (only,) = level([candidates("ab", [4.0, 2.0])])
    assert only.text.tolist() == [4.0, 2.0]


def test_equal_cosines_are_equal_in_stores_with_different_spreads() -> None:
    first, second = level(
        [
            candidates("a", [0.0], [0.5], moments=Moments(0.4, 0.01, 3)),
            candidates("b", [0.0], [0.5], moments=Moments(0.0, 0.10, 10_000)),
        ]
    )
    assert first.vector[0] == second.vector[0]
    assert first.vector[0] == pytest.approx(5, rel=0.02)


def test_an_entry_without_a_vector_counts_as_average() -> None:
    (only,) = level([candidates("ab", [0, 0], [0.5, math.nan], moments=Moments(0.1, 0.1, 100))])
    assert only.vector[1] == 0


def test_two_vectors_alone_do_not_say_what_the_spread_is() -> None:
    (only,) = level([candidates("ab", [0, 0], [0.51, 0.5], moments=Moments(0.505, 0.005, 2))])
    assert np.abs(only.vector).max() < 0.1


def test_no_store_and_no_candidate_are_no_trouble() -> None:
    assert level([]) == []
    assert len(level([candidates("", [])])[0].text) == 0
