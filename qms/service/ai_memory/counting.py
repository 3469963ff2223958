"""memory_stats and memory_capabilities: what there is, and what it can do."""

from qms.domain.entry import Retention
from qms.service import census
from qms.service.ai_memory.shapes import SnakeResponse
from qms.service.calls import Call
from qms.service.requests import NoArguments

NONE = "none"


class MemoryStats(SnakeResponse, frozen=True):
    """How many memories there are; the empty namespace is that of those without."""

    total: int
    by_tier: dict[str, int]
    by_namespace: dict[str, int]
    expiring_soon: int
    links: int
    db_size_bytes: int


class Features(SnakeResponse, frozen=True):
    """What works here."""

    embedding_recall: bool
    hybrid_scoring: bool
    query_expansion: bool
    auto_tagging: bool
    contradiction_detection: bool
    cross_encoder_reranking: bool
    memory_reflection: bool


class LoadedModels(SnakeResponse, frozen=True):
    """The models in use."""

    embedding: str
    llm: str
    cross_encoder: str


class MemoryCapabilities(SnakeResponse, frozen=True):
    """The tier of ai-memory that comes nearest, its features, and the models."""

    tier: str
    features: Features
    models: LoadedModels


def memory_stats(call: Call, _request: NoArguments) -> MemoryStats:
    """Count the project's memories."""
    found = census.stats(call, NoArguments())
    return MemoryStats(
        total=found.entries,
        by_tier={tier.value: found.by_retention.get(tier, 0) for tier in Retention},
        by_namespace={one.namespace or "": one.count for one in found.by_namespace},
        expiring_soon=found.expiring_soon,
        links=found.links,
        db_size_bytes=found.bytes,
    )


def memory_capabilities(call: Call, _request: NoArguments) -> MemoryCapabilities:
    """Say what is there: the embedder and reranker in use, the configured LLM."""
    models, llm = call.house.library.models(), call.settings.llm
    is_semantic = models.embedder is not None and not models.is_hash
    has_llm = bool(llm.base_url)
    return MemoryCapabilities(
        tier="smart" if has_llm else "semantic" if is_semantic else "keyword",
        features=Features(
            embedding_recall=is_semantic,
            hybrid_scoring=is_semantic,
            query_expansion=has_llm,
            auto_tagging=has_llm,
            contradiction_detection=True,
            cross_encoder_reranking=models.reranker is not None,
            memory_reflection=False,
        ),
        models=LoadedModels(
            embedding=models.embedder.model_id if models.embedder else NONE,
            llm=llm.model if has_llm else NONE,
            cross_encoder=models.reranker.model_id if models.reranker else NONE,
        ),
    )
