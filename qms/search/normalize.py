"""The normalisation stage: makes the scores of stores of different sizes comparable.

BM25 is larger where words are rarer, so that text scores are divided by the score of an entry with
all words of the query in that store. Cosines come from one model; they are standardised by mean and
deviation over all stores together, not over the best hits.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from qms.index.vectors.cosine_stats import Moments
from qms.search.hits import Candidates, Column

USUAL_DEVIATION = 0.12
USUAL_PIECES = 20
"""The weight of the usual deviation, in pieces: two entries alone give no useful deviation."""


class Normalized(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates of one store with scores that are comparable across stores."""

    candidates: Candidates
    text: Column
    vector: Column
    """Standard deviations from the mean cosine; 0 where an entry has no vector yet."""


def level(found: Sequence[Candidates]) -> list[Normalized]:
    """Return the candidates of all stores on one scale."""
    spread = _pooled([one.moments for one in found])
    best = max((one.ideal_text for one in found), default=1.0)
    return [
        Normalized(
            candidates=one,
            text=one.text * (best / one.ideal_text) if one.ideal_text > 0 else one.text,
            vector=_standardised(one.vector, spread),
        )
        for one in found
    ]


def _pooled(moments: Sequence[Moments]) -> Moments:
    pieces = sum(one.pieces for one in moments)
    if not pieces:
        return Moments(0.0, USUAL_DEVIATION, 0)
    mean = sum(one.mean * one.pieces for one in moments) / pieces
    squares = sum((one.deviation**2 + (one.mean - mean) ** 2) * one.pieces for one in moments)
    usual = USUAL_DEVIATION**2 * USUAL_PIECES
    return Moments(mean, float(np.sqrt((squares + usual) / (pieces + USUAL_PIECES))), pieces)


def _standardised(cosines: Column, spread: Moments) -> Column:
    deviations = (cosines - spread.mean) / spread.deviation
    deviations[np.isnan(deviations)] = 0.0
    return deviations
