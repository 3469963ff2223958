"""Rerank: a model that reads query and entry together has its say on the first hits."""

from collections.abc import Callable, Sequence

import numpy as np

from qms.domain.ports import Reranker
from qms.search.hits import Hits

RERANKED = 50
"""How many hits the model reads; it takes milliseconds for each."""


def rerank(
    hits: Hits,
    query: str,
    reranker: Reranker | None,
    *,
    share: float,
    texts_of: Callable[[Hits], Sequence[str]],
) -> Hits:
    """Return the hits with their relevance: the fused score, or the model's opinion blended in.

    A hit that the model has not read counts as one that it holds for worthless.
    """
    fused = hits.scores["fused"]
    if reranker is None or not share or not len(hits):
        return hits.scored(relevance=fused)
    read = hits.take(np.arange(min(RERANKED, len(hits))))
    logits = np.clip(reranker.score(query, texts_of(read)).astype(np.float64), -60, 60)
    opinion = np.full(len(hits), np.nan)
    opinion[: len(read)] = 1 / (1 + np.exp(-logits))
    relevance = (1 - share) * fused + share * np.nan_to_num(opinion)
    return hits.scored(rerank=opinion, relevance=relevance).best_first("relevance")
