"""The rerank stage: scores the first hits with a cross-encoder."""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from qms.memory.errors import UnavailableError
from qms.memory.ports import Reranker
from qms.search.hits import Hits

RERANKED = 50
"""How many hits the model reads; it takes milliseconds for each."""


class Reranked(msgspec.Struct, frozen=True):
    """The hits with their relevance, and why some were not scored."""

    hits: Hits
    skipped: str | None = None


def rerank(
    hits: Hits,
    query: str,
    reranker: Reranker | None,
    *,
    share: float,
    texts_of: Callable[[Hits], Sequence[str]],
) -> Reranked:
    """Return the hits with their relevance: the fused score, blended with the model's score.

    A hit that the model did not read gets a model score of 0; if the model fails, relevance is the
    fused score.
    """
    fused = hits.scores["fused"]
    if reranker is None or not share or not len(hits) or not query:
        return Reranked(hits.scored(relevance=fused))
    read = hits.take(np.arange(min(RERANKED, len(hits))))
    try:
        logits = reranker.score(query, texts_of(read)).astype(np.float64)
    except UnavailableError as error:
        return Reranked(hits.scored(relevance=fused), str(error))
    scores = np.full(len(hits), np.nan)
    scores[: len(read)] = 1 / (1 + np.exp(-np.clip(logits, -60, 60)))
    relevance = (1 - share) * fused + share * np.nan_to_num(scores)
    unread = int(np.isnan(logits).sum())
    late = f"no time for {unread} of {len(read)} hits" if unread else None
    return Reranked(hits.scored(rerank=scores, relevance=relevance).best_first("relevance"), late)
