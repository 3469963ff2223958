"""A real onnxruntime session over a model that the test makes."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from qms.models.cross_encoder import (
    BATCH_PAIRS,
    MOST_SECONDS,
    PAIR_TOKENS,
    CrossEncoder,
    open_reranker,
)
from qms.models.onnx_files import open_session, open_tokenizer
from tests.support.reranker_files import write_reranker

TEXTS = ["the walrus leaves", "walrus lighthouse ferry", "nothing of it"]


@pytest.mark.parametrize(("columns", "factor"), [(1, 1.0), (2, 2.0)])
def test_the_model_reads_query_and_text_together(
    tmp_path: Path, columns: int, factor: float
) -> None:
    write_reranker(tmp_path / "models", columns=columns)

    chosen = open_reranker("models/reranker.onnx", [tmp_path])

    assert chosen.reason is None
    assert chosen.reranker is not None
    scores = chosen.reranker.score("walrus ferry", TEXTS)
    assert (scores / factor).tolist() == [0.5, 1.5, -0.5]
    assert chosen.reranker.model_id == "reranker.onnx"


def test_a_pair_scores_the_same_alone_and_in_a_batch(tmp_path: Path) -> None:
    encoder = opened(tmp_path)

    together = encoder.score("walrus ferry", TEXTS * 5)

    assert np.array_equal(together, [encoder.score("walrus ferry", [t])[0] for t in TEXTS * 5])


def test_long_texts_and_queries_are_cut_to_what_the_model_reads(tmp_path: Path) -> None:
    encoder = opened(tmp_path)
    beyond = "x " * PAIR_TOKENS * 20

    assert encoder.score("walrus", [f"walrus {beyond}"]).tolist() == [0.5]
    assert encoder.score("walrus", [f"{beyond} walrus"]).tolist() == [-0.5]
    assert encoder.score(f"walrus {beyond}", ["walrus", "\ud800 [SEP]"]).tolist() == [0.5, -0.5]


def test_no_pair_is_begun_after_its_time(tmp_path: Path) -> None:
    times: Iterator[float] = iter([0.0, 0.1, MOST_SECONDS + 1])
    path = write_reranker(tmp_path)
    session, tokenizer = open_session(path), open_tokenizer(path.with_suffix(".tokenizer.json"))
    encoder = CrossEncoder(session, tokenizer, model_id="m", monotonic=lambda: next(times))

    scores = encoder.score("walrus", ["walrus"] * (BATCH_PAIRS + 2))

    assert scores[:BATCH_PAIRS].tolist() == [0.5] * BATCH_PAIRS
    assert np.isnan(scores[BATCH_PAIRS:]).all()


def test_no_model_is_no_problem() -> None:
    assert open_reranker("", []).reason is None


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    chosen = open_reranker("models/reranker.onnx", [tmp_path])

    assert (chosen.reranker, chosen.reason) == (None, "reranker.onnx is missing")


def test_a_model_without_its_tokenizer_is_said(tmp_path: Path) -> None:
    write_reranker(tmp_path).with_suffix(".tokenizer.json").unlink()

    assert open_reranker("reranker.onnx", [tmp_path]).reason == (
        "reranker.onnx has no tokenizer in its folder"
    )


def test_broken_bytes_are_said(tmp_path: Path) -> None:
    path = write_reranker(tmp_path)
    path.write_bytes(path.read_bytes()[:100])

    chosen = open_reranker("reranker.onnx", [tmp_path])

    assert chosen.reranker is None
    assert str(chosen.reason).startswith("reranker.onnx cannot be used: ")


def test_a_model_of_another_shape_is_said(tmp_path: Path, shipped: Path) -> None:
    chosen = open_reranker("embeddings.onnx", [shipped])

    assert chosen.reranker is None
    assert "logit" in str(chosen.reason)


def opened(folder: Path) -> CrossEncoder:
    write_reranker(folder)
    chosen = open_reranker("reranker.onnx", [folder])
    assert isinstance(chosen.reranker, CrossEncoder)
    return chosen.reranker
