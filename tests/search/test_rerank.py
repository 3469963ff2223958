"""A model's say on the first hits."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from qms.memory.errors import UnavailableError
from qms.search.hits import Exact, Hits
from qms.search.rerank import RERANKED, rerank
from tests.support.searching import make_hits, record


class Lengths:
    """Holds long texts for good answers."""

    model_id = "lengths"

    def __init__(self) -> None:
        self.read: list[str] = []

    def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        self.read.extend(texts)
        return np.array([len(text) - 5 for text in texts], np.float32)


def texts(hits: Hits) -> list[str]:
    return [TEXTS.get(entry_id, "some text") for entry_id in hits.ids]


TEXTS = {"p:a": "short", "p:b": "much longer"}
RECORDS = [record(name, "text") for name in "ab"]
HITS = make_hits(RECORDS, fused=[1.0, 0.9])


def test_without_a_model_relevance_is_the_fused_score() -> None:
    hits = rerank(HITS, "q", None, share=1.0, texts_of=texts).hits
    assert hits.scores["relevance"].tolist() == [1.0, 0.9]
    assert "rerank" not in hits.scores


def test_a_profile_may_do_without_the_model() -> None:
    model = Lengths()
    rerank(HITS, "q", model, share=0.0, texts_of=texts)
    assert model.read == []


def test_the_opinion_is_a_sigmoid_and_blends_with_the_fused_score() -> None:
    hits = rerank(HITS, "q", Lengths(), share=0.5, texts_of=texts).hits
    assert hits.ids == ["p:b", "p:a"]
    assert hits.scores["rerank"].tolist() == pytest.approx([1 / (1 + np.exp(-6)), 0.5])
    assert hits.scores["relevance"][1] == pytest.approx(0.5 * 1.0 + 0.5 * 0.5)


def test_what_the_model_has_not_read_comes_after_what_it_likes() -> None:
    records = [record(f"r{number:03}", "some text") for number in range(RERANKED + 5)]
    model = Lengths()
    hits = make_hits(records, fused=np.linspace(1, 0.5, len(records)))
    ranked = rerank(hits, "q", model, share=1.0, texts_of=texts).hits
    assert len(model.read) == RERANKED
    assert ranked.ids[-5:] == [one.header.id for one in records[-5:]]
    assert np.isnan(ranked.scores["rerank"][-1])


def test_extreme_opinions_are_no_trouble() -> None:
    class Sure(Lengths):
        def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.array([1e30, -1e30], np.float32)

    hits = rerank(HITS, "q", Sure(), share=1.0, texts_of=texts).hits
    assert hits.scores["relevance"].tolist() == pytest.approx([1.0, 0.0])


def test_exact_hits_stay_first() -> None:
    hits = make_hits(RECORDS, [Exact.ID, None], fused=[1.0, 0.9])
    assert rerank(hits, "q", Lengths(), share=1.0, texts_of=texts).hits.ids == ["p:a", "p:b"]


def test_a_model_that_fails_leaves_the_fused_score_and_says_why() -> None:
    class Broken(Lengths):
        def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
            raise UnavailableError("out of memory")

    ranked = rerank(HITS, "q", Broken(), share=1.0, texts_of=texts)
    assert ranked.hits.scores["relevance"].tolist() == [1.0, 0.9]
    assert ranked.skipped == "out of memory"


def test_hits_that_there_was_no_time_for_are_counted() -> None:
    class Slow(Lengths):
        def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.array([1.0, np.nan], np.float32)

    ranked = rerank(HITS, "q", Slow(), share=1.0, texts_of=texts)
    assert ranked.hits.ids == ["p:a", "p:b"]
    assert ranked.skipped == "no time for 1 of 2 hits"
