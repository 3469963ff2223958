"""A client of `qms mcp` and `qms bridge`: a real process, JSON lines in, JSON lines out."""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from tests.support.mcp import MODERN

ANSWER_LIMIT_S = 60.0
_META = "io.modelcontextprotocol/"


class StdioClient:
    """One process and what it says; `revision` decides whether it begins with `initialize`."""

    def __init__(
        self, *arguments: str, key: str = "", revision: str = MODERN, agent_id: str = ""
    ) -> None:
        self.revision = revision
        self._process = subprocess.Popen(
            [sys.executable, "-m", "qms.cli.server", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ
            | {"PYTHONWARNDEFAULTENCODING": "0", "QMS_KEY": key, "QMS_AGENT_ID": agent_id},
        )
        self.said: list[Any] = []
        self.errors = b""
        self._changed = threading.Condition()
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._read, self._read_errors)
        ]
        for thread in self._threads:
            thread.start()
        self._ids = 0

    def __enter__(self) -> "StdioClient":
        if self.revision != MODERN:
            self.begin()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self.wait()

    def begin(self) -> Any:
        """Initialize as a client of a revision with sessions, and return the answer."""
        info = {"name": "tests", "version": "1"}
        params = {"protocolVersion": self.revision, "capabilities": {}, "clientInfo": info}
        answer = self.ask("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def send(self, message: Any) -> None:
        """Write one line."""
        assert self._process.stdin is not None
        line = message if isinstance(message, bytes) else msgspec.json.encode(message)
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request and return its id."""
        self._ids += 1
        given = dict(params or {})
        if self.revision == MODERN:
            given["_meta"] = {
                f"{_META}protocolVersion": MODERN,
                f"{_META}clientCapabilities": {},
                **given.get("_meta", {}),
            }
        self.send({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": given})
        return self._ids

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Send a request and return its answer."""
        return self.answer_to(self.request(method, params))

    def answer_to(self, identity: int | None) -> Any:
        """Return the answer to a request, once it is there."""
        return self.wait_for(lambda one: "method" not in one and one.get("id") == identity)

    def wait_for(self, condition: Any) -> Any:
        """Return the first message that is as `condition` asks, once it is there."""
        with self._changed:
            found = self._changed.wait_for(
                lambda: (
                    next((one for one in self.said if condition(one)), None)
                    or self._process.poll() is not None
                ),
                ANSWER_LIMIT_S,
            )
        assert isinstance(found, dict), (self.said, self.errors.decode())
        return found

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """Call a tool and return the structured content of its result."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert "result" in answer, answer
        return answer["result"]["structuredContent"]

    def tools(self) -> set[str]:
        """Return the names of the tools that are offered."""
        return {tool["name"] for tool in self.ask("tools/list")["result"]["tools"]}

    def close_input(self) -> int:
        """Close standard input as a client does that ends, and return the exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self.wait()

    def signal(self, number: int) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def wait(self) -> int:
        """Return the exit code once the process has ended."""
        code = self._process.wait(ANSWER_LIMIT_S)
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue  # what it no longer read goes with it
        return code

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._changed:
                self.said.append(msgspec.json.decode(line))
                self._changed.notify_all()
        self._process.wait()
        with self._changed:
            self._changed.notify_all()

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        self.errors = self._process.stderr.read()


def on_root(root: Path, *, project: str = "default", key: str = "", **more: str) -> StdioClient:
    """Return a client of `qms mcp`."""
    return StdioClient("mcp", "--root", str(root), "--project", project, key=key, **more)


def on_server(url: str, key: str, *, project: str = "projA", **more: str) -> StdioClient:
    """Return a client of `qms bridge`."""
    return StdioClient("bridge", "--url", url, "--project", project, key=key, **more)
