"""One score and one list."""

import numpy as np
import pytest

from qms.index.vectors.cosine_stats import Moments
from qms.search.context import add_context
from qms.search.fuse import DEFAULT_FUSION, HASH_FUSION, fuse, trusting
from qms.search.hits import Candidates, Exact, Hits
from qms.search.normalize import level
from tests.search.candidates_of import candidates


def fused(*found: Candidates, speakers: list[list[float]] | None = None) -> Hits:
    factors = speakers or [[1.0] * len(one) for one in found]
    return fuse([add_context(one) for one in level(found)], [np.array(one) for one in factors])


def test_the_best_by_words_has_the_weight_of_words() -> None:
    hits = fused(candidates("ab", [5.0, 10.0]))
    assert hits.ids == ["p:b", "p:a"]
    assert hits.scores["fused"].tolist() == pytest.approx([0.6, 0.3])


def test_vectors_decide_where_words_are_equal() -> None:
    spread = Moments(0.1, 0.1, 1000)
    assert fused(candidates("ab", [5.0, 5.0], [0.2, 0.6], moments=spread)).ids == ["p:b", "p:a"]


def test_without_any_word_vectors_alone_decide() -> None:
    spread = Moments(0.1, 0.1, 1000)
    assert fused(candidates("ab", [0.0, 0.0], [0.2, 0.6], moments=spread)).ids == ["p:b", "p:a"]


def test_a_neighbour_in_the_graph_comes_after_what_was_asked_for() -> None:
    hits = fused(candidates("abc", [10.0, 0.0, 0.0], graph=[0.0, 1.0, 0.5]))
    assert hits.ids == ["p:a", "p:b", "p:c"]
    assert hits.scores["fused"][1] == pytest.approx(DEFAULT_FUSION.graph)


def test_the_speaker_multiplies_and_never_harms() -> None:
    spread = Moments(0.5, 0.1, 1000)
    found = candidates("ab", [0.0, 0.0], [0.1, 0.1], moments=spread)
    hits = fused(found, speakers=[[1.25, 1.0]])
    assert hits.scores["fused"][0] == hits.scores["fused"][1] < 0


def test_exact_hits_come_first_whatever_their_score() -> None:
    assert fused(candidates("ab", [9.0, 0.0], exact=[None, Exact.ID])).ids == ["p:b", "p:a"]


def test_a_perfect_hit_of_a_small_store_stands_beside_one_of_a_large_store() -> None:
    small = candidates("a", [2.0], ideal_text=2.0)
    large = candidates("bc", [10.0, 4.0], ideal_text=10.0)
    hits = fused(large, small)
    assert set(hits.ids[:2]) == {"p:a", "p:b"}
    assert hits.scores["fused"][0] == hits.scores["fused"][1]
    assert sorted(hits.sources[:2]) == [0, 1]


def test_a_poor_hit_of_a_small_store_does_not_count_as_its_best() -> None:
    small = candidates("a", [0.4], ideal_text=2.0)
    large = candidates("bc", [10.0, 4.0], ideal_text=10.0)
    assert fused(small, large).ids == ["p:b", "p:c", "p:a"]


def test_nothing_found_is_an_empty_list() -> None:
    assert fused(candidates("", [])).ids == []


def test_hashed_vectors_weigh_less_than_those_of_a_model() -> None:
    assert 0 < HASH_FUSION.vector < DEFAULT_FUSION.vector
    assert HASH_FUSION.text == DEFAULT_FUSION.text


@pytest.mark.parametrize(
    ("familiarity", "share"), [(1.0, 1.0), (0.8, 1.0), (0.375, 0.25), (0.1, 0.15), (0.0, 0.15)]
)
def test_vectors_count_less_in_a_language_that_the_embedder_does_not_speak(
    familiarity: float, share: float
) -> None:
    weights = trusting(DEFAULT_FUSION, familiarity)
    assert weights.vector == pytest.approx(share * DEFAULT_FUSION.vector)
    assert (weights.text, weights.graph) == (DEFAULT_FUSION.text, DEFAULT_FUSION.graph)
