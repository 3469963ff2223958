"""Rerank: a model that reads query and entry together has its say on the first hits."""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from qms.domain.errors import UnavailableError
from qms.domain.ports import Reranker
from qms.search.hits import Hits

RERANKED = 50
"""How many hits the model reads; it takes milliseconds for each."""


class Reranked(msgspec.Struct, frozen=True):
    """The hits with their relevance, and what the model has left out."""

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
    """Return the hits with their relevance: the fused score, or the model's opinion blended in.

    A hit that the model has not read counts as one that it holds for worthless; when it fails, the
    fused score stands.
    """
    fused = hits.scores["fused"]
    if reranker is None or not share or not len(hits) or not query:
        return Reranked(hits.scored(relevance=fused))
    read = hits.take(np.arange(min(RERANKED, len(hits))))
    try:
        logits = reranker.score(query, texts_of(read)).astype(np.float64)
    except UnavailableError as error:
        return Reranked(hits.scored(relevance=fused), str(error))
    opinion = np.full(len(hits), np.nan)
    opinion[: len(read)] = 1 / (1 + np.exp(-np.clip(logits, -60, 60)))
    relevance = (1 - share) * fused + share * np.nan_to_num(opinion)
    unread = int(np.isnan(logits).sum())
    late = f"no time for {unread} of {len(read)} hits" if unread else None
    return Reranked(hits.scored(rerank=opinion, relevance=relevance).best_first("relevance"), late)
