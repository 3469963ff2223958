"""The benchmark runs, and a broken bound ends it with 1; times are not looked at."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qms.features.documents.parsers.pdf import read_pdf
from qms.features.documents.pieces import ReadLimits
from qms.memory.limits import DEFAULT_LIMITS
from tools.bench import FULL, main
from tools.benchmarks import documents as documents_bench
from tools.benchmarks import hostile, served, store_served
from tools.benchmarks.corpus import documents, lines
from tools.benchmarks.measure import Bound, Row, Verdict, table

TINY = ("store", "--quick", "--sizes", "20,40", "--rounds", "1")
GENEROUS = (
    "--bound=group-gain=0",
    "--bound=writes-per-sync=0",
    "--bound=upsert-growth=1e9",
    "--bound=similar-ratio=1e9",
    "--bound=checks-ratio=1e9",
    "--bound=load-ratio=1e9",
    "--bound=memory=1e9",
)


def run(tmp_path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*TINY, "--folder", str(tmp_path), *arguments])


def test_the_quick_form_prints_a_row_for_every_figure_and_size(tmp_path: Path) -> None:
    subjects = ("--only=group", "--only=upsert", "--only=checks", "--only=loading")

    result = run(tmp_path, *GENEROUS, *subjects, "--markdown")

    assert result.exit_code == 0, result.output
    assert result.stdout.count("| 64 writers, each write | ") == 2
    assert result.stdout.count("| one upsert, folds apart | ") == 2
    assert result.stdout.count("| and for contradictions as well | ") == 2
    assert result.stdout.count("| load 20 stores | ") == 2
    assert "0 broken" in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_broken_bound_ends_with_1(tmp_path: Path) -> None:
    result = run(tmp_path, *GENEROUS, "--only=group", "--bound=writes-per-sync=1e9")

    assert result.exit_code == 1
    assert "2 broken" in result.stdout


def test_an_unknown_bound_is_refused(tmp_path: Path) -> None:
    result = run(tmp_path, "--bound=speed=1")

    assert result.exit_code == 2
    assert "group-gain" in result.stderr


def test_what_cannot_be_measured_is_no_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "MODULE", "no_such_server")

    rows = store_served.served_rows(FULL, tmp_path, 10, edits=True)

    assert {row.verdict for row in rows} == {Verdict.MISSING}
    assert {row.figure for row in rows} == {"not measured: no server"}


@pytest.mark.parametrize(
    ("bound", "value", "verdict"),
    [
        (Bound("≤", 3), 3.0, Verdict.MET),
        (Bound("≤", 3), 3.1, Verdict.BROKEN),
        (Bound("≥", 8), 8.0, Verdict.MET),
        (Bound("≥", 8), 7.9, Verdict.BROKEN),
    ],
)
def test_a_bound_judges_from_its_own_side(bound: Bound, value: float, verdict: Verdict) -> None:
    assert bound.judge(value) is verdict


def test_generated_entries_are_the_same_for_the_same_seed_and_about_700_bytes() -> None:
    once, again = lines("default", 200), lines("default", 200)

    assert once == again
    assert 600 < sum(map(len, once)) / len(once) < 800
    assert len({document["id"] for document in documents("default", 200)}) == 200


def test_both_forms_of_the_table_hold_the_same_cells() -> None:
    rows = [Row(subject="load", entries=1000, figure="2 ×", bound="≤ 3 ×", verdict=Verdict.MET)]

    assert "| load | 1,000 |  |  | 2 × | ≤ 3 × | met |" in table(rows, markdown=True)
    assert " ".join(table(rows, markdown=False).split("\n")[1].split()) == (
        "load 1,000 2 × ≤ 3 × met"
    )


def test_mining_prints_speed_and_memory_of_both_exports(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["mining", "--megabytes", "1", "--folder", str(tmp_path)])

    assert result.stdout.count("framed and decoded") == 2
    assert result.stdout.count("RAM above idle") == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_peers_are_measured_in_one_table() -> None:
    only = ("--only", "ours over stdio")

    result = CliRunner().invoke(main, ["peers", "--entries", "100", *only])

    assert result.exit_code == 0, result.output
    assert "| found in 10: three words of the text, in any order | 100% |" in result.stdout
    assert "| 120 of 120 |" in result.stdout


def test_hostile_inputs_are_as_large_as_those_that_froze_the_server() -> None:
    known = hostile.attacks()

    assert len({one.name for one in known}) == len(known) == 11
    assert all(60_000 < len(one.body) < DEFAULT_LIMITS.import_bytes for one in known)


@pytest.mark.long
def test_health_and_searches_are_measured_beside_hostile_inputs() -> None:
    tiny = ("hostile", "--sizes", "20", "--calls", "5", "--only", "100,000 ids", "--markdown")

    result = CliRunner().invoke(main, [*tiny, "--bound", "hostile-wait=1e9"])

    assert result.exit_code == 0, result.output
    assert result.stdout.count("| 100,000 ids: ") == 2


def test_backups_are_measured_in_process() -> None:
    generous = ("--bound=backup-ratio=1e9", "--bound=differential-ratio=1e9")
    tiny = ("backup", "--sizes", "50", "--rounds", "1", "--unserved", "--markdown")

    result = CliRunner().invoke(main, [*tiny, *generous])

    assert result.exit_code == 0, result.output
    assert result.stdout.count("| 50 |") == 3


def test_documents_are_measured_beside_the_raw_library_and_a_folder_is_synced_twice() -> None:
    tiny = ["documents", "--pages", "2", "--files", "3", "--rounds", "1", "--markdown"]

    result = CliRunner().invoke(main, tiny)

    assert "| PDF, two columns: text and layout | 2 | " in result.stdout
    assert "| RAM of the worker at its peak | 2 | " in result.stdout
    assert "| and again without a change | 3 | " in result.stdout


def test_a_made_pdf_has_the_text_that_the_raw_library_finds() -> None:
    made = documents_bench.make_pdf(2, columns=2)

    assert documents_bench.raw_text(made) > 1000
    assert len(read_pdf(made, ReadLimits()).pieces) > 10
