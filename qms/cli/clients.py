"""The clients that memoryctl connects: where each keeps its servers, and how it writes one."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from qms.cli import commented_json
from qms.config.toml_change import put
from qms.domain.errors import InvalidInputError
from qms.resources import installation_folder

SERVER_NAME = "memory"

_INSTALLED = {"qms": "QuickMemoryServer.exe", "memoryctl": "tools/memoryctl.exe"}
"""What our programs are called in an installation."""


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """What a client has to know of a server."""

    url: str
    project: str
    key: str

    @property
    def endpoint(self) -> str:
        """Return the address of the project for clients that speak HTTP."""
        return f"{self.url.rstrip('/')}/mcp/{self.project}"

    @property
    def headers(self) -> dict[str, str]:
        """Return what goes with every request."""
        return {"Authorization": f"Bearer {self.key}"}


class Client(msgspec.Struct, frozen=True, kw_only=True):
    """One client: its file, where in it servers stand, and where its instructions do."""

    title: str
    file: Callable[[], Path]
    place: str
    entry: Callable[[Server], dict[str, Any]]
    instructions: str
    is_toml: bool = False
    has_hooks: bool = False
    """Whether it calls programs of ours when a session begins and ends."""

    def written(self, server: Server, text: str = "") -> str:
        """Return the client's file with the server in it and all else as it was.

        Raises:
            InvalidInputError: the file is not what the client reads.
        """
        if self.is_toml:
            return put(text, (self.place, SERVER_NAME), self.entry(server))
        try:
            return commented_json.put(text, (self.place, SERVER_NAME), self.entry(server))
        except ValueError as error:
            raise unreadable(self.file(), error) from None


def unreadable(path: Path, reason: ValueError) -> InvalidInputError:
    """Return the refusal of a file that a client would not read either."""
    error = InvalidInputError(f"{path} is not what its client reads: {reason}", field="write")
    error.add_note("without --write what belongs there is printed, to be put in by hand")
    return error


def _home(*parts: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*parts)


def _application_file(*parts: str) -> Callable[[], Path]:
    """Return where the system keeps the settings of a program with windows."""

    def find() -> Path:
        if sys.platform == "darwin":
            base = Path.home() / "Library" / "Application Support"
        elif sys.platform == "win32":
            base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
        else:
            base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        return base.joinpath(*parts)

    return find


def claude_folder() -> Path | None:
    """Return where Claude Code was told to keep all of its files."""
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(folder) if folder else None


def _claude_file() -> Path:
    return (claude_folder() or Path.home()) / ".claude.json"


def _codex_file() -> Path:
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "config.toml"


def _typed(server: Server) -> dict[str, Any]:
    return {"type": "http", "url": server.endpoint, "headers": server.headers}


def _bridged(server: Server) -> dict[str, Any]:
    """Return a program to start, for a client that speaks over standard input and output only."""
    arguments = ["bridge", "--url", server.url, "--project", server.project]
    return {"command": installed_program("qms"), "args": arguments, "env": {"QMS_KEY": server.key}}


def installed_program(name: str) -> str:
    """Return the path of one of our programs, since clients do not search the PATH of a shell."""
    if (installation := installation_folder()) is not None:
        return str(installation / _INSTALLED[name])
    beside = Path(sys.executable).with_name(f"{name}.exe" if sys.platform == "win32" else name)
    return str(beside) if beside.exists() else name


CLIENTS = {
    "claude-code": Client(
        title="Claude Code",
        file=_claude_file,
        place="mcpServers",
        entry=_typed,
        instructions="CLAUDE.md",
        has_hooks=True,
    ),
    "claude-desktop": Client(
        title="Claude Desktop",
        file=_application_file("Claude", "claude_desktop_config.json"),
        place="mcpServers",
        entry=_bridged,
        instructions="the preferences in its settings",
    ),
    "cursor": Client(
        title="Cursor",
        file=_home(".cursor", "mcp.json"),
        place="mcpServers",
        entry=lambda server: {"url": server.endpoint, "headers": server.headers},
        instructions="AGENTS.md",
    ),
    "vscode": Client(
        title="VS Code",
        file=_application_file("Code", "User", "mcp.json"),
        place="servers",
        entry=_typed,
        instructions="AGENTS.md or .github/copilot-instructions.md",
    ),
    "codex": Client(
        title="Codex",
        file=_codex_file,
        place="mcp_servers",
        entry=lambda server: {"url": server.endpoint, "http_headers": server.headers},
        instructions="AGENTS.md",
        is_toml=True,
    ),
    "gemini": Client(
        title="Gemini CLI",
        file=_home(".gemini", "settings.json"),
        place="mcpServers",
        entry=lambda server: {"httpUrl": server.endpoint, "headers": server.headers},
        instructions="GEMINI.md",
    ),
    "windsurf": Client(
        title="Windsurf",
        file=_home(".codeium", "windsurf", "mcp_config.json"),
        place="mcpServers",
        entry=lambda server: {"serverUrl": server.endpoint, "headers": server.headers},
        instructions="AGENTS.md",
    ),
}
