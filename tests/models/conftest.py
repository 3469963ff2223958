"""The shipped model, opened once for all tests of a worker."""

import shutil
from pathlib import Path

import pytest

from qms.models.model_manifest import Verified, verify_model
from qms.models.onnx_embedder import OnnxEmbedder, open_onnx_embedder
from qms.resources import find_resource


@pytest.fixture(scope="session")
def shipped() -> Path:
    return find_resource("models")


@pytest.fixture(scope="session")
def embedder(shipped: Path) -> OnnxEmbedder:
    verified = verify_model(shipped / "embeddings.onnx")
    assert isinstance(verified, Verified)
    return open_onnx_embedder(verified, threads=1)


@pytest.fixture
def root(tmp_path: Path, shipped: Path) -> Path:
    """Return an installation root with its own copy of the model."""
    shutil.copytree(shipped, tmp_path / "models")
    return tmp_path
