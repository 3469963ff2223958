"""The reference server of the MCP memory tools, as a process that is spoken to over its pipes."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.dropins.conftest import Told
from tools.toolbox import command_of


class Reference:
    """One process of it; `call` has the shape of the calls to ours."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._ids = 0
        info = {"name": "tests", "version": "1"}
        version = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
        self._ask("initialize", version)
        self._say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, name: str, /, **arguments: Any) -> Told:
        """Call one tool."""
        result = self._ask("tools/call", {"name": name, "arguments": arguments})
        [content] = result["content"]
        return Told(content["text"], result.get("structuredContent"), bool(result.get("isError")))

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._ids += 1
        self._say({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params})
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())["result"]

    def _say(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()


@contextmanager
def reference_server(file: Path) -> Iterator[Reference]:
    """Run the reference server on a file."""
    command = command_of("server-memory")
    assert command is not None
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        env={**os.environ, "MEMORY_FILE_PATH": str(file)},
    ) as process:
        try:
            yield Reference(process)
        finally:
            process.kill()
