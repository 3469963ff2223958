"""The weighing stage: adds the traits of an entry to its score, by a profile's weights."""

from collections.abc import Callable
from datetime import datetime

import numpy as np

from qms.index.arrays import IntArray
from qms.index.columns.traits import Traits, microseconds
from qms.memory.entry import CurationTier, Retention
from qms.search.hits import CLASSES, Column, Hits
from qms.search.profiles import Profile, RecencyFrom, RecencyShape

CERTAIN = 1.0
"""The least score of an exact match."""

MOST_USAGE = 50
"""More reads than this do not increase the score."""

_DAY = 86_400e6
"""In microseconds."""
_CURATION = {CurationTier.PROVISIONAL: 0.0, CurationTier.CURATED: 0.5, CurationTier.CANONICAL: 1.0}
_RETENTION = {Retention.SHORT: 0.0, Retention.MID: 1 / 3, Retention.LONG: 1.0}
_CURATION_BY_CODE = np.array([_CURATION[tier] for tier in CurationTier])
_RETENTION_BY_CODE = np.array([_RETENTION[retention] for retention in Retention])


def weigh(hits: Hits, traits: Traits, profile: Profile, *, now: datetime) -> Hits:
    """Return the hits by their final score, without those below the profile's threshold."""
    factors = _factors(traits, profile, now)
    base = hits.scores[profile.base.value]
    score = profile.base_weight * base
    for name, column in factors.items():
        score = score + getattr(profile.factors, name) * column
    if profile.cosine_share:
        score = _with_cosine(score, hits.scores["vector"], profile.cosine_share)
    if hits.called.any():
        factors["exact"] = _lifts(score, hits.classes)
        score = score + np.nan_to_num(factors["exact"])
    weighed = hits.scored(**factors, score=score)
    if profile.least_relevance is not None:
        weighed = _pruned(weighed, profile.least_relevance)
    return weighed.best_first("score")


def _factors(traits: Traits, profile: Profile, now: datetime) -> dict[str, Column]:
    """Return the columns, from 0 to 1, of the factors that the profile uses."""
    values: dict[str, Callable[[], Column]] = {
        "recency": lambda: _recency(_days(traits, profile, now), profile),
        "priority": lambda: traits.priority / 10,
        "confidence": lambda: traits.confidence,
        "curation": lambda: _CURATION_BY_CODE[traits.tier],
        "retention": lambda: _RETENTION_BY_CODE[traits.retention],
        "usage": lambda: np.minimum(traits.usage, MOST_USAGE) / MOST_USAGE,
        "pinned": lambda: traits.pinned.astype(np.float64),
    }
    return {
        name: values_of() for name, values_of in values.items() if getattr(profile.factors, name)
    }


def _days(traits: Traits, profile: Profile, now: datetime) -> Column:
    begins = traits.created if profile.recency_from is RecencyFrom.CREATED else traits.updated
    return np.maximum(0.0, (microseconds(now) - begins) / _DAY)


def _recency(days: Column, profile: Profile) -> Column:
    match profile.recency_shape:
        case RecencyShape.EXPONENTIAL:
            return np.exp(-days / profile.recency_days)
        case RecencyShape.HYPERBOLIC:
            return 1 / (1 + days / profile.recency_days)


def _with_cosine(score: Column, cosines: Column, share: float) -> Column:
    """Return the blend of cosine and score, the latter scaled to 1 for the best."""
    best = float(score.max(initial=0.0))
    scaled = score / best if best > 0 else score
    if np.isnan(cosines).all():
        return scaled
    return share * np.clip(np.nan_to_num(cosines), 0, 1) + (1 - share) * scaled


def _lifts(score: Column, classes: IntArray) -> Column:
    """Return what is added to exact matches, so that scores decrease down the list.

    A client that drops low scores must not lose an entry that the query named by its id.
    """
    lifts = np.full(len(score), np.nan)
    floor = float(score[classes == CLASSES[None]].max(initial=CERTAIN))
    for number in reversed(range(CLASSES[None])):
        rows = np.flatnonzero(classes == number)
        if len(rows):
            lifts[rows] = max(0.0, floor - float(score[rows].min()))
            floor = float((score[rows] + lifts[rows]).max())
    return lifts


def _pruned(hits: Hits, least: float) -> Hits:
    return hits.take(np.flatnonzero((hits.scores["relevance"] >= least) | hits.called))
