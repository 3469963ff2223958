import hashlib
import logging
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

from qms.models.choose import EmbedderKind, EmbedderReport, model_folders, open_embedder
from qms.resources import find_resource
from tests.models.test_model_manifest import edit, flip_a_byte

MODEL = "models/embeddings.onnx"


def test_the_shipped_model_serves_a_root_that_has_none(tmp_path: Path) -> None:
    chosen = open_embedder(MODEL, model_folders(tmp_path), threads=1)

    report = chosen.report()
    assert report.kind is EmbedderKind.ONNX
    assert report.model.startswith("all-MiniLM-L6-v2-w8@")
    assert report.dimension == 384
    assert chosen.reason is None


def test_a_model_in_the_root_comes_before_the_shipped_one(root: Path) -> None:
    edit(root, model="ours")

    chosen = open_embedder(MODEL, model_folders(root), threads=1)

    assert chosen.embedder.model_id.startswith("ours@")


def test_an_absolute_path_is_taken_as_it_is(root: Path, tmp_path: Path) -> None:
    chosen = open_embedder(str(root / MODEL), [tmp_path / "elsewhere"], threads=1)

    assert chosen.kind is EmbedderKind.ONNX


def test_hash_is_a_choice_and_no_fault() -> None:
    chosen = open_embedder("hash", [])

    assert chosen.report() == EmbedderReport(kind=EmbedderKind.HASH, model="hash-v1", dimension=384)
    assert chosen.reason is None


@pytest.mark.attack(72)
@pytest.mark.parametrize("name", ["embeddings.onnx", "tokenizer.json"])
def test_a_tampered_model_is_refused_for_the_hash_embedder_and_said_so(
    root: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    flip_a_byte(root / "models" / name)

    with caplog.at_level(logging.WARNING):
        chosen = open_embedder(MODEL, model_folders(root), threads=1)

    assert chosen.report() == EmbedderReport(
        kind=EmbedderKind.HASH,
        model="hash-v1",
        dimension=384,
        reason=f"{name} does not match its manifest.json",
    )
    assert [record.message for record in caplog.records] == ["embedding model refused"]
    assert chosen.embedder.embed(["still serving"]).shape == (1, 384)


@pytest.mark.attack(72)
def test_the_same_root_untampered_gets_its_model(root: Path) -> None:
    assert open_embedder(MODEL, [root], threads=1).kind is EmbedderKind.ONNX


@pytest.mark.parametrize("model", [MODEL, "", ".", "models", "no/such.onnx", "../x", "\0"])
def test_a_missing_model_leaves_the_hash_embedder_and_a_reason(tmp_path: Path, model: str) -> None:
    chosen = open_embedder(model, [tmp_path])

    assert chosen.kind is EmbedderKind.HASH
    assert chosen.reason
    assert "missing" in chosen.reason


def vouch(root: Path, **changes: object) -> None:
    """Let the manifest name the files as they are now."""
    files = {
        name: {
            "sha256": hashlib.sha256((root / "models" / name).read_bytes()).hexdigest(),
            "bytes": (root / "models" / name).stat().st_size,
        }
        for name in ("embeddings.onnx", "tokenizer.json")
    }
    edit(root, files=files, **changes)


@pytest.mark.parametrize("name", ["embeddings.onnx", "tokenizer.json"])
def test_a_file_that_is_vouched_for_but_no_model_is_refused(root: Path, name: str) -> None:
    (root / "models" / name).write_bytes(b"not a model")
    vouch(root)

    chosen = open_embedder(MODEL, [root], threads=1)

    assert chosen.kind is EmbedderKind.HASH
    assert chosen.reason
    assert chosen.reason.startswith("embeddings.onnx cannot be opened")


def test_a_manifest_with_another_dimension_than_the_model_is_refused(root: Path) -> None:
    vouch(root, dimension=512)

    assert open_embedder(MODEL, [root], threads=1).kind is EmbedderKind.HASH


def test_the_report_is_written_with_the_names_of_health() -> None:
    report = open_embedder("hash", []).report()

    assert msgspec.to_builtins(report) == {"kind": "hash", "model": "hash-v1", "dimension": 384}


def test_the_models_folder_is_found_in_a_wheel_and_in_a_checkout(tmp_path: Path) -> None:
    package = tmp_path / "qms"
    (tmp_path / "models").mkdir()
    assert find_resource("models", package=package) == tmp_path / "models"

    shutil.copytree(tmp_path / "models", package / "_data" / "models")
    assert find_resource("models", package=package) == package / "_data" / "models"


def test_both_embedders_give_float32(tmp_path: Path) -> None:
    for model in ("hash", MODEL):
        embedder = open_embedder(model, model_folders(tmp_path), threads=1).embedder
        assert embedder.embed(["one", "two"]).dtype == np.float32
        assert embedder.embed_query("one").dtype == np.float32
        assert embedder.embed([]).shape == (0, 384)


def test_the_heavy_libraries_wait_until_a_model_is_opened() -> None:
    script = (
        "import sys, qms.models.choose as choose; choose.open_embedder('hash', []);"
        "sys.exit(bool({'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    )

    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
