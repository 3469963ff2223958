"""A root on a drive and on a share, and who owns it.

Run by the Windows Python under wine (`tests/wine/test_inside.py`), which is told of a share.
"""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qms.app.build import open_root
from qms.config.paths import path_flaw, resolve_inside, resolved
from qms.config.root import LOCK_PLACE, claim_root
from qms.disk.disk import Disk
from qms.disk.root_lock import is_held, read_owner
from qms.memory.errors import ConflictError

SHARE = os.environ.get("QMS_TEST_SHARE", "")


def now() -> datetime:
    return datetime.now(UTC)


def places(tmp_path: Path) -> dict[str, Path]:
    return {"drive": tmp_path / "root", "share": Path(SHARE, tmp_path.name, "root")}


@pytest.mark.parametrize("kind", ["drive", "share"])
def test_a_root_is_served_from_a_drive_and_from_a_share(tmp_path: Path, kind: str) -> None:
    root = places(tmp_path)[kind]
    assert root.drive.startswith("\\\\" if kind == "share" else "C:")

    opened = open_root(root, disk=Disk(), clock=now)
    try:
        assert opened.runtime.catalog.get("default").status().entries == 0
    finally:
        opened.close()

    assert (root / "MemoryStores" / "default" / ".qms").is_dir()


@pytest.mark.parametrize("kind", ["drive", "share"])
def test_a_relative_folder_stays_inside(tmp_path: Path, kind: str) -> None:
    base = places(tmp_path)[kind]
    base.mkdir(parents=True)

    assert resolve_inside(base, "a/b") == resolved(base) / "a" / "b"
    assert resolve_inside(base, "../b") is None


@pytest.mark.parametrize("text", [r"C:\data", "D:/data", r"\\host\share\data", r"\\?\C:\data"])
def test_an_absolute_path_may_be_written_by_hand_and_never_sent(text: str) -> None:
    assert path_flaw(text, confined=False) is None
    assert path_flaw(text, confined=True) is not None


@pytest.mark.parametrize("text", ["C:data", r"\data", r"a\..\b", "con", "nul.txt", "a."])
def test_what_is_neither_relative_nor_absolute_is_refused(text: str) -> None:
    assert path_flaw(text, confined=False) is not None


def test_a_second_process_is_told_who_owns_the_root(tmp_path: Path) -> None:
    held = claim_root(tmp_path, now, command="qms serve")
    owner = read_owner(tmp_path / LOCK_PLACE)
    assert owner is not None
    assert (owner.pid, owner.command) == (os.getpid(), "qms serve")
    second = [sys.executable, "-B", "-m", "qms.cli.server", "serve", "--root", str(tmp_path)]

    ended = subprocess.run(
        second, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60
    )

    assert ended.returncode == ConflictError.exit_code, ended.stderr
    assert f"process {os.getpid()} (qms serve".encode() in ended.stderr
    held.release()
    assert not is_held(tmp_path / LOCK_PLACE)
