"""What the benchmark of searches holds ours against; times are not looked at."""

from pathlib import Path

import numpy as np

from tools.bench import FULL
from tools.benchmarks import search_served
from tools.benchmarks.measure import Verdict
from tools.benchmarks.search_corpus import Memories, WordVectors, make_root
from tools.benchmarks.search_cost import Finder


def test_a_text_has_one_vector_whoever_asks_and_whenever() -> None:
    once, again = WordVectors("m", 32), WordVectors("m", 32)
    again.embed(["something else first"])

    assert np.array_equal(once.embed(["zebra harbour"]), again.embed(["zebra harbour"]))
    assert not np.array_equal(once.embed(["zebra harbour"]), once.embed(["harbour zebra"]))


def test_recall_is_measured_against_the_vectors_that_were_indexed(tmp_path: Path) -> None:
    embedder = WordVectors("m", 384)
    make_root(tmp_path, 300, embedder)
    finder = Finder(tmp_path, embedder)
    questions, exact = Memories(7).questions(5, embedder), finder.originals()

    assert np.allclose(exact, finder.vectors(), atol=1e-4)
    assert finder.recall(questions, exact, 0.5) >= 0.99
    assert finder.recall(questions, -exact, 0.5) < 0.5


def test_imports_are_judged_by_cpu_by_the_clock_and_with_the_model(
    tmp_path: Path,
) -> None:
    rows = search_served.import_rows(FULL, tmp_path, imported=40, call=20)

    assert [row.bound for row in rows] == ["≥ 4000 /s", "≥ 4000 /s", "≥ 0.9 ×"]
    assert all(row.verdict in (Verdict.MET, Verdict.BROKEN) for row in rows)
