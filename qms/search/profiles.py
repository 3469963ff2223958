"""Profiles: named sets of ranking weights; the stages apply all of them in the same way.

`aiMemory` follows that system's recall: six factors beside BM25, and 0.6 cosine to 0.4 of the rest.
`aiMemorySearch` is the same without the factor for retention. `agentCli` follows that system's read
path.
"""

from enum import StrEnum

import msgspec


class ProfileName(StrEnum):
    """The profiles that a search may ask for."""

    DEFAULT = "default"
    AI_MEMORY = "aiMemory"
    AI_MEMORY_SEARCH = "aiMemorySearch"
    AGENT_CLI = "agentCli"


class RecencyShape(StrEnum):
    """How recency decays with age."""

    EXPONENTIAL = "exponential"
    HYPERBOLIC = "hyperbolic"


class RecencyFrom(StrEnum):
    """The timestamp from which the age of an entry is counted."""

    CREATED = "created"
    UPDATED = "updated"


class Base(StrEnum):
    """The score that the factors are added to."""

    RELEVANCE = "relevance"
    TEXT = "text"


class Factors(msgspec.Struct, frozen=True, kw_only=True):
    """The maximum that each trait adds to the score; 0 disables it."""

    recency: float = 0.0
    priority: float = 0.0
    confidence: float = 0.0
    curation: float = 0.0
    retention: float = 0.0
    usage: float = 0.0
    pinned: float = 0.0


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """How hits are weighed, pruned and diversified."""

    base: Base = Base.RELEVANCE
    base_weight: float = 1.0
    factors: Factors = Factors()
    recency_shape: RecencyShape = RecencyShape.EXPONENTIAL
    recency_days: float = 30.0
    recency_from: RecencyFrom = RecencyFrom.UPDATED
    cosine_share: float = 0.0
    """The share of the raw cosine in the score; the rest is then scaled to 1 for the best."""
    rerank_share: float = 0.5
    """The share of the reranker's score in the relevance, if there is a reranker."""
    least_relevance: float | None = None
    mmr_lambda: float | None = None


_AI_MEMORY_FACTORS = Factors(priority=5.0, usage=5.0, confidence=2.0, retention=3.0, recency=1.0)
_AI_MEMORY = Profile(
    base=Base.TEXT,
    factors=_AI_MEMORY_FACTORS,
    recency_shape=RecencyShape.HYPERBOLIC,
    recency_days=10.0,
    cosine_share=0.6,
    rerank_share=0.0,
)

PROFILES: dict[ProfileName, Profile] = {
    # Relevance is about 1 for the best hit: the factors decide only between nearly equal hits.
    ProfileName.DEFAULT: Profile(
        factors=Factors(
            recency=0.02,
            priority=0.04,
            confidence=0.04,
            curation=0.04,
            retention=0.01,
            usage=0.02,
            pinned=0.03,
        ),
    ),
    ProfileName.AI_MEMORY: _AI_MEMORY,
    ProfileName.AI_MEMORY_SEARCH: msgspec.structs.replace(
        _AI_MEMORY, factors=msgspec.structs.replace(_AI_MEMORY_FACTORS, retention=0.0)
    ),
    ProfileName.AGENT_CLI: Profile(
        base_weight=0.8,
        factors=Factors(recency=0.2),
        recency_from=RecencyFrom.CREATED,
        rerank_share=1.0,
        least_relevance=0.35,
        mmr_lambda=0.7,
    ),
}
