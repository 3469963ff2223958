"""The wheel, installed by the tools that people use, serves and remembers."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from installer.wheels import build_product
from tests.house.pages import ROOT, read
from tools.toolbox import command_of

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

START_LIMIT_S = 240
MEMORY = "The staging database listens on port 5433"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_product(ROOT, tmp_path_factory.mktemp("wheel"))


def run(*command: str | Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        command, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextmanager
def served(program: Path, environment: Mapping[str, str]) -> Iterator[list[str]]:
    """Run an installed server; yield the lines that it printed until it listened."""
    process = subprocess.Popen(
        [program, "serve", "--port", "0"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    guard = threading.Timer(START_LIMIT_S, process.kill)
    guard.start()
    lines: list[str] = []
    try:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if line.startswith("listening: "):
                break
        yield lines
    finally:
        guard.cancel()
        process.terminate()
        process.communicate()


def check(programs: Path, home: Path) -> None:
    """Store a memory with the installed programs and find it; nothing else is in the PATH."""
    own = {
        "HOME": str(home),
        "QMS_ROOT": str(home / "memory"),
        "PATH": f"{programs}:/usr/bin:/bin",
        "LANG": "C.UTF-8",
    }
    with served(programs / "qms", own) as lines:
        assert lines[-1].startswith("listening: http://127.0.0.1:")
        run("memoryctl", "init", environment=own)
        run("memoryctl", "remember", MEMORY, environment=own)
        assert "The staging database" in run("memoryctl", "search", "port", environment=own)


def test_uv_installs_the_wheel_as_a_tool(wheel: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    environment = os.environ | {
        "UV_TOOL_DIR": str(tmp_path / "tools"),
        "UV_TOOL_BIN_DIR": str(programs),
    }

    run("uv", "tool", "install", "-q", "-p", sys.executable, wheel, environment=environment)

    check(programs, tmp_path)


@pytest.mark.needs("pipx")
def test_pipx_installs_the_wheel(wheel: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    environment = os.environ | {
        "PIPX_HOME": str(tmp_path / "pipx"),
        "PIPX_BIN_DIR": str(programs),
        "PIPX_MAN_DIR": str(tmp_path / "man"),
    }
    pipx = [*(command_of("pipx") or ()), "-m", "pipx"]

    run(*pipx, "install", "--python", sys.executable, wheel, environment=environment)

    check(programs, tmp_path)


def test_the_pages_state_the_size_of_the_wheel(wheel: Path) -> None:
    stated = re.search(r"wheel is (\d+) MB", read("docs/install.md"))

    assert stated is not None
    assert abs(wheel.stat().st_size / 1e6 - int(stated[1])) < 1
