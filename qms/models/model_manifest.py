"""Reads the manifest of a model, and verifies the hashes of its files.

A file that is missing or was changed is a result, not an error: the server runs without the model.
"""

import hashlib
from pathlib import Path
from typing import Annotated

import msgspec

from qms.disk.regular_files import regular_reader
from qms.memory.errors import UNDECODABLE

MANIFEST_NAME = "manifest.json"
TOKENIZER_NAME = "tokenizer.json"
FORMAT = 1
MANIFEST_MAX_BYTES = 64 * 1024

_Sha256 = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]


class ModelFile(msgspec.Struct, frozen=True):
    """The expected size and hash of a file of the model."""

    sha256: _Sha256
    bytes: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The content of `manifest.json` in the folder of a model."""

    format: int
    model: Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
    dimension: Annotated[int, msgspec.Meta(ge=1, le=4096)]
    max_tokens: Annotated[int, msgspec.Meta(ge=32, le=8192)]
    license: str
    source: str
    files: dict[str, ModelFile]


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """A model whose files match its manifest."""

    manifest: Manifest
    model_path: Path
    tokenizer_path: Path

    @property
    def model_id(self) -> str:
        """Return the model's name with a hash of its files: other bytes give other vectors."""
        names = (self.model_path.name, self.tokenizer_path.name)
        content = "".join(self.manifest.files[name].sha256 for name in names)
        return f"{self.manifest.model}@{hashlib.sha256(content.encode()).hexdigest()[:12]}"


class Refused(msgspec.Struct, frozen=True):
    """Why a model is not used."""

    reason: str


def verify_model(model_path: Path) -> Verified | Refused:
    """Read the manifest of the model and compare both files with it."""
    manifest = _read_manifest(model_path.parent / MANIFEST_NAME)
    if isinstance(manifest, Refused):
        return manifest
    tokenizer_path = model_path.parent / TOKENIZER_NAME
    for path in (model_path, tokenizer_path):
        reason = _flaw(path, manifest.files.get(path.name))
        if reason:
            return Refused(reason)
    return Verified(manifest=manifest, model_path=model_path, tokenizer_path=tokenizer_path)


def _read_manifest(path: Path) -> Manifest | Refused:
    try:
        with regular_reader(path) as file:
            content = file.read(MANIFEST_MAX_BYTES + 1)
    except FileNotFoundError:
        return Refused(f"{path.name} of the model is missing")
    except OSError as error:
        return Refused(f"{path.name} of the model cannot be read: {error.strerror}")
    if len(content) > MANIFEST_MAX_BYTES:
        return Refused(f"{path.name} of the model is larger than {MANIFEST_MAX_BYTES} bytes")
    try:
        manifest = msgspec.json.decode(content, type=Manifest)
    except UNDECODABLE as error:
        return Refused(f"{path.name} of the model is not a manifest: {error}")
    if manifest.format != FORMAT:
        return Refused(f"{path.name} of the model has format {manifest.format}, not {FORMAT}")
    return manifest


def _flaw(path: Path, expected: ModelFile | None) -> str | None:
    if expected is None:
        return f"{path.name} is not in the model's {MANIFEST_NAME}"
    try:
        # The size first: a file of another size need not be read.
        same = path.stat().st_size == expected.bytes and _sha256(path) == expected.sha256
    except FileNotFoundError:
        return f"{path.name} of the model is missing"
    except OSError as error:
        return f"{path.name} of the model cannot be read: {error.strerror}"
    return None if same else f"{path.name} does not match its {MANIFEST_NAME}"


def _sha256(path: Path) -> str:
    with regular_reader(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
