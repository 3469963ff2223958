"""memory_stats and memory_capabilities: counts, features and models."""

from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.requests import NoArguments
from qms.dropins.ai_memory.ai_memory_types import SnakeResponse
from qms.dropins.ai_memory.errors import in_its_words
from qms.features.lists import stats
from qms.memory.access import AccessTier
from qms.memory.entry import Retention

NONE = "none"


class MemoryStats(SnakeResponse, frozen=True):
    """The numbers of memories; the empty namespace counts those without one."""

    total: int
    by_tier: dict[str, int]
    by_namespace: dict[str, int]
    expiring_soon: int
    links: int
    db_size_bytes: int


class Features(SnakeResponse, frozen=True):
    """The features that are available."""

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
    """The nearest tier of ai-memory, the features, and the models."""

    tier: str
    features: Features
    models: LoadedModels


@command(
    tier=AccessTier.READER,
    toolset="aiMemory",
    name="memory_stats",
    help="Count the memories by tier and namespace",
    read_only=True,
    idempotent=True,
)
@in_its_words
def memory_stats(call: Call, _request: NoArguments) -> MemoryStats:
    """Count the project's memories."""
    found = stats.stats(call, stats.StatsRequest())
    return MemoryStats(
        total=found.entries,
        by_tier={tier.value: found.by_retention.get(tier, 0) for tier in Retention},
        by_namespace={one.namespace or "": one.count for one in found.by_namespace},
        expiring_soon=found.expiring_soon,
        links=found.links,
        db_size_bytes=found.bytes,
    )


@command(
    tier=AccessTier.READER,
    toolset="aiMemory",
    name="memory_capabilities",
    help="Report the features and models in use",
    read_only=True,
    idempotent=True,
    brief=True,
)
@in_its_words
def memory_capabilities(call: Call, _request: NoArguments) -> MemoryCapabilities:
    """Return the models in use and the features; without an LLM, rules provide some of them."""
    models, chat = call.context.indexer.models(), call.context.indexer.chat().model
    is_semantic = models.embedder is not None and not models.is_hash
    return MemoryCapabilities(
        tier="smart" if chat else "semantic" if is_semantic else "keyword",
        features=Features(
            embedding_recall=is_semantic,
            hybrid_scoring=is_semantic,
            query_expansion=True,
            auto_tagging=True,
            contradiction_detection=True,
            cross_encoder_reranking=models.reranker is not None,
            memory_reflection=False,
        ),
        models=LoadedModels(
            embedding=models.embedder.model_id if models.embedder else NONE,
            llm=chat.model_id if chat else NONE,
            cross_encoder=models.reranker.model_id if models.reranker else NONE,
        ),
    )
