"""No more files can be opened."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.stores import assert_files_whole, assert_state

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")


def run_out_of_files(folder: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.support.few_files", str(folder), *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=60, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def check_recovery(told: dict[str, Any]) -> None:
    assert told["folds"] == ["folded"], "the store did not recover"
    assert told["problemsAfter"] == 0


@pytest.mark.fault("F23")
def test_too_many_open_files_are_reported_and_recovered_from(tmp_path: Path) -> None:
    folder = tmp_path / "p"

    told = run_out_of_files(folder)

    assert told["fold"] == "postponed"
    assert [reason for reason in told["problems"] if "Too many open files" in reason]
    assert "Too many open files" in told["other"]
    assert told["state"] == {"a": "a1", "b": "b1"}
    check_recovery(told)
    assert_state(folder, {"a": "a1", "b": "b1", "c": "c29"})
    assert_files_whole(folder)


@pytest.mark.fault("F23")
def test_without_giving_files_back_the_check_fails(tmp_path: Path) -> None:
    told = run_out_of_files(tmp_path / "p", "leaky")

    with pytest.raises(AssertionError, match="did not recover"):
        check_recovery(told)
