"""Explain: print what the stages computed about a hit, line by line."""

import msgspec

from qms.search.hits import EXACTNESS, Hits
from qms.search.profiles import Profile


class StageScore(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One stage's opinion of a hit: its score, its place by it, the profile's weight for it."""

    stage: str
    score: float
    rank: int
    weight: float | None = None


class Explanation(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """How a hit came to its place."""

    stages: list[StageScore]
    exact: str | None = None


def explain(hits: Hits, row: int, profile: Profile) -> Explanation:
    """Return what the stages said about a row, in their order; what is silent is left out."""
    stages = [
        StageScore(
            name,
            round(float(column[row]), 6),
            int(hits.ranks[name][row]),
            getattr(profile.factors, name, None),
        )
        for name, column in hits.scores.items()
        if hits.ranks[name][row]
    ]
    return Explanation(stages, EXACTNESS[hits.classes[row]])
