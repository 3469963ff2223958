"""The diversify stage: ranks hits by score and dissimilarity (maximal marginal relevance, MMR)."""

import numpy as np

from qms.index.arrays import FloatArray, products
from qms.search.hits import Hits


def diversify(hits: Hits, vectors: FloatArray, *, balance: float, limit: int) -> Hits:
    """Return `limit` hits, each chosen by its score minus its similarity to those before.

    `balance` is the weight of the score, the rest that of the similarity. Exact matches keep their
    places.
    """
    score = hits.scores["score"]
    called = np.flatnonzero(hits.called).tolist()
    chosen: list[int] = called[:limit]
    left = [row for row in range(len(hits)) if row not in set(called)]
    likeness = np.full(len(hits), 0.0)
    for row in chosen:
        np.maximum(likeness, products(vectors, vectors[row]), out=likeness)
    values = np.full(len(hits), np.nan)
    while left and len(chosen) < limit:
        gains = balance * score[left] - (1 - balance) * likeness[left]
        place = int(np.argmax(gains))
        row = left.pop(place)
        values[row] = gains[place]
        chosen.append(row)
        np.maximum(likeness, products(vectors, vectors[row]), out=likeness)
    return hits.scored(mmr=values).take(np.array(chosen, np.int64))
