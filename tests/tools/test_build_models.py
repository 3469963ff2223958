import subprocess
import sys

import numpy as np
import pytest

from tests.house.pages import ROOT
from tools.build_models import WIDTH, quantise


@pytest.mark.long
def test_the_shipped_files_are_rebuilt_bit_for_bit_from_the_published_weights() -> None:
    command = [sys.executable, "tools/build_models.py", "--check"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)

    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert [line.split()[::2] for line in answer.stdout.splitlines()] == [
        ["same", "models/embeddings.onnx"],
        ["same", "models/tokenizer.json"],
        ["same", "models/manifest.json"],
    ]


def test_rounded_weights_come_back_within_half_a_step() -> None:
    rows = np.random.default_rng(7).normal(size=(5, WIDTH)).astype(np.float32)
    rows[2] = 0

    rounded, scales = quantise(rows)

    assert rounded.dtype == np.int8
    restored = (rounded * scales).reshape(rows.shape)
    assert np.all(np.abs(restored - rows) <= scales.repeat(64, axis=2).reshape(rows.shape) * 0.501)
