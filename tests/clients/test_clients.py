"""Clients that people use, each in its own environment: list the tools, call some, be refused."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.house import key_of
from tests.support.server import ADMIN_KEY, ServerProcess, configured
from tools.toolbox import command_of

LIMIT_S = 120

CLIENTS = {
    "mcp-1.30": ("with_mcp_1.py",),
    "mcp-2.3": ("with_mcp_2.py",),
    "mcp-2.3 legacy": ("with_mcp_2.py", "legacy"),
    "fastmcp-4": ("with_fastmcp.py",),
}
"""Each client by its environment, with its script and what the script takes beside URL and key."""

NEEDED = [pytest.param(name, marks=pytest.mark.needs(name.split()[0])) for name in CLIENTS]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(configured(tmp_path_factory.mktemp("clients")), key=ADMIN_KEY) as running:
        yield running


def run_client(name: str, address: str, key: str) -> "subprocess.CompletedProcess[str]":
    script, *more = CLIENTS[name]
    command = command_of(name.split(maxsplit=1)[0])
    assert command is not None
    return run([*command, str(Path(__file__).parent / script), address, key, *more])


def run_inspector(url: str, key: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = command_of("inspector")
    assert command is not None
    given = ("--transport", "http", "--header", f"Authorization: Bearer {key}")
    return run([*command, "--cli", url, *given, *arguments])


def run(command: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=LIMIT_S,
        stdin=subprocess.DEVNULL,
    )


def url_of(server: ServerProcess) -> str:
    return f"{server.url}/mcp/projA"


def bridge_to(server: ServerProcess) -> list[str]:
    """Return the program that a client starts in the place of an address."""
    program = [sys.executable, "-m", "qms.cli.server", "bridge"]
    return [*program, "--url", server.url, "--project", "projA"]


@pytest.mark.parametrize("by", ["HTTP", "stdio"])
@pytest.mark.parametrize("name", NEEDED)
def test_a_client_lists_the_tools_and_calls_them(server: ServerProcess, name: str, by: str) -> None:
    address = url_of(server) if by == "HTTP" else json.dumps(bridge_to(server))

    done = run_client(name, address, key_of("writer"))

    assert done.returncode == 0, done.stderr[-2000:]
    said: dict[str, Any] = json.loads(done.stdout)
    assert {"getEntry", "upsertEntry", "searchEntries"} <= set(said["tools"])
    assert said["stored"]["id"].startswith("projA:")
    assert json.loads(said["text"]) == said["stored"]
    assert said["isError"]
    assert said["missing"]["error"]["code"] == "notFound"


@pytest.mark.parametrize("name", NEEDED)
def test_a_client_with_a_wrong_key_is_refused(server: ServerProcess, name: str) -> None:
    done = run_client(name, url_of(server), "qms_nobodys_key")

    assert done.returncode != 0
    assert done.stdout == ""


@pytest.mark.needs("mcp-2.3")
def test_the_newest_client_speaks_the_newest_revision(server: ServerProcess) -> None:
    done = run_client("mcp-2.3", url_of(server), ADMIN_KEY)

    assert json.loads(done.stdout)["revision"] == "2026-07-28"


@pytest.mark.needs("inspector")
def test_the_inspector_lists_the_tools_and_calls_one(server: ServerProcess) -> None:
    listed = run_inspector(url_of(server), ADMIN_KEY, "--method", "tools/list")
    called = run_inspector(
        url_of(server), ADMIN_KEY, "--method", "tools/call", "--tool-name", "health"
    )

    assert listed.returncode == 0, listed.stderr[-2000:]
    assert "searchEntries" in {tool["name"] for tool in json.loads(listed.stdout)["tools"]}
    assert json.loads(called.stdout)["structuredContent"]["status"] in ("Healthy", "Loading")


@pytest.mark.needs("inspector")
def test_the_inspector_lists_the_tools_over_stdio(server: ServerProcess) -> None:
    command = command_of("inspector")
    assert command is not None
    environment = ("-e", f"QMS_KEY={ADMIN_KEY}")

    done = run([*command, "--cli", *environment, *bridge_to(server), "--method", "tools/list"])

    assert done.returncode == 0, done.stderr[-2000:]
    assert "searchEntries" in {tool["name"] for tool in json.loads(done.stdout)["tools"]}


@pytest.mark.needs("inspector")
def test_the_inspector_shows_the_error_of_a_command(server: ServerProcess) -> None:
    arguments = ("--method", "tools/call", "--tool-name", "getEntry", "--tool-arg", "id=absent")

    called = run_inspector(url_of(server), ADMIN_KEY, *arguments)

    assert json.loads(called.stdout)["structuredContent"]["error"]["code"] == "notFound"


@pytest.mark.needs("inspector")
def test_the_inspector_with_a_wrong_key_is_refused(server: ServerProcess) -> None:
    done = run_inspector(url_of(server), "qms_nobodys_key", "--method", "tools/list")

    assert done.returncode != 0
    assert "auth_required" in done.stderr + done.stdout
