"""A server as a child process, and one kept-alive connection to it."""

import http.client
import importlib.util
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from qms.resources import TEMPLATE_NAME, find_resource

MODULE = "qms.cli.server"
START_LIMIT_S = 120.0
STOP_LIMIT_S = 120.0


class NoServerError(Exception):
    """There is no server to measure, and why."""


class Client:
    """One kept-alive connection that calls commands of a project."""

    def __init__(self, url: str, key: str, process_id: int) -> None:
        address = urlsplit(url)
        self.url = url
        self.process_id = process_id
        self._key = key
        self._connection = http.client.HTTPConnection(address.hostname or "", address.port)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def call(self, command: str, request: dict[str, Any], project: str = "default") -> Any:
        """Return the answer of a command.

        Raises:
            RuntimeError: the answer is an error.
        """
        return self.send(command, json.dumps(request).encode("utf-8"), project)

    def send(self, command: str, body: bytes, project: str = "default") -> Any:
        """Return the answer to a request that is encoded already."""
        self._connection.request("POST", f"/api/v1/{project}/{command}", body, self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != http.client.OK:
            raise RuntimeError(f"{command}: {answer.status} {content[:500]!r}")
        return json.loads(content)

    def get(self, path: str) -> Any:
        """Return what an address of the administration answers."""
        self._connection.request("GET", path, headers=self._headers)
        return json.loads(self._connection.getresponse().read())

    def is_searched(self, project: str) -> bool:
        """Say whether a project can be searched by now."""
        try:
            self.call("searchEntries", {"query": {"text": "anything"}}, project)
        except RuntimeError:
            return False
        return True

    def has_vectors(self, project: str) -> bool:
        """Say whether every entry of a project has its vectors."""
        stores = self.call("health", {}, project)["stores"]
        return all(store["embeddingBacklog"] == 0 for store in stores if store["name"] == project)

    def another(self) -> "Client":
        """Return another connection to the same server."""
        return Client(self.url, self._key, self.process_id)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


@contextmanager
def serving(root: Path, key: str | None = None) -> Iterator[Client]:
    """Serve a root that was never served before, or one to which this key belongs.

    Raises:
        NoServerError: it does not start.
    """
    if importlib.util.find_spec(MODULE) is None:
        raise NoServerError("no server")
    _lift_rate_limit(root / TEMPLATE_NAME)
    with (root / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", MODULE, "serve", "--port", "0", "--root", str(root)],
            stdout=subprocess.PIPE,
            stderr=log,
            encoding="utf-8",
        )
    guard = threading.Timer(START_LIMIT_S, process.kill)
    guard.start()
    try:
        client = _connect(process, key)
        guard.cancel()
        try:
            yield client
        finally:
            client.close()
    finally:
        guard.cancel()
        _stop(process)


def _lift_rate_limit(settings: Path) -> None:
    """Let one key ask as often as it likes: it stands for everybody here."""
    if not settings.exists():
        template = find_resource(TEMPLATE_NAME).read_text(encoding="utf-8")
        text = template.replace("requestsPerMinute = 6000", "requestsPerMinute = 0")
        settings.write_text(text, encoding="utf-8")


def _connect(process: "subprocess.Popen[str]", key: str | None) -> Client:
    assert process.stdout is not None
    said = {} if key is None else {"admin key": key}
    for line in process.stdout:
        name, _, value = line.partition(": ")
        said[name] = value.strip()
        if "listening" in said and "admin key" in said:
            return Client(said["listening"], said["admin key"], process.pid)
    raise NoServerError("the server ends before it listens")


def _stop(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    try:
        process.communicate(timeout=STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
