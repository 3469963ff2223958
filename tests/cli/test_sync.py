"""`memoryctl sync` between roots and servers, and under kill -9."""

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qms.config.configuration import Configuration
from qms.disk.disk import Disk
from tests.cli.conftest import Terminal
from tests.support.environment import Environment
from tests.support.running import RunningServer

LIMIT_S = 120


@pytest.fixture
def other(tmp_path: Path) -> tuple[Path, str]:
    """A second root, and its admin's key."""
    root = tmp_path / "other"
    key = Configuration(root / "QuickMemoryServer.toml", Disk(), lambda: datetime.now(UTC)).load()
    assert key is not None
    return root, key


def titles(terminal: Terminal, root: Path) -> set[str]:
    listed = terminal.ok("list", "--root", str(root), "--json").json["items"]
    return {one["title"] for one in listed}


def test_two_roots_come_into_step(files: Terminal, other: tuple[Path, str]) -> None:
    root, _ = other
    files.remember("only here")
    files.remember("only there", "--root", str(root))

    tried = files.ok("sync", str(root), "--dry-run")
    done = files.ok("sync", str(root))

    assert tried.out == "here: would be 1 created\nthere: would be 1 created\n"
    assert done.out == "here: were 1 created\nthere: were 1 created\n"
    assert titles(files, files.root) == titles(files, root) == {"only here", "only there"}
    again = files.ok("sync", str(root), "--json").json
    assert (again["ours"], again["theirs"], again["faults"]) == ({}, {}, [])


def test_a_root_and_a_server_come_into_step(files: Terminal, other: tuple[Path, str]) -> None:
    root, key = other
    files.remember("only here")
    server = RunningServer(root, key)
    try:
        server.call("default", "upsertEntry", entry={"kind": "note", "body": "only there"})
        files.ok("sync", server.url, "--peer-key", key, "--direction", "pull")
        assert titles(files, files.root) == {"only here", "only there"}
        files.ok("sync", server.url, "--peer-key", key, "--direction", "push")
    finally:
        server.stop()

    assert titles(files, root) == {"only here", "only there"}


def test_the_key_of_this_side_is_not_sent_to_another_server(
    server: Terminal, environment: Environment
) -> None:
    environment["QMS_KEY"] = "qms_" + "k" * 43

    refused = server("sync", "http://127.0.0.1:9")

    assert refused.code == 3
    assert "set QMS_PEER_KEY, or pass --peer-key" in refused.err


def test_the_loser_of_a_conflict_is_named(files: Terminal, other: tuple[Path, str]) -> None:
    root, _ = other
    files.remember("one", "--id", "x")
    files.remember("two", "--id", "x", "--root", str(root))

    done = files.ok("sync", str(root))

    assert "default:x was changed on both sides" in done.err


def test_a_root_is_not_synced_with_itself(files: Terminal) -> None:
    assert files("sync", str(files.root)).code == 2


def test_a_folder_without_a_server_is_not_found(files: Terminal, tmp_path: Path) -> None:
    assert files("sync", str(tmp_path / "nothing")).code == 4


def killed_at_sync(here: Path, there: Path, number: int) -> int:
    """Sync two roots, kill the process at one of its syncs, and return its status."""
    inject = f"inject=fdatasync:signal=SIGKILL:when={number}"
    command = ["strace", "-f", "--seccomp-bpf", "-o", os.devnull, "-e", inject, sys.executable]
    command += ["-m", "qms.cli.main", "sync", str(there), "--root", str(here)]
    command += ["--project", "default"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        command, env=environment, timeout=LIMIT_S, check=False, capture_output=True
    )
    return done.returncode


@pytest.mark.needs("strace")
@pytest.mark.fault("F02")
def test_a_sync_that_is_killed_is_finished_by_the_next(
    files: Terminal, other: tuple[Path, str]
) -> None:
    root, _ = other
    wanted: set[str] = set()
    statuses = []
    for number in (1, 3, 5):
        files.remember(f"here {number}")
        files.remember(f"there {number}", "--root", str(root))
        wanted |= {f"here {number}", f"there {number}"}

        statuses.append(killed_at_sync(files.root, root, number))
        files.ok("sync", str(root))

        assert titles(files, files.root) == titles(files, root) == wanted
    assert statuses == [-signal.SIGKILL] * 3
