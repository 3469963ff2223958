"""Client programs that people use, each in a home of its own with the file that connect writes.

No model is asked: the programs connect, and Codex, which can do it without a model, lists and
calls tools. Every connection that a program opens is watched: none may leave this computer.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qms.cli.clients import CLIENTS, Server
from tests.support.environment import Environment
from tests.support.house import key_of
from tests.support.server import ADMIN_KEY, ServerProcess, configured
from tools.toolbox import command_of, node_program

LIMIT_S = 200
NOWHERE = "http://127.0.0.1:9"
"""A proxy that refuses every connection, for what a program wants to fetch by itself."""

ALONE = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "HTTP_PROXY": NOWHERE,
    "HTTPS_PROXY": NOWHERE,
    "NO_PROXY": "127.0.0.1,localhost",
}
LISTED = {"claude": "claude-code", "gemini": "gemini", "opencode": "opencode"}
"""Programs whose `mcp list` connects, and the names that `memoryctl connect` has for them."""

pytestmark = [pytest.mark.long, pytest.mark.needs("strace")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(configured(tmp_path_factory.mktemp("programs")), key=ADMIN_KEY) as running:
        yield running


class Program:
    """A client program that sees a home folder and nothing else of this user."""

    def __init__(self, name: str, home: Path) -> None:
        command, node = command_of(name), node_program("node")
        assert command is not None
        assert node is not None
        self.trace = home.parent / "connections"
        watch = ["strace", "-f", "--seccomp-bpf", "-e", "trace=connect", "-o", str(self.trace)]
        self.command = [*watch, *command]
        self.environment = {
            **ALONE,
            "HOME": str(home),
            "PATH": f"{Path(node).parent}:/usr/bin:/bin",
        }
        self.folder = home / "work"
        self.folder.mkdir(parents=True)

    def run(self, *words: str) -> str:
        """Run it to its end and return what it prints."""
        done = subprocess.run(
            [*self.command, *words],
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=LIMIT_S,
        )
        return done.stdout + done.stderr

    @property
    def elsewhere(self) -> list[str]:
        """Return the connections that it tried to open to other computers."""
        lines = self.trace.read_text(encoding="utf-8").splitlines()
        outward = [line for line in lines if "AF_INET" in line]
        return [line for line in outward if not re.search(r'"(127\.0\.0\.1|::1)"', line)]


def connected(
    name: str, client: str, server: ServerProcess, environment: Environment, home: Path
) -> Program:
    """Return a program whose file names the server, as connect writes it."""
    program = Program(name, home)  # before the home changes: the programs are in the real one
    environment["HOME"] = str(home)
    for variable in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        environment.pop(variable, None)
    chosen = CLIENTS[client]
    path = chosen.file()
    path.parent.mkdir(parents=True, exist_ok=True)
    named = Server(url=server.url, project="projA", key=key_of("writer"))
    path.write_text(chosen.written(named), encoding="utf-8")
    return program


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.needs(name)) for name in LISTED]
)
def test_a_program_reports_that_it_is_connected(
    server: ServerProcess, environment: Environment, tmp_path: Path, name: str
) -> None:
    program = connected(name, LISTED[name], server, environment, tmp_path / "home")

    said = program.run("mcp", "list")

    [line] = [one for one in said.splitlines() if "memory" in one and "tmp" not in one]
    assert re.search(r"[✔✓].*connected", line, re.IGNORECASE), said
    assert program.elsewhere == []


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.needs(name)) for name in LISTED]
)
def test_a_program_without_a_server_reports_that_it_is_not(
    environment: Environment, server: ServerProcess, tmp_path: Path, name: str
) -> None:
    program = connected(name, LISTED[name], server, environment, tmp_path / "home")
    path = CLIENTS[LISTED[name]].file()
    wrong = path.read_text(encoding="utf-8").replace(key_of("writer"), "qms_nobodys_key")
    path.write_text(wrong, encoding="utf-8")

    said = program.run("mcp", "list")

    assert not re.search(r"[✔✓].*connected", said, re.IGNORECASE), said


class AppServer:
    """Codex as a server of an editor: it talks JSON-RPC over its standard streams."""

    def __init__(self, program: Program) -> None:
        self._process = subprocess.Popen(
            [*program.command, "app-server"],
            env=program.environment,
            cwd=program.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        self._last = 0
        self.ask("initialize", clientInfo={"name": "tests", "version": "1"})
        self._send({"method": "initialized"})

    def ask(self, method: str, **params: Any) -> Any:
        """Send a request and return its result."""
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == self._last:
                assert "result" in message, message
                return message["result"]
        raise AssertionError("it ended without an answer")

    def close(self) -> None:
        """End it with its input."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()


@pytest.mark.needs("codex")
def test_codex_connects_lists_the_tools_and_calls_one(
    server: ServerProcess, environment: Environment, tmp_path: Path
) -> None:
    program = connected("codex", "codex", server, environment, tmp_path / "home")
    codex = AppServer(program)
    try:
        [found] = codex.ask("mcpServerStatus/list")["data"]
        thread = codex.ask("thread/start")["thread"]["id"]
        called = codex.ask(
            "mcpServer/tool/call",
            threadId=thread,
            server="memory",
            tool="upsertEntry",
            arguments={"entry": {"kind": "note", "body": "Stored by Codex"}},
        )
    finally:
        codex.close()

    assert found["serverInfo"]["name"] == "quick-memory-server"
    assert {"getEntry", "upsertEntry", "searchEntries"} <= set(found["tools"])
    assert called["structuredContent"]["id"].startswith("projA:")
    assert program.elsewhere == []


@pytest.mark.needs("claude")
def test_claude_code_installs_the_plugin_and_connects_its_server(tmp_path: Path) -> None:
    program = Program("claude", tmp_path / "home")
    root = configured(tmp_path / "root")
    ours = Path(__file__).parents[2]
    program.environment |= {
        "PATH": f"{ours / '.venv' / 'bin'}:{program.environment['PATH']}",
        "QMS_ROOT": str(root),
        "QMS_PROJECT": "projA",
    }
    folder = ours / "installer" / "clients"

    validated = program.run("plugin", "validate", "--strict", str(folder / "claude-code"))
    program.run("plugin", "marketplace", "add", str(folder))
    program.run("plugin", "install", "quick-memory@quick-memory-server")
    listed = program.run("mcp", "list")

    assert "Validation passed" in validated
    assert re.search(r"quick-memory:memory.*✔ Connected", listed), listed
    assert program.elsewhere == []
