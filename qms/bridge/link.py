"""HTTP client of one MCP endpoint: pooled connections, answers streamed as they arrive."""

import http.client
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

import msgspec

CONNECT_S = 5.0
"""How long a server may take to accept a connection; its answers may take longer."""

REUSED_FOR_S = 30.0
"""A connection idle for longer is not reused: the server closes it after a minute."""

MAX_KEPT = 16

_EVENTS = "text/event-stream"
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - read, not listened on


class NotSentError(Exception):
    """The server did not receive the message, so it may be sent again."""


class BrokenError(Exception):
    """The connection ended before the answer was complete; the request may have been executed."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A project on a server, and the key to it."""

    url: str
    key: str
    project: str
    toolsets: str | None = None
    agent_id: str | None = None
    certificate: Path | None = None
    """The only certificate to trust: that of a server on this machine."""

    @property
    def path(self) -> str:
        """Return the endpoint's path on the server."""
        query = "" if self.toolsets is None else "?" + urlencode({"toolsets": self.toolsets})
        base = urlsplit(self.url).path.rstrip("/")
        return f"{base}/mcp/{quote(self.project, safe='')}{query}"


class Answer:
    """The answer to one request, read as it arrives; `abort` may come from any thread."""

    def __init__(self, link: "Link", connection: http.client.HTTPConnection) -> None:
        self._link = link
        self._connection = connection
        self._is_read = False
        # Stored, since http.client drops it when the server announces that it will close.
        self._socket = connection.sock
        self._response = connection.getresponse()
        self.status = self._response.status
        self.is_stream = (self._response.headers.get_content_type() or "") == _EVENTS

    def header(self, name: str) -> str | None:
        """Return the value of a header."""
        return self._response.headers.get(name)

    def read(self) -> bytes:
        """Return the whole body.

        Raises:
            BrokenError: the connection ended early.
        """
        try:
            body = self._response.read()
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise BrokenError(str(error)) from error
        self._return_connection()
        return body

    def messages(self) -> Iterator[bytes]:
        """Yield each message when it is complete.

        Raises:
            BrokenError: the connection ended early.
        """
        if not self.is_stream:
            if body := self.read():
                yield body
            return
        try:
            yield from _events(self._response)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise BrokenError(str(error)) from error
        self._return_connection()

    def abort(self) -> None:
        """End the connection; a reader gets `BrokenError`."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # it has ended already

    def close(self) -> None:
        """Release the answer, whether or not it was read to its end."""
        if not self._is_read:
            self._connection.close()

    def _return_connection(self) -> None:
        self._is_read = True
        self._link.keep(self._connection)


class Link:
    """A connection pool of one endpoint; any thread may use it."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._kept: list[tuple[float, http.client.HTTPConnection]] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def send(self, method: str, headers: dict[str, str], body: bytes | None = None) -> Answer:
        """Send a request and return its answer as soon as the head has arrived.

        Raises:
            NotSentError: the server did not receive it.
            BrokenError: the server may have received it, and did not answer.
        """
        connection = self._take()
        always = {
            "Authorization": f"Bearer {self.target.key}",
            "Accept": "text/event-stream" if method == "GET" else f"application/json, {_EVENTS}",
        }
        if self.target.agent_id is not None:
            always["X-Agent-Id"] = self.target.agent_id
        if body is not None:
            always["Content-Type"] = "application/json"
        try:
            connection.request(method, self.target.path, body, always | headers)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise NotSentError(_brief(error)) from error
        try:
            return Answer(self, connection)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise BrokenError(_brief(error)) from error

    def probe(self) -> None:
        """Connect, and keep the connection for the next message.

        Raises:
            NotSentError: no server answers.
        """
        self.keep(self._connect())

    def keep(self, connection: http.client.HTTPConnection) -> None:
        """Return a connection to the pool after its answer was read to its end."""
        with self._lock:
            if not self._is_closed and connection.sock is not None and len(self._kept) < MAX_KEPT:
                self._kept.append((time.monotonic(), connection))
                return
        connection.close()

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            self._is_closed = True
            kept, self._kept = self._kept, []
        for _, connection in kept:
            connection.close()

    def _take(self) -> http.client.HTTPConnection:
        while True:
            with self._lock:
                if not self._kept:
                    break
                since, connection = self._kept.pop()
            if time.monotonic() - since < REUSED_FOR_S and not _has_ended(connection):
                return connection
            connection.close()
        return self._connect()

    def _connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.target.url)
        assert parts.hostname is not None
        host = _ANY_ADDRESS.get(parts.hostname, parts.hostname)
        connection = (
            http.client.HTTPSConnection(
                host, parts.port, timeout=CONNECT_S, context=_trust(self.target.certificate)
            )
            if parts.scheme == "https"
            else http.client.HTTPConnection(host, parts.port, timeout=CONNECT_S)
        )
        try:
            connection.connect()
        except OSError as error:
            connection.close()
            raise NotSentError(_brief(error)) from error
        connection.sock.settimeout(None)
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return connection


def _events(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Yield the data of each server-sent event."""
    data: list[bytes] = []
    while line := response.readline():
        line = line.rstrip(b"\r\n")
        if not line and data:
            yield b"\n".join(data)
            data.clear()
        field, _, value = line.partition(b":")
        if field == b"data" and (value := value.removeprefix(b" ")):
            data.append(value)


def _has_ended(connection: http.client.HTTPConnection) -> bool:
    """Say whether the server has closed an idle connection: nothing else makes it readable."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection.sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def _trust(certificate: Path | None) -> ssl.SSLContext:
    """Return a TLS context that trusts the system's authorities, or only the given certificate."""
    if certificate is None:
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # the certificate itself is pinned, whatever name it has
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(certificate)
    return context


def _brief(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
