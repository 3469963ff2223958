"""MCP clients of memory servers, over a program's pipes or over HTTP."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import psutil

from tools.benchmarks.mcp_served import REVISIONS, Server

REVISION = "2025-06-18"
LIMIT_S = 3600.0
"""How long a conversation may take; some servers need a third of a second to store one entry."""


class RefusedError(Exception):
    """A tool has answered with an error, or the server has not answered."""


class Talk(Protocol):
    """One client's conversation with a server."""

    def list_tools(self) -> bytes:
        """Return the list of tools as it comes."""
        ...

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return what a tool answers, as text.

        Raises:
            RefusedError: it answers with an error.
        """
        ...

    def cpu_s(self) -> float:
        """Return how much CPU the server's processes have used."""
        ...

    def close(self) -> None:
        """End the conversation, and the server if no other client uses it."""
        ...


class StdioTalk:
    """A server that is a child process."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=os.environ | dict(environment),
            )
        self._guard = threading.Timer(LIMIT_S, self._process.kill)
        self._guard.start()
        self._ids = 0
        info = {"name": "bench", "version": "1"}
        said = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": info}
        self._ask("initialize", said)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def list_tools(self) -> bytes:
        """Return the list of tools as it comes."""
        return self._ask("tools/list", {})

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return what a tool answers, as text."""
        return text_of(self._ask("tools/call", {"name": tool, "arguments": arguments}))

    def cpu_s(self) -> float:
        """Return how much CPU the process and its children have used."""
        own = psutil.Process(self._process.pid)
        times = [one.cpu_times() for one in (own, *own.children(recursive=True))]
        return float(sum(time.user + time.system for time in times))

    def close(self) -> None:
        """Close its standard input and wait for its end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._guard.cancel()

    def _ask(self, method: str, params: Mapping[str, Any]) -> bytes:
        self._ids += 1
        self._send({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if json.loads(line).get("id") == self._ids:
                return line
        raise RefusedError("the server has ended")

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


class HttpTalk:
    """A connection to our own server; the first of a folder starts it."""

    def __init__(self, root: Path, first: "HttpTalk | None" = None) -> None:
        self._is_first = first is None
        self._server = (
            Server("qms.cli.server", "serve", "--port", "0", "--root", str(root))
            if first is None
            else first.server.another()
        )

    @property
    def server(self) -> Server:
        """Return the server of this connection."""
        return self._server

    def list_tools(self) -> bytes:
        """Return the list of tools as it comes."""
        return self._server.message(REVISIONS[0], "tools/list", {})

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return what a tool answers, as text."""
        params = {"name": tool, "arguments": arguments}
        return text_of(self._server.message(REVISIONS[0], "tools/call", params))

    def cpu_s(self) -> float:
        """Return how much CPU the process has used."""
        return self._server.cpu_s()

    def close(self) -> None:
        """Close the connection; the first one ends the server."""
        if self._is_first:
            self._server.close()
        else:
            self._server.rest()


def own_program(root: Path) -> list[str]:
    """Return the command that serves a root over standard input and output."""
    return [sys.executable, "-m", "qms.cli.server", "mcp", "--root", str(root)]


def text_of(answer: bytes) -> str:
    """Return the text in the result of a tool.

    Raises:
        RefusedError: it is an error.
    """
    message = json.loads(answer)
    result = message.get("result", {})
    if "error" in message or result.get("isError"):
        raise RefusedError(str(message)[:300])
    return "\n".join(part.get("text", "") for part in result["content"])
