"""kill -9 before every write, sync and rename of commands that change several entries or stores."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.lifecycle_kills import STORIES, prepare, state_of


def outcomes(folder: Path, *options: str, module: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", f"tests.support.{module}", str(folder), *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=300, check=True)
    return [msgspec.json.decode(line) for line in done.stdout.splitlines()]


def untouched(folder: Path) -> Any:
    prepare(folder)
    return msgspec.json.decode(msgspec.json.encode(state_of(folder)))


def half_states(folder: Path, story: str, *options: str) -> list[Any]:
    """Return what was found that is neither before nor after, or before though answered."""
    before = untouched(folder / "untouched")
    found = outcomes(folder / "killed", story, *options, module="lifecycle_kills")
    after = found[-1]["state"]
    assert not found[-1]["killed"]
    assert found[-1]["answered"]
    assert after != before
    assert sum(one["killed"] for one in found) >= 2
    return [
        one
        for one in found
        if one["state"] != after and (one["answered"] or one["state"] != before)
    ]


@pytest.mark.fault("F22")
@pytest.mark.parametrize("story", sorted(STORIES))
def test_a_kill_at_any_moment_leaves_all_of_it_or_nothing(tmp_path: Path, story: str) -> None:
    assert half_states(tmp_path, story) == []


@pytest.mark.fault("F22")
@pytest.mark.parametrize("story", sorted(STORIES))
def test_without_the_guard_a_kill_leaves_half_of_it(tmp_path: Path, story: str) -> None:
    assert half_states(tmp_path, story, "careless") != []


def unfinished_syncs(folder: Path, *options: str) -> list[Any]:
    """Return what a second sync made worse than the one that nothing killed."""
    *killed, whole = outcomes(folder, *options, module="sync_kills")
    assert whole["inStep"]
    assert not whole["killed"]
    assert {one["inStep"] for one in killed} == {True, False}
    return [
        one
        for one in killed
        if one["after"] != whole["after"] or not set(whole["known"]) <= set(one["known"])
    ]


@pytest.mark.fault("F22")
def test_a_sync_that_is_killed_at_any_moment_is_finished_by_the_next(tmp_path: Path) -> None:
    assert unfinished_syncs(tmp_path) == []


@pytest.mark.fault("F22")
def test_a_sync_that_notes_what_is_common_too_early_loses_a_change(tmp_path: Path) -> None:
    assert unfinished_syncs(tmp_path, "careless") != []
