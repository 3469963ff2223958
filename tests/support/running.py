"""A real server on a real port, in this process: it starts in milliseconds."""

import asyncio
import http.client
import json
import socket
import threading
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from qms.app.build import open_root
from qms.app.http_server import Hooks, Served, http_server
from qms.config.addresses import ListenAddress
from qms.disk.disk import Disk
from qms.http.protocol import TimeoutProtocol, check_connections
from tests.support.server import call_on

START_LIMIT_S = 60


class RunningServer:
    """Owns a root and answers until `stop`."""

    def __init__(
        self,
        root: Path,
        key: str,
        protocol: type[TimeoutProtocol] = TimeoutProtocol,
        *,
        port: int = 0,
        disk: Disk | None = None,
    ) -> None:
        self.key = key
        is_listening = threading.Event()
        said: list[str] = []
        with ExitStack() as undo:
            self._opened = open_root(
                root, disk=disk or Disk(), clock=_now, command="test server", loads=False
            )
            undo.callback(self._opened.close)
            self._server = http_server(
                self._opened,
                [ListenAddress("http", "127.0.0.1", port)],
                said.append,
                Served(load_after_s=0.0),
                Hooks(listening=is_listening.set, turned=self._check, stopping=_do_nothing),
            )
            self._server.config.http = protocol
            self._thread = threading.Thread(target=self._server.serve_until_stopped)
            self._thread.start()
            assert is_listening.wait(START_LIMIT_S)
            undo.pop_all()
        self.url = said[-1].removeprefix("listening: ")
        self.port = int(self.url.rpartition(":")[2])

    def call(self, project: str, command: str, /, **request: Any) -> Any:
        """Call a command over HTTP and return the object that it answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            return call_on(connection, self.key, project, command, request)
        finally:
            connection.close()

    def status(self) -> str:
        """Return the status that everybody may ask for."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", "/health")
            return str(json.loads(connection.getresponse().read())["status"])
        finally:
            connection.close()

    def socket(self) -> socket.socket:
        """Return a bare connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    @property
    def connections(self) -> int:
        """Return how many connections are open."""
        return len(self._server.server_state.connections)

    def stop(self) -> None:
        """Stop as after a signal: requests end, stores fold, the root is given back."""
        self._server.stop()
        self._thread.join()
        self._opened.close()

    def _check(self) -> None:
        """Look at the connections at every turn, not once a second."""
        now = asyncio.get_running_loop().time()
        check_connections(self._server.server_state.connections, now)


def _do_nothing() -> None:
    return


def _now() -> datetime:
    return datetime.now(UTC)
