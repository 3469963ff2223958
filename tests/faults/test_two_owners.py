"""Two processes, one root: the second names the first and stops."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from qms.domain.errors import ConflictError
from qms.fsio import lock as lock_module
from qms.fsio.lock import Owner, acquire, is_held, read_owner

CHILD = """
import os, sys
from pathlib import Path
from qms.fsio.lock import Owner, acquire

lock = acquire(Path(sys.argv[1]), Owner(pid=os.getpid(), command="qms serve", started_utc="x"))
print("held", flush=True)
sys.stdin.read()
"""
ME = Owner(pid=os.getpid(), command="pytest", started_utc="y")


def start(path: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def end(child: subprocess.Popen[str]) -> None:
    child.communicate(timeout=60)


def refused(path: Path) -> ConflictError | None:
    try:
        acquire(path, ME).release()
    except ConflictError as error:
        return error
    return None


@pytest.mark.fault("F15")
def test_the_second_process_names_the_first_and_stops(tmp_path: Path) -> None:
    path = tmp_path / "root" / ".qms" / "lock"
    child = start(path)
    try:
        error = refused(path)
        assert error is not None
        assert error.details["pid"] == child.pid
        assert f"process {child.pid}" in error.message
        assert str(tmp_path / "root") in error.message
        assert is_held(path)
        second = subprocess.run(
            [sys.executable, "-c", CHILD, str(path)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert second.returncode != 0
        assert f"process {child.pid}" in second.stderr
    finally:
        end(child)
    assert refused(path) is None


@pytest.mark.fault("F15")
def test_a_killed_owner_leaves_the_root_free(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    child = start(path)
    child.kill()
    end(child)

    assert read_owner(path) is not None
    assert not is_held(path)
    assert refused(path) is None


@pytest.mark.fault("F15")
def test_without_the_lock_the_second_would_get_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = start(tmp_path / "lock")
    try:
        monkeypatch.setattr(lock_module, "_try_lock", lambda descriptor: True)
        assert refused(tmp_path / "lock") is None
    finally:
        end(child)
