"""The MCP clients that memoryctl configures: their settings file and the format of a server."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec

from qms.cli import client_json, client_yaml
from qms.memory.errors import InvalidInputError
from qms.resources import installation_folder

SERVER_NAME = "memory"

TOOLSETS = "lite"
"""The toolsets that a client asks for unless told otherwise; none: those that the project gives."""

_INSTALLED = {"qms": "QuickMemoryServer.exe", "memoryctl": "tools/memoryctl.exe"}
"""The file names of our programs in an installation."""


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """The server settings that a client needs."""

    url: str
    project: str
    key: str
    toolsets: str = TOOLSETS

    @property
    def endpoint(self) -> str:
        """Return the address of the project for clients that speak HTTP."""
        query = f"?toolsets={self.toolsets}" if self.toolsets else ""
        return f"{self.url.rstrip('/')}/mcp/{self.project}{query}"

    @property
    def headers(self) -> dict[str, str]:
        """Return what goes with every request."""
        return {"Authorization": f"Bearer {self.key}"}


class Client(msgspec.Struct, frozen=True, kw_only=True):
    """One client: its settings file, the key of its servers there, and its instructions file."""

    title: str
    file: Callable[[], Path]
    place: str
    entry: Callable[[Server], dict[str, Any]]
    instructions: str
    syntax: Literal["json", "toml", "yaml"] = "json"
    name: str = SERVER_NAME
    """What the server is called in the file."""
    has_hooks: bool = False
    """Whether it has hooks that run a program when a session starts and stops."""
    asks: str = ""
    """What the client still asks of the person after its file was written."""

    def written(self, server: Server, text: str = "") -> str:
        """Return the client's file with the server added; the rest is unchanged.

        Raises:
            InvalidInputError: the file is not valid.
        """
        if self.syntax == "toml":
            from qms.config.toml_change import put  # slow to import, and for one client only

            return put(text, (self.place, self.name), self.entry(server))
        try:
            if self.syntax == "yaml":
                return client_yaml.put(text, self.place, self.name, self.entry(server))
            return client_json.put(text, (self.place, self.name), self.entry(server))
        except ValueError as error:
            raise unreadable(self.file(), error) from None


def unreadable(path: Path, reason: ValueError) -> InvalidInputError:
    """Return the error for a settings file that its client could not read either."""
    error = InvalidInputError(f"{path} is not valid: {reason}", field="write")
    error.add_note("run without --write to print the settings and add them by hand")
    return error


def _home(*parts: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*parts)


def _application_file(*parts: str) -> Callable[[], Path]:
    """Return a function that finds a file in the system's folder for application settings."""

    def find() -> Path:
        if sys.platform == "darwin":
            base = Path.home() / "Library" / "Application Support"
        elif sys.platform == "win32":
            base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
        else:
            base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        return base.joinpath(*parts)

    return find


def _config_file(*parts: str, windows: tuple[str, ...] = ()) -> Callable[[], Path]:
    """Return a function that finds a file of a program with ~/.config on every system."""

    def find() -> Path:
        if sys.platform == "win32" and windows:
            return _application_file(*windows)()
        base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        return Path(base).joinpath(*parts)

    return find


def claude_folder() -> Path | None:
    """Return the folder that CLAUDE_CONFIG_DIR names, if it is set."""
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(folder) if folder else None


def _claude_file() -> Path:
    return (claude_folder() or Path.home()) / ".claude.json"


def _codex_file() -> Path:
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "config.toml"


def _typed(server: Server) -> dict[str, Any]:
    return {"type": "http", "url": server.endpoint, "headers": server.headers}


def _bridged(server: Server) -> dict[str, Any]:
    """Return the settings for a client that supports stdio only: the bridge to start."""
    arguments = ["bridge", "--url", server.url, "--project", server.project]
    if server.toolsets:
        arguments += ["--toolsets", server.toolsets]
    return {"command": installed_program("qms"), "args": arguments, "env": {"QMS_KEY": server.key}}


def _remote(server: Server) -> dict[str, Any]:
    # Without `oauth` off, opencode looks for a sign-in page before it sends the key.
    return {
        "type": "remote",
        "url": server.endpoint,
        "headers": server.headers,
        "enabled": True,
        "oauth": False,
    }


def _extension(server: Server) -> dict[str, Any]:
    """Return the settings of a Goose extension."""
    return {
        "enabled": True,
        "type": "streamable_http",
        "name": GOOSE_NAME,
        "description": "Memory that outlives a conversation",
        "uri": server.endpoint,
        "headers": server.headers,
        "envs": {},
        "env_keys": [],
        "timeout": 300,
    }


GOOSE_NAME = "quick-memory"
"""Goose has an extension of its own that is called `memory`."""


def installed_program(name: str) -> str:
    """Return the full path of one of our programs: clients do not search the PATH of a shell."""
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
        asks="it asks before the first use of each tool; `/permissions` allows `mcp__memory`",
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
        asks="start the server once with “MCP: List Servers” and confirm that you trust it",
    ),
    "codex": Client(
        title="Codex",
        file=_codex_file,
        place="mcp_servers",
        entry=lambda server: {"url": server.endpoint, "http_headers": server.headers},
        instructions="AGENTS.md",
        syntax="toml",
    ),
    "gemini": Client(
        title="Gemini CLI",
        file=_home(".gemini", "settings.json"),
        place="mcpServers",
        entry=lambda server: {"httpUrl": server.endpoint, "headers": server.headers},
        instructions="GEMINI.md",
        asks="it connects in trusted folders only: choose “Trust folder” when it asks, or run "
        "`/permissions` in the folder",
    ),
    "windsurf": Client(
        title="Windsurf",
        file=_home(".codeium", "windsurf", "mcp_config.json"),
        place="mcpServers",
        entry=lambda server: {"serverUrl": server.endpoint, "headers": server.headers},
        instructions="AGENTS.md",
    ),
    "opencode": Client(
        title="opencode",
        file=_config_file("opencode", "opencode.json"),
        place="mcp",
        entry=_remote,
        instructions="AGENTS.md",
    ),
    "zed": Client(
        title="Zed",
        file=_config_file("zed", "settings.json", windows=("Zed", "settings.json")),
        place="context_servers",
        entry=lambda server: {"url": server.endpoint, "headers": server.headers},
        instructions="AGENTS.md or .rules",
        asks="it asks before each tool call; “Always Allow” remembers the answer",
    ),
    "goose": Client(
        title="Goose",
        file=_config_file(
            *("goose", "config.yaml"), windows=("Block", "goose", "config", "config.yaml")
        ),
        place="extensions",
        entry=_extension,
        instructions=".goosehints",
        syntax="yaml",
        name=GOOSE_NAME,
    ),
}
