"""A real server on a real port, in this process: it starts in milliseconds."""

import asyncio
import http.client
import socket
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import uvicorn

from qms.api.app import app
from qms.fsio.disk import Disk
from qms.host.protocol import MAX_HEAD_BYTES, PatientProtocol, check_connections
from qms.runtime.build import open_root
from tests.support.server import call_on


class _Server(uvicorn.Server):
    """Looks at its connections more often than once a second."""

    def __init__(self, config: uvicorn.Config, on_stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_stopping = on_stopping

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stopping()
        await super().shutdown(sockets=sockets)

    async def on_tick(self, counter: int) -> bool:
        check_connections(self.server_state.connections, asyncio.get_running_loop().time())
        return await super().on_tick(counter)


class RunningServer:
    """Owns a root and answers until `stop`."""

    def __init__(
        self,
        root: Path,
        key: str,
        protocol: type[PatientProtocol] = PatientProtocol,
        *,
        port: int = 0,
    ) -> None:
        self.key = key
        self._opened = open_root(root, disk=Disk(), clock=_now, command="test server")
        services = self._opened.runtime.services()
        application = app(services)
        config = uvicorn.Config(
            application,
            http=protocol,
            ws="none",
            lifespan="on",
            log_config=None,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
        self._server = _Server(config, application.endpoints.close)
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))
        self._thread.start()
        self._opened.announce(self.url)

    def call(self, project: str, command: str, /, **request: Any) -> Any:
        """Call a command over HTTP and return the object that it answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            return call_on(connection, self.key, project, command, request)
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
        self._server.should_exit = True
        self._thread.join()
        self._opened.close()


def _now() -> datetime:
    return datetime.now(UTC)
