"""The official conformance suite, against the real server with keys on: nothing may fail."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.key_proxy import KeyProxy
from tests.support.server import ADMIN_KEY, ServerProcess, configured
from tools.toolbox import command_of

LIMIT_S = 280

REVISIONS = {"2026-07-28": 152, "2025-11-25": 84}
"""Each revision, and how many checks the official everything-server passes: at least so many."""

OTHERS = "tasks-"
"""Scenarios of an extension that this server does not offer."""


def verdicts(output: str) -> dict[str, tuple[int, int]]:
    """Return the scenarios that the suite reports, and how many checks each passed and failed."""
    lines = re.findall(r"^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed", output, re.MULTILINE)
    return {
        name: (int(passed), int(failed))
        for name, passed, failed in lines
        if not name.startswith(OTHERS)
    }


def run_suite(*arguments: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    command = command_of("conformance")
    assert command is not None
    return subprocess.run(
        [*command, "server", *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=LIMIT_S,
    )


@pytest.mark.needs("conformance")
@pytest.mark.parametrize("revision", REVISIONS)
def test_the_official_suite_finds_nothing_wrong(tmp_path: Path, revision: str) -> None:
    root = configured(tmp_path / "root")
    server = ServerProcess(root, key=ADMIN_KEY, command=("tests.conformance.server", str(root)))

    with server, KeyProxy(server.url, ADMIN_KEY) as proxy:
        url = f"{proxy.url}/mcp/projA"
        run = run_suite("--url", url, "--requirements", revision, folder=tmp_path)

    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:] + server.errors[-2000:]
    # Scenarios that the suite does not score yet pass as well.
    found = verdicts(run.stdout)
    assert [name for name, (_, failed) in found.items() if failed] == []
    assert sum(passed for passed, _ in found.values()) >= REVISIONS[revision]


@pytest.mark.needs("conformance")
def test_the_suite_finds_something_wrong_with_a_project_that_the_key_does_not_open(
    tmp_path: Path,
) -> None:
    root = configured(tmp_path / "root")
    server = ServerProcess(root, key=ADMIN_KEY, command=("tests.conformance.server", str(root)))

    with server, KeyProxy(server.url, ADMIN_KEY) as proxy:
        url = f"{proxy.url}/mcp/closed"
        arguments = ("--url", url, "--scenario", "tools-list", "--spec-version", "2026-07-28")
        run = run_suite(*arguments, folder=tmp_path)

    assert run.returncode != 0
