"""Weigh: what an entry is, beside what it says, moves its score by a profile's weights."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from qms.domain.entry import CurationTier, Header, Retention
from qms.search.hits import Column, Hits
from qms.search.profiles import Profile, RecencyShape

MOST_USAGE = 50
"""From how many reads on more of them say nothing more."""

_DAY = timedelta(days=1)
_CURATION = {CurationTier.PROVISIONAL: 0.0, CurationTier.CURATED: 0.5, CurationTier.CANONICAL: 1.0}
_RETENTION = {Retention.SHORT: 0.0, Retention.MID: 1 / 3, Retention.LONG: 1.0}


def weigh(hits: Hits, profile: Profile, *, now: datetime, usage: Sequence[int]) -> Hits:
    """Return the hits by their final score, those below the profile's threshold left out."""
    headers = [record.header for record in hits.records]
    factors = _factors(headers, profile, now, usage)
    base = hits.scores[profile.base.value]
    score = profile.base_weight * base
    for name, column in factors.items():
        score = score + getattr(profile.factors, name) * column
    if profile.cosine_share:
        score = _with_cosine(score, hits.scores["vector"], profile.cosine_share)
    weighed = hits.scored(**factors, score=score)
    if profile.least_relevance is not None:
        weighed = _pruned(weighed, profile.least_relevance)
    return weighed.best_first("score")


def _factors(
    headers: Sequence[Header], profile: Profile, now: datetime, usage: Sequence[int]
) -> dict[str, Column]:
    """Return the columns, from 0 to 1, of the factors that the profile looks at."""
    values: dict[str, Callable[[], Any]] = {
        "recency": lambda: _recency(_days(headers, now), profile),
        "priority": lambda: [header.priority / 10 for header in headers],
        "confidence": lambda: [header.confidence for header in headers],
        "curation": lambda: [_CURATION[header.curation_tier] for header in headers],
        "retention": lambda: [_RETENTION[header.retention] for header in headers],
        "usage": lambda: [min(count, MOST_USAGE) / MOST_USAGE for count in usage],
        "pinned": lambda: [float(header.pinned) for header in headers],
    }
    return {
        name: np.array(values_of(), np.float64)
        for name, values_of in values.items()
        if getattr(profile.factors, name)
    }


def _days(headers: Sequence[Header], now: datetime) -> Column:
    passed = [(now - header.timestamps.updated_utc) / _DAY for header in headers]
    return np.maximum(0.0, np.array(passed, np.float64))


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


def _pruned(hits: Hits, least: float) -> Hits:
    called = np.array([exact is not None for exact in hits.exact], np.bool_)
    return hits.take(np.flatnonzero((hits.scores["relevance"] >= least) | called))
