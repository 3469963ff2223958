"""capabilities: what this installation can do here, as it is and not as it was asked for."""

from typing import Any

import msgspec

from qms.inference.choose import EmbedderKind, EmbedderReport
from qms.service.calls import Call
from qms.service.requests import NoArguments, Response
from qms.service.summaries import SummaryWriter
from qms.version import __version__


class CapabilitiesAnswer(Response, frozen=True):
    """What serves: models that are in use, toolsets that the project allows, limits."""

    version: str
    embedder: EmbedderReport | None
    """The embedder really in use, or None while it is being opened."""
    reranker: str | None
    llm: str | None
    summarizer: str
    toolsets: list[str]
    limits: dict[str, Any]
    features: dict[str, bool]


def capabilities(call: Call, _request: NoArguments) -> CapabilitiesAnswer:
    """Return what can be used through this endpoint now."""
    library = call.house.library
    chosen, reranker, chat = library.chosen, library.reranker, library.chat().model
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
