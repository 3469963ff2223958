"""An agent's first minute with `lite`, without a model: by two SDKs, over HTTP and stdio."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.house import key_of
from tests.support.server import ServerProcess, configured
from tools.toolbox import command_of

LIMIT_S = 120
HASHED = '[global.embedding]\nmodel = "hash"\n[endpoint.default]\nslug = "default"\n'
LITE = ["remember", "recall", "getEntry", "deleteEntry", "coldStart"]

SDKS = {
    "mcp-2.3": "with_mcp_2_loop.py",
    "typescript-sdk": "with_typescript_loop.mjs",
}
NEEDED = [pytest.param(name, marks=pytest.mark.needs(name)) for name in SDKS]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(configured(tmp_path_factory.mktemp("loop"))) as running:
        yield running


def run_loop(name: str, address: str, key: str) -> dict[str, Any]:
    command = command_of(name)
    assert command is not None
    program, *sdk = command
    script = str(Path(__file__).parent / SDKS[name])
    folder = [str(Path(sdk[0]).parent.parent)] if sdk else []
    text = f"The release of {name.replace('.', '')} is signed on Thursdays"
    done = subprocess.run(
        [program, script, *folder, address, key, text],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=LIMIT_S,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    said: dict[str, Any] = json.loads(done.stdout)
    return {**said, "text": text}


def check_loop(said: dict[str, Any]) -> None:
    text = said["text"]
    assert sorted(said["tools"]) == sorted(LITE)
    assert "`recall`" in said["instructions"]
    assert set(said["first"]) >= {"pinned", "canonical", "openTasks", "recent"}
    assert text not in [memory["text"] for memory in said["before"]["memories"]]
    errors = said["refused"]["error"]["details"]["errors"]
    assert {one["field"] for one in errors} == {"txt", "text", "kind"}
    assert said["stored"]["created"]
    found = said["after"]["memories"][0]
    assert (found["id"], found["text"]) == (said["stored"]["id"], text)


@pytest.mark.parametrize("name", NEEDED)
def test_an_agent_recalls_remembers_and_corrects_itself_over_http(
    server: ServerProcess, name: str
) -> None:
    check_loop(run_loop(name, f"{server.url}/mcp/projA?toolsets=lite", key_of("writer")))


@pytest.mark.parametrize("name", NEEDED)
def test_an_agent_recalls_remembers_and_corrects_itself_over_stdio(
    tmp_path: Path, name: str
) -> None:
    root = configured(tmp_path / "root", HASHED)
    program = [sys.executable, "-m", "qms.cli.server", "mcp", "--root", str(root)]

    check_loop(run_loop(name, json.dumps([*program, "--toolsets", "lite"]), ""))
