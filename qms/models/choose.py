"""Chooses the embedder, and reports which one is in use and why."""

import logging
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

# Imported here, before threads start: it changes the environment, which C libraries read without a
# lock.
import qms.models.onnx_files  # noqa: F401
from qms.memory.ports import ChatModel, Embedder, Reranker
from qms.models.model_manifest import Refused, verify_model
from qms.resources import find_resource

if TYPE_CHECKING:
    from qms.models.onnx_embedder import OnnxEmbedder

log = logging.getLogger(__name__)

HASH_SETTING = "hash"
"""The value of `global.embedding.model` for no model."""


class EmbedderKind(StrEnum):
    """How vectors are made."""

    ONNX = "onnx"
    HASH = "hash"


class EmbedderReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The embedder in use, as health reports it."""

    kind: EmbedderKind
    model: str
    dimension: int
    reason: str | None = None


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The embedder in use, and the reason when it is not the configured one."""

    embedder: Embedder
    kind: EmbedderKind
    reason: str | None = None

    def report(self) -> EmbedderReport:
        """Return the report for health."""
        return EmbedderReport(
            kind=self.kind,
            model=self.embedder.model_id,
            dimension=self.embedder.dimension,
            reason=self.reason,
        )


class ChosenReranker(msgspec.Struct, frozen=True, kw_only=True):
    """The reranker in use, or the reason why the configured one is not."""

    reranker: Reranker | None = None
    reason: str | None = None


class ChosenChat(msgspec.Struct, frozen=True, kw_only=True):
    """The language model in use, or the reason why the configured one is not."""

    model: ChatModel | None = None
    reason: str | None = None


def model_folders(root: Path) -> list[Path]:
    """Return the folders to search for a relative model path: the root, then the installation."""
    try:
        return [root, find_resource("models").parent]
    except FileNotFoundError:
        return [root]


def open_embedder(model: str, folders: Sequence[Path], *, threads: int = 0) -> Chosen:
    """Open the configured model, or the hash embedder with the reason."""
    from qms.models.hash_embedder import HashEmbedder  # numpy: after the port answers

    if model == HASH_SETTING:
        return Chosen(embedder=HashEmbedder(), kind=EmbedderKind.HASH)
    opened = _open_model(model, folders, threads)
    if isinstance(opened, Refused):
        log.warning("embedding model refused", extra={"reason": opened.reason})
        return Chosen(embedder=HashEmbedder(), kind=EmbedderKind.HASH, reason=opened.reason)
    log.info("embedding model opened", extra={"model": opened.model_id})
    return Chosen(embedder=opened, kind=EmbedderKind.ONNX)


def _open_model(model: str, folders: Sequence[Path], threads: int) -> "OnnxEmbedder | Refused":
    from qms.models.onnx_embedder import open_onnx_embedder  # numpy: after the port answers

    path = next((folder / model for folder in folders if (folder / model).is_file()), None)
    if path is None:
        return Refused(f"{Path(model).name or 'the model'} is missing")
    verified = verify_model(path)
    if isinstance(verified, Refused):
        return verified
    try:
        return open_onnx_embedder(verified, threads=threads)
    except Exception as error:  # tokenizers raises Exception itself; none may stop the server
        log.warning("embedding model failed to open", exc_info=True)
        return Refused(f"{path.name} cannot be opened: {type(error).__name__}")
