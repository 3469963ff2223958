"""The fusion stage: combines text, vector and graph scores, and the hits of all stores.

It adds scores instead of ranks: the distance between hits matters. The weights are measured; a text
weight between 0.5 and 0.7 changes little. With two random relations per entry, a graph weight of
0.1 costs 0.1 to 0.7 points of any@5, 0.15 costs 0.8 to 1.3.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from qms.index.arrays import IntArray
from qms.models.in_use import Models
from qms.search.context import Situated
from qms.search.hits import Column, Hits


class FusionWeights(msgspec.Struct, frozen=True, kw_only=True):
    """The weight of each signal; the best text score gets the full weight."""

    text: float = 0.6
    vector: float = 0.064
    graph: float = 0.1


DEFAULT_FUSION = FusionWeights()
HASH_FUSION = FusionWeights(vector=0.01)
"""Hashed vectors compare spelling, which the keyword index does better: more weight harms."""


KNOWN_LANGUAGE = 0.75
"""From this share of known words on, the embedder supports the language of a query."""
LEAST_TRUST = 0.15


def trusting(weights: FusionWeights, familiarity: float) -> FusionWeights:
    """Return the weights for a query of which the embedder knows this share of words.

    Vectors of an unsupported language are noise: with full weight they cost up to ten points of
    any@5, with a sixth of it none.
    """
    trust = max(LEAST_TRUST, min(1.0, familiarity / KNOWN_LANGUAGE) ** 2)
    return msgspec.structs.replace(weights, vector=weights.vector * trust)


def fusion_of(models: Models, text: str) -> FusionWeights:
    """Return the weights for the embedder in use and the language of a query."""
    known = models.embedder.familiarity(text) if models.embedder and text else 1.0
    return trusting(HASH_FUSION if models.is_hash else DEFAULT_FUSION, known)


def fuse(
    found: Sequence[Situated],
    speakers: Sequence[Column],
    weights: FusionWeights = DEFAULT_FUSION,
    *,
    most: int | None = None,
) -> Hits:
    """Return the entries of all stores by the fused score, at most `most`."""
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
        is_compared=any(one.is_compared for one in candidates),
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
