"""Two processes, one root: the second names the first and stops."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qms.config.root import LOCK_PLACE, claim_root
from qms.disk import root_lock as lock_module
from qms.disk.root_lock import Owner, acquire, is_held, read_owner
from qms.memory.errors import ConflictError
from tests.support.server import ADMIN_KEY, ServerProcess, configured, refused_server
from tests.support.waiting import eventually

CHILD = """
import os, sys
from pathlib import Path
from qms.disk.root_lock import Owner, acquire

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


posix_only = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows does not remove a file that is open"
)


@posix_only
@pytest.mark.fault("F15")
@pytest.mark.parametrize("removed", [".qms/lock", ".qms"])
def test_a_removed_lock_lets_no_second_server_in_and_comes_back(
    tmp_path: Path, removed: str
) -> None:
    root = configured(tmp_path / "root")
    with ServerProcess(root, key=ADMIN_KEY) as first:
        (root / removed).rename(tmp_path / "removed")

        second = refused_server(root)

        assert second.returncode == ConflictError.exit_code, second.stderr
        assert "is in use by" in second.stderr
        assert second.stdout == ""
        assert first.call("projA", "health")["version"]
        eventually(lambda: read_owner(root / LOCK_PLACE) is not None)
        owner = read_owner(root / LOCK_PLACE)
        assert owner is not None
        assert (owner.pid, owner.url) == (first.process.pid, first.url)


@posix_only
@pytest.mark.fault("F15")
def test_a_removed_lock_is_written_anew_with_its_owner(tmp_path: Path) -> None:
    held = claim_root(tmp_path, lambda: datetime.now(UTC), command="qms serve")
    path = tmp_path / LOCK_PLACE
    assert not held.restore()
    path.unlink()
    assert is_held(path, root=tmp_path)

    assert held.restore()

    assert read_owner(path) == held.owner
    assert is_held(path)
    assert not held.restore()
    held.release()
    assert not is_held(path, root=tmp_path)


@posix_only
@pytest.mark.fault("F15")
def test_without_the_lock_of_the_folder_a_removed_file_would_let_the_second_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_module, "_lock_folder", lambda folder: None)
    first = claim_root(tmp_path, lambda: datetime.now(UTC))
    (tmp_path / LOCK_PLACE).unlink()

    claim_root(tmp_path, lambda: datetime.now(UTC)).release()

    first.release()
