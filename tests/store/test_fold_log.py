"""The log of folds: a bounded chain of steps from state to state."""

from pathlib import Path

import pytest

from qms.disk.disk import Disk
from qms.store import fold_log
from qms.store.fold_log import FoldLog, Step, mark_of, step_of
from tests.support.boxes import NOW


def step(source: str, target: str, *ids: str) -> Step:
    before: dict[str, bytes | None] = dict.fromkeys(ids, b"line")
    return step_of(before, source=source, target=target, at_utc=NOW)


@pytest.fixture
def log(tmp_path: Path) -> FoldLog:
    return FoldLog(Disk(), tmp_path / "folds.jsonl")


def test_the_steps_to_a_state_are_found_without_those_that_led_nowhere(log: FoldLog) -> None:
    steps = [step("", "a", "x"), step("a", "gone"), step("a", "b", "y"), step("b", "c")]
    assert log.steps_to("a") == []
    log.extend(steps[:2])
    log.extend(steps[2:])

    assert log.steps_to("c") == [steps[0], steps[2], steps[3]]
    assert log.steps_to("gone") == steps[:2]
    assert log.steps_to("unknown") == []


def test_a_step_has_marks_and_no_text(log: FoldLog, tmp_path: Path) -> None:
    log.extend([step_of({"p:a": b"a secret", "p:b": None}, source="", target="s", at_utc=NOW)])

    assert b"secret" not in (tmp_path / "folds.jsonl").read_bytes()
    assert log.steps_to("s")[0].before == {"p:a": mark_of(b"a secret"), "p:b": None}


@pytest.mark.parametrize("harm", ["torn", "flipped", "not UTF-8"])
def test_a_damaged_line_costs_what_is_older_than_it(
    log: FoldLog, tmp_path: Path, harm: str
) -> None:
    path = tmp_path / "folds.jsonl"
    log.extend([step("", "a", "x"), step("a", "b", "y")])
    data = path.read_bytes()
    at = data.rindex(b'"y":"') + 6
    broken = {
        "torn": data[:at],
        "flipped": data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :],
        "not UTF-8": data[:at] + b"\xff" + data[at + 1 :],
    }
    path.write_bytes(broken[harm])
    log.extend([step("b", "c", "z")])

    assert [one.source for one in log.steps_to("c")] == ["b"]
    assert log.steps_to("b") == []
    assert [one.target for one in log.steps_to("a")] == ["a"]


def test_a_full_log_keeps_its_newest_half(tmp_path: Path) -> None:
    log = FoldLog(Disk(), tmp_path / "folds.jsonl", max_bytes=4096)
    for number in range(200):
        log.extend([step(f"s{number}", f"s{number + 1}", f"p:{number}")])
        assert (tmp_path / "folds.jsonl").stat().st_size <= 4096

    steps = log.steps_to("s200")
    assert 5 < len(steps) < 40
    assert [one.target for one in steps] == [f"s{200 - n}" for n in reversed(range(len(steps)))]


def test_a_step_of_too_many_entries_is_partial_and_fits(log: FoldLog, tmp_path: Path) -> None:
    many = [f"project:01JCZ9Y3N5V6W7X8Y9Z0A1B2{number:06}" for number in range(fold_log.MAX_MARKS)]
    log.extend([step("", "a", *many)])
    assert not log.steps_to("a")[0].is_partial
    log.extend([step("a", "b", *many, "p:one")])

    assert [one.is_partial for one in log.steps_to("b")][-1]
    assert len(log.steps_to("b")[-1].before) == fold_log.MAX_MARKS
    assert (tmp_path / "folds.jsonl").stat().st_size < fold_log.MAX_BYTES


def test_an_entry_is_taken_out_of_every_step(log: FoldLog, tmp_path: Path) -> None:
    log.drop("p:a")
    assert not log.exists()
    log.extend([step("", "s", "p:a", "p:b"), step("s", "t", "p:a")])
    with (tmp_path / "folds.jsonl").open("ab") as file:
        file.write(b'"p:a" in a torn li')
    log.drop("p:a")

    assert b"p:a" not in (tmp_path / "folds.jsonl").read_bytes()
    assert [list(one.before) for one in log.steps_to("t")] == [["p:b"], []]


def test_an_entry_that_a_fold_completed_is_taken_out_of_it(log: FoldLog, tmp_path: Path) -> None:
    before: dict[str, bytes | None] = {"p:a": None, "p:b": None}
    ids = list(before)
    log.extend([step_of(before, source="", target="s", at_utc=NOW, completed=ids)])

    log.drop("p:a")

    assert b"p:a" not in (tmp_path / "folds.jsonl").read_bytes()
    assert log.steps_to("s")[0].completed == ("p:b",)
