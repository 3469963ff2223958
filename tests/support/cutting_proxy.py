"""A proxy on the loopback that loses the answer to a request when it is told to."""

import socket
import threading
from types import TracebackType
from urllib.parse import urlsplit

_BYTES = 64 * 1024


class CuttingProxy:
    """Runs while its `with` block does; `cuts` counts the answers that it has lost."""

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        assert parts.hostname is not None
        assert parts.port is not None
        self._address = parts.hostname, parts.port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self.cuts = 0
        self._needle: bytes | None = None
        self._doomed: set[socket.socket] = set()
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> "CuttingProxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._listener.close()
        for one in self._sockets:
            one.close()

    def cut_next(self, needle: str) -> None:
        """Lose the answer to the next request with this text in it, after the server gave it."""
        self._needle = needle.encode()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._address)
            self._sockets += [client, server]
            for work in (self._pass_on, self._pass_back):
                threading.Thread(target=work, args=(client, server), daemon=True).start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        host, own = f"127.0.0.1:{self._address[1]}".encode(), f"127.0.0.1:{self._port}".encode()
        try:
            while data := client.recv(_BYTES):
                if self._needle is not None and self._needle in data:
                    self._needle = None
                    self._doomed.add(client)
                server.sendall(data.replace(b"Host: " + own, b"Host: " + host))
        except OSError:
            return
        finally:
            _end(server)

    def _pass_back(self, client: socket.socket, server: socket.socket) -> None:
        try:
            while data := server.recv(_BYTES):
                if client in self._doomed:
                    self.cuts += 1
                    break
                client.sendall(data)
        except OSError:
            return
        finally:
            _end(client)


def _end(one: socket.socket) -> None:
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
