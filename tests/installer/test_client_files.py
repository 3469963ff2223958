"""The files that install the server into clients with one click."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from installer.bundle import PYPROJECT, SOURCES, write_bundle
from qms.cli.program import program
from qms.version import __version__
from tools.toolbox import command_of

CLIENTS = SOURCES.parent
PLUGIN = CLIENTS / "claude-code"


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_every_file_has_the_version_of_the_server() -> None:
    registered = read(CLIENTS / "server.json")

    assert read(SOURCES / "manifest.json")["version"] == __version__
    assert read(PLUGIN / ".claude-plugin" / "plugin.json")["version"] == __version__
    assert registered["version"] == registered["packages"][0]["version"] == __version__


@pytest.mark.needs("mcpb")
def test_the_published_tool_takes_the_manifest_of_the_bundle() -> None:
    command = command_of("mcpb")
    assert command is not None

    done = subprocess.run(
        [*command, "validate", str(SOURCES / "manifest.json")],
        capture_output=True,
        encoding="utf-8",
        check=False,
        stdin=subprocess.DEVNULL,
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_bundle_holds_the_wheel_and_names_it(tmp_path: Path) -> None:
    wheel = tmp_path / "quick_memory_server-1-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    first, second = tmp_path / "one.mcpb", tmp_path / "two.mcpb"

    write_bundle(wheel, first)
    write_bundle(wheel, second)

    with zipfile.ZipFile(first) as bundle:
        names = bundle.namelist()
        project = bundle.read(PYPROJECT).decode()
    assert {"manifest.json", PYPROJECT, wheel.name} <= set(names)
    assert read(SOURCES / "manifest.json")["server"]["entry_point"] in names
    assert f'path = "{wheel.name}"' in project
    assert first.read_bytes() == second.read_bytes()


def test_what_the_bundle_starts_serves_a_root(tmp_path: Path) -> None:
    manifest = read(SOURCES / "manifest.json")
    arguments = manifest["server"]["mcp_config"]["args"]
    words = arguments[arguments.index(manifest["server"]["entry_point"]) + 1 :]
    given = {"${user_config.root}": str(tmp_path / "root"), "${user_config.project}": "default"}
    info = {"clientInfo": {"name": "tests", "version": "1"}, "capabilities": {}}
    hello = {"protocolVersion": "2025-11-25", **info}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}

    with subprocess.Popen(
        [sys.executable, str(SOURCES / "server" / "main.py"), *(given.get(w, w) for w in words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        process.stdin.close()

    assert answer["result"]["serverInfo"]["name"] == manifest["name"]


def test_the_hooks_of_the_plugin_are_verbs_of_memoryctl() -> None:
    hooks = read(PLUGIN / "hooks" / "hooks.json")["hooks"]
    lines = [one["command"] for groups in hooks.values() for g in groups for one in g["hooks"]]

    assert set(hooks) == {"SessionStart", "Stop"}
    for line in lines:
        name, group, verb = line.split()
        assert name == "memoryctl"
        found = program.get_command(None, group)  # type: ignore[arg-type]  # it reads no context
        assert found is not None
        assert verb in found.commands  # type: ignore[attr-defined]  # a group


ARGUMENTS = {"named": {"name"}, "positional": {"value"}}


def test_the_registry_entry_has_the_fields_that_the_registry_asks_for() -> None:
    entry = read(CLIENTS / "server.json")

    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 1 <= len(entry["description"]) <= 100
    assert len(entry["title"]) <= 100
    for package in entry["packages"]:
        assert {"registryType", "identifier", "version", "transport"} <= set(package)
        assert package["transport"] == {"type": "stdio"}
        for one in [*package["runtimeArguments"], *package["packageArguments"]]:
            assert ARGUMENTS[one["type"]] <= set(one)
        assert all(one["name"] for one in package["environmentVariables"])
    readme = (CLIENTS.parents[1] / "README.md").read_text(encoding="utf-8")
    assert f"mcp-name: {entry['name']}" in readme, "the registry looks for it in the package"
