"""Fuse: one score of words, meaning and links, and one list of all stores.

By scores, not by ranks: how far ahead a hit is says more than that it is ahead. The weights are
measured; between 0.5 and 0.7 for words nothing much changes. Two relations an entry, drawn by
lot, cost 0.1 to 0.7 points of any@5 with links at 0.1, and 0.8 to 1.3 with 0.15.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from qms.index.arrays import IntArray
from qms.search.context import Situated
from qms.search.hits import Column, Hits


class FusionWeights(msgspec.Struct, frozen=True, kw_only=True):
    """What each signal counts; that of words is for the best of them."""

    text: float = 0.6
    vector: float = 0.064
    graph: float = 0.1


DEFAULT_FUSION = FusionWeights()
HASH_FUSION = FusionWeights(vector=0.01)
"""Hashed vectors know spelling, which words know better: with more weight they harm."""


KNOWN_LANGUAGE = 0.75
"""From this share of known words on a query is in a language that the embedder speaks."""
LEAST_TRUST = 0.15


def trusting(weights: FusionWeights, familiarity: float) -> FusionWeights:
    """Return the weights for a query of which the embedder knows this share of words.

    Vectors of a language that a model does not speak are noise: with their full weight they cost
    up to ten points of any@5, with a sixth of it none.
    """
    trust = max(LEAST_TRUST, min(1.0, familiarity / KNOWN_LANGUAGE) ** 2)
    return msgspec.structs.replace(weights, vector=weights.vector * trust)


def fuse(
    found: Sequence[Situated],
    speakers: Sequence[Column],
    weights: FusionWeights = DEFAULT_FUSION,
    *,
    most: int | None = None,
) -> Hits:
    """Return the entries of all stores by the fused score, no more than the best `most`."""
    levelled = [one.levelled for one in found]
    candidates = [one.candidates for one in levelled]
    text, vector = _joined([one.text for one in found]), _joined([one.vector for one in found])
    graph, speaker = _joined([one.graph for one in candidates]), _joined(speakers)
    fused = _fused(text, vector, graph, weights, speaker)
    classes = _numbers([one.classes() for one in candidates])
    best = np.lexsort((-fused, classes))[:most]
    scores = {
        "text": _joined([one.text for one in levelled]),
        "vector": _joined([one.vector for one in candidates]),
        "graph": graph,
        "textContext": text,
        "vectorContext": vector,
        "speaker": speaker,
        "fused": fused,
    }
    return Hits(
        tables=[one.table for one in candidates],
        sources=np.repeat(np.arange(len(candidates)), [len(one) for one in candidates])[best],
        slots=_numbers([one.slots for one in candidates])[best],
        classes=classes[best],
        scores={name: column[best] for name, column in scores.items()},
    )


def _fused(
    text: Column, vector: Column, graph: Column, weights: FusionWeights, speaker: Column
) -> Column:
    best = float(text.max(initial=0.0))
    words = text / best if best > 0 else text
    fused = weights.text * words + weights.vector * vector + weights.graph * graph
    return np.where(fused > 0, fused * speaker, fused)


def _numbers(columns: Sequence[IntArray]) -> IntArray:
    return np.concatenate(columns) if columns else np.zeros(0, np.int64)


def _joined(columns: Sequence[Column]) -> Column:
    return np.concatenate(columns) if columns else np.zeros(0)
