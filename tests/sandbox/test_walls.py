"""Probes of the walls, each with its negative control: the same probe where no wall stands."""

import os
import platform
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from qms.sandbox.walls import ALL_WALLS, Bounds, Wall
from qms.sandbox.worker import WorkerError, run_job, standing_walls

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the walls of Linux"),
    pytest.mark.attack("94"),
]

NO_WALLS: frozenset[Wall] = frozenset()
KILLED = "killed"

PROBES = (
    "read", "write", "list", "remove", "connect", "local socket", "datagram", "fork", "run",
    "replace", "thread", "signal", "executable memory", "gigabyte", "memfd", "namespace",
    "io_uring", "trace",
)  # fmt: skip
MAY_BE_OFF = frozenset({"io_uring", "namespace", "trace"})
"""What a host may refuse by itself, so that its control says nothing there."""

BY_LANDLOCK = ("read", "write", "list", "remove", "connect", "signal")
"""What Landlock refuses without any help."""


@pytest.fixture(name="port")
def _port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def outcome(name: str, port: int, folder: Path, walls: frozenset[Wall]) -> str:
    told = {"connect": str(port), "signal": str(os.getpid())}.get(name, str(folder / "made"))
    try:
        # Only a wall may refuse the gigabyte here, not the watch over a worker's memory.
        memory = Bounds().memory_bytes if walls else 2 << 30
        bounds = Bounds(memory_bytes=memory)
        answer = run_job("tests.sandbox.probes:probe", f"{name}|{told}".encode(), bounds, walls)
    except WorkerError as error:
        return f"{KILLED}: {error}"
    return answer.decode()


@pytest.mark.parametrize("name", PROBES)
def test_a_locked_worker_is_refused(name: str, port: int, tmp_path: Path) -> None:
    found = outcome(name, port, tmp_path, ALL_WALLS)

    assert found.startswith(("PermissionError", "OSError", "RuntimeError", "MemoryError")), found
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [one for one in PROBES if one not in MAY_BE_OFF])
def test_the_same_probe_works_where_no_wall_stands(name: str, port: int, tmp_path: Path) -> None:
    # A program that took the worker's place ends with a code of its own.
    expected = "crashed (exit 7)" if name == "replace" else "done"

    assert expected in outcome(name, port, tmp_path, NO_WALLS)


@pytest.mark.parametrize("name", BY_LANDLOCK)
def test_landlock_refuses_files_ports_and_signals_by_itself(
    name: str, port: int, tmp_path: Path
) -> None:
    found = outcome(name, port, tmp_path, frozenset({Wall.NO_NEW_PRIVILEGES, Wall.LANDLOCK}))

    assert found.startswith("PermissionError"), found


@pytest.mark.parametrize("name", [one for one in PROBES if one != "gigabyte"])
def test_the_filter_of_system_calls_refuses_all_of_them_by_itself(
    name: str, port: int, tmp_path: Path
) -> None:
    found = outcome(name, port, tmp_path, frozenset({Wall.NO_NEW_PRIVILEGES, Wall.SECCOMP}))

    assert found.startswith(("PermissionError", "RuntimeError")), found


def test_the_limits_alone_refuse_a_gigabyte(port: int, tmp_path: Path) -> None:
    found = outcome("gigabyte", port, tmp_path, frozenset({Wall.RESOURCE_LIMITS}))

    assert found.startswith("MemoryError"), found


@pytest.mark.skipif(platform.machine() not in {"x86_64", "aarch64"}, reason="lists of two machines")
def test_every_wall_of_linux_stands_here() -> None:
    assert set(standing_walls()) == {
        Wall.NO_NEW_PRIVILEGES,
        Wall.LANDLOCK,
        Wall.RESOURCE_LIMITS,
        Wall.SECCOMP,
    }
