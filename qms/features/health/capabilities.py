"""capabilities: models, toolsets and limits that are in use, whatever was configured."""

from typing import Any

import msgspec

from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.requests import NoArguments, Response
from qms.features.summaries.summaries import SummaryWriter
from qms.memory.access import AccessTier
from qms.models.choose import EmbedderKind, EmbedderReport
from qms.version import __version__


class CapabilitiesAnswer(Response, frozen=True):
    """The models in use, the toolsets that the project allows, and the limits."""

    version: str
    embedder: EmbedderReport | None
    """The embedder in use, or None while it is being opened."""
    reranker: str | None
    llm: str | None
    summarizer: str
    toolsets: list[str]
    limits: dict[str, Any]
    features: dict[str, bool]


@command(
    tier=AccessTier.READER,
    toolset="lifecycle",
    help="Tell which models, toolsets and limits serve here",
    read_only=True,
    idempotent=True,
    brief=True,
)
def capabilities(call: Call, _request: NoArguments) -> CapabilitiesAnswer:
    """Return what this endpoint offers now."""
    indexer = call.context.indexer
    chosen, reranker, chat = indexer.chosen, indexer.reranker, indexer.chat().model
    return CapabilitiesAnswer(
        version=__version__,
        embedder=chosen.report() if chosen else None,
        reranker=reranker,
        llm=chat.model_id if chat else None,
        summarizer=SummaryWriter(call).method,
        toolsets=sorted(toolset.value for toolset in call.endpoint.toolsets),
        limits=msgspec.to_builtins(call.settings.global_.limits),
        features={
            "semanticSearch": chosen is not None and chosen.kind is EmbedderKind.ONNX,
            "reranking": reranker is not None,
            "sharedStore": call.shared is not None,
            "archiveExpired": call.settings.global_.retention.archive_expired,
        },
    )
