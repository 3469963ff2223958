"""Explains a hit: the score, rank and weight of each stage."""

import msgspec

from qms.search.hits import EXACTNESS, Hits
from qms.search.profiles import Profile


class StageScore(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One stage's score of a hit, its rank by that score, and the profile's weight."""

    stage: str
    score: float
    rank: int
    weight: float | None = None


class Explanation(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Why a hit has its rank."""

    stages: list[StageScore]
    exact: str | None = None


def explain(hits: Hits, row: int, profile: Profile) -> Explanation:
    """Return the scores of a row in stage order, without stages that gave none."""
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
