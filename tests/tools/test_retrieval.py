"""The retrieval harness counts as the published measures do."""

import gzip
from pathlib import Path

import msgspec
import pytest

from tools.benchmarks.retrieval import measure
from tools.benchmarks.retrieval_scores import Row, score, table
from tools.benchmarks.retrieval_sets import read_sets, set_files

STORE = {
    "set": "toy",
    "store": "one",
    "docs": [
        {"id": "a", "title": "", "text": "Tim: roses", "conversationId": "c", "role": "Tim"},
        {"id": "b", "title": "8 May", "text": "cars"},
    ],
    "questions": [
        {"text": "Who has roses?", "gold": {"a": 1}, "type": "x"},
        {"text": "What about cars and trains?", "gold": {"b": 1, "z": 1}, "type": "y"},
    ],
}


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    path = tmp_path / "toy.jsonl.gz"
    path.write_bytes(gzip.compress(msgspec.json.encode(STORE) + b"\n"))
    return path


def test_the_measures_of_one_answer() -> None:
    ranked = [*"uvwxy", "a", "b"]
    found = score(ranked, {"a": 1, "q": 1})
    assert found[:3] == (0.0, 1.0, 0.5)
    assert found[3] == pytest.approx((1 / 2.807354922) / (1 + 1 / 1.584962501))
    assert score(["a"], {"a": 1}) == (1.0, 1.0, 1.0, 1.0)
    assert score([], {"a": 1}) == (0.0, 0.0, 0.0, 0.0)


def test_a_set_is_imported_asked_and_scored(toy: Path) -> None:
    (row,) = measure(set_files(toy.parent), None)
    assert row.name == "toy"
    assert row.questions == 2
    assert row.scores[:3] == (100.0, 100.0, 75.0)


def test_sets_are_read_packed_or_plain(toy: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.jsonl"
    plain.write_bytes(gzip.decompress(toy.read_bytes()))
    assert list(read_sets(plain)) == list(read_sets(toy))


def test_a_row_is_reached_at_the_goal_and_above_the_keyword_engine() -> None:
    scores = (50.0, 50.0, 50.0, 50.0)
    assert Row(name="r", questions=1, scores=scores, goal=scores).is_reached
    assert not Row(name="r", questions=1, scores=scores, keyword=scores).is_reached
    missed = Row(name="r", questions=1, scores=scores, keyword=scores, goal=scores)
    assert "missed" in table([missed])
