"""The process is killed at exactly the n-th sync or rename, for every n."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.script import CHANGES, STATES, allowed_states, assert_story_whole
from tests.support.stores import (
    UnsyncedDisk,
    assert_files_whole,
    assert_state,
    open_store,
)

SYSCALLS = ("fsync", "fdatasync", "rename", "renameat", "renameat2")
ENVIRONMENT = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}


def tell_under_strace(folder: Path, *options: str, mode: str = "") -> tuple[int, list[str], str]:
    """Tell the story under strace; return the exit status, the report and the trace."""
    trace = folder.with_suffix(".trace")
    command = ["strace", "-f", "--seccomp-bpf", "-o", str(trace), *options]
    command += [sys.executable, "-m", "tests.support.script", str(folder), *mode.split()]
    done = subprocess.run(command, stdout=subprocess.PIPE, env=ENVIRONMENT, timeout=60, check=False)
    report = done.stdout.decode("ascii").splitlines()
    return done.returncode, report, trace.read_text(encoding="utf-8", errors="replace")


def count_calls(folder: Path, mode: str = "") -> dict[str, int]:
    """Return how often an undisturbed story makes each call."""
    status, report, trace = tell_under_strace(
        folder, "-e", f"trace={','.join(SYSCALLS)}", mode=mode
    )
    assert status == 0
    assert len(report) == 2 * len(CHANGES)
    calls = re.findall(r"^\d+ +(\w+)\(", trace, re.MULTILINE)
    return {name: calls.count(name) for name in SYSCALLS if name in calls}


def kill_at(folder: Path, syscall: str, number: int, mode: str = "") -> None:
    """Kill the story at one call and check what is left."""
    folder.mkdir()
    inject = f"inject={syscall}:signal=SIGKILL:when={number}"
    status, report, _ = tell_under_strace(folder, "-e", inject, mode=mode)
    assert status == -signal.SIGKILL, f"{syscall} {number} was not met"
    assert_files_whole(folder)
    found = assert_state(folder, *allowed_states(report))
    if found == STATES[-1]:
        assert_story_whole(folder)
    else:
        open_store(folder, disk=UnsyncedDisk()).close()
        assert_state(folder, found)
        assert_files_whole(folder)


@pytest.mark.needs("strace")
@pytest.mark.fault("F02")
@pytest.mark.parametrize("part", range(4))
def test_a_kill_at_any_sync_or_rename_loses_nothing(tmp_path: Path, part: int) -> None:
    calls = count_calls(tmp_path / "whole")
    points = [(name, n) for name, count in calls.items() for n in range(1, count + 1)]

    assert sum(name != "fsync" for name, _ in points) > 20
    for name, number in points[part::4]:
        kill_at(tmp_path / f"{name}-{number}", name, number)


@pytest.mark.needs("strace")
@pytest.mark.fault("F02")
def test_without_replacing_in_one_step_the_check_fails(tmp_path: Path) -> None:
    renames = count_calls(tmp_path / "whole", mode="careless")["rename"]

    def kill_at_renames() -> None:
        for number in range(renames, 0, -1):
            kill_at(tmp_path / f"rename-{number}", "rename", number, mode="careless")

    with pytest.raises(AssertionError, match="not one of"):
        kill_at_renames()
