"""A server as a child process, and one keep-alive connection to it."""

import http.client
import importlib.util
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from qms.resources import TEMPLATE_NAME, find_resource
from tools.benchmarks.server_process import NoServerError, ServerProcess

MODULE = "qms.cli.server"
START_LIMIT_S = 120.0


class Client:
    """One keep-alive connection that calls commands of a project."""

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
        """Return the answer to an encoded request."""
        self._connection.request("POST", f"/api/v1/{project}/{command}", body, self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != http.client.OK:
            raise RuntimeError(f"{command}: {answer.status} {content[:500]!r}")
        return json.loads(content)

    def get(self, path: str) -> Any:
        """Return the answer of an `/admin` path."""
        self._connection.request("GET", path, headers=self._headers)
        return json.loads(self._connection.getresponse().read())

    def is_searched(self, project: str) -> bool:
        """Say whether a project can be searched."""
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
    """Serve a new root, or one to which this key belongs.

    Raises:
        NoServerError: it does not start.
    """
    if importlib.util.find_spec(MODULE) is None:
        raise NoServerError("no server")
    _lift_rate_limit(root / TEMPLATE_NAME)
    command = (MODULE, "serve", "--port", "0", "--root", str(root))
    with (root / "server.log").open("wb") as log:
        process = ServerProcess(*command, limit_s=START_LIMIT_S, log=log)
    try:
        said = process.wait_until_listening()
        process.lift_limit()
        client = Client(said["listening"], key or said["admin key"], process.id)
        try:
            yield client
        finally:
            client.close()
    finally:
        process.stop()


def _lift_rate_limit(settings: Path) -> None:
    """Disable the rate limit: one key represents all clients here."""
    if not settings.exists():
        template = find_resource(TEMPLATE_NAME).read_text(encoding="utf-8")
        text = template.replace("requestsPerMinute = 6000", "requestsPerMinute = 0")
        settings.write_text(text, encoding="utf-8")
