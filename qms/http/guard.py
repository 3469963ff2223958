"""ASGI guard before every route: checks head limits, Host and Origin, and adds security headers.

The order is that of `docs/security.md`. The routes then check key, body and tier, in this order.
"""

from collections import Counter

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qms.commands.gate import Gate
from qms.http.errors import answer_error
from qms.http.exchanges import EXCHANGE, Exchange
from qms.http.heads import AllowedNames, Head, check_limits, only_host, read_head
from qms.memory.errors import QmsError, UnavailableError

MAX_BYTES = 256 * 1024 * 1024
"""Four imports of the largest size, or a hundred large requests, at once."""

RETRY_AFTER_S = 2


class BodyMemory:
    """Counts the bytes of bodies from arrival to the end of the response; on the event loop."""

    def __init__(self, most: int = MAX_BYTES) -> None:
        self._most = most
        self.held = 0

    def share(self, receive: Receive, *, at_least: int) -> "BodyShare":
        """Return the counter of one request; a single body of `at_least` bytes always fits."""
        return BodyShare(self, receive, max(self._most, at_least))


class BodyShare:
    """Counts the body of one request and serves as its ASGI `receive`."""

    def __init__(self, total: BodyMemory, receive: Receive, most: int) -> None:
        self._total = total
        self._receive = receive
        self._most = most
        self._held = 0

    async def __call__(self) -> Message:
        """Return the next message if its bytes fit.

        Raises:
            UnavailableError: other requests hold too many bytes already.
        """
        message = await self._receive()
        if size := len(message.get("body", b"")):
            self._take(size)
        return message

    def release(self) -> None:
        """Free the bytes of a request that was answered."""
        self._total.held -= self._held
        self._held = 0

    def _take(self, size: int) -> None:
        if self._total.held + size > self._most:
            self.release()
            raise UnavailableError(
                "the server holds too many request bodies: try again in a moment",
                retryAfterSeconds=RETRY_AFTER_S,
            )
        self._total.held += size
        self._held += size


MAX_STREAMS = 400
MAX_STREAMS_OF_KEY = 100


class Streams:
    """Counts the open streams; lives on the event loop."""

    def __init__(self, *, most: int = MAX_STREAMS, most_of_key: int = MAX_STREAMS_OF_KEY) -> None:
        self._most = most
        self._most_of_key = most_of_key
        self._open: Counter[str | None] = Counter()
        self.count = 0

    def open(self, key_id: str | None) -> bool:
        """Count one more stream; return False at the limit."""
        if self.count >= self._most or self._open[key_id] >= self._most_of_key:
            return False
        self.count += 1
        self._open[key_id] += 1
        return True

    def close(self, key_id: str | None) -> None:
        """Uncount a stream that was closed."""
        self.count -= 1
        self._open[key_id] -= 1
        if not self._open[key_id]:
            del self._open[key_id]


CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self';"
    " frame-ancestors 'none'"
)

SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
)

NEVER_STORED = ("/api", "/mcp", "/admin")
"""Below these paths no response may be cached, except for the public help pages."""

_HELP = "/admin/help/"

NO_STORE = (b"cache-control", b"no-store")
_EVENT_STREAM = b"text/event-stream"
_SHARED_METHODS = "GET, POST, PUT, PATCH, DELETE"
_SHARED_SECONDS = "600"
_RETRY_AFTER_S = 5


class _StreamRefusedError(Exception):
    """Ends an application whose stream was refused; only the guard catches it."""


class Guard:
    """ASGI middleware in front of the application."""

    def __init__(
        self,
        application: ASGIApp,
        gate: Gate,
        streams: Streams | None = None,
        bodies: BodyMemory | None = None,
    ) -> None:
        self._application = application
        self._gate = gate
        self._streams = streams or Streams()
        self._bodies = bodies or BodyMemory()
        self._names = AllowedNames(gate.settings.global_)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it to the application."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        exchange = scope[EXCHANGE] = Exchange()
        send_with_headers = self._adding_headers(scope, send, exchange)
        try:
            refusal = self._admit(scope, exchange)
        except (QmsError, HTTPException) as error:
            refusal = answer_error(error)
        if refusal is not None:
            await refusal(scope, receive, send_with_headers)
            return
        largest = self._gate.settings.global_.limits.import_bytes
        body = self._bodies.share(receive, at_least=largest)
        try:
            await self._application(scope, body, send_with_headers)
        except (_StreamRefusedError, ExceptionGroup, RuntimeError):
            # The refusal itself, alone or from a task group; or, when the application answers the
            # refusal with an error page, the server's complaint about a second answer.
            if not exchange.is_refused:
                raise
        finally:
            body.release()
            if exchange.has_stream:
                self._streams.close(exchange.key_id)

    def _admit(self, scope: Scope, exchange: Exchange) -> Response | None:
        """Return None for an accepted request, or the response to a CORS preflight.

        Raises:
            QmsError, HTTPException: the request is refused.
        """
        head = read_head(scope)
        check_limits(scope, head)
        host = only_host(head)
        names = self._allowed_names()
        if names.settings.behind_proxy:
            _believe_proxy(scope, head)
        names.check_host(host, scope)
        exchange.foreign_origin = names.check_origin(head, scope)
        return _preflight(scope) if exchange.foreign_origin else None

    def _allowed_names(self) -> AllowedNames:
        settings = self._gate.settings.global_
        if settings is not self._names.settings:
            self._names = AllowedNames(settings)
        return self._names

    def _adding_headers(self, scope: Scope, send: Send, exchange: Exchange) -> Send:
        """Return a `send` that adds the common headers to a response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"] = _with_headers(scope, message, exchange)
                if _is_stream(headers):
                    await self._open_stream(scope, send, exchange)
            await send(message)

        return send_with_headers

    async def _open_stream(self, scope: Scope, send: Send, exchange: Exchange) -> None:
        if self._streams.open(exchange.key_id):
            exchange.has_stream = True
            return
        exchange.is_refused = True
        error = UnavailableError(
            "too many streams are open: close some, or try again later",
            retryAfterSeconds=_RETRY_AFTER_S,
        )
        await answer_error(error)(scope, _nothing, self._adding_headers(scope, send, exchange))
        raise _StreamRefusedError


def _with_headers(scope: Scope, message: Message, exchange: Exchange) -> list[tuple[bytes, bytes]]:
    headers = list(message.get("headers", ()))
    path: str = scope["path"]
    if path.startswith(NEVER_STORED) and not path.startswith(_HELP):
        headers = [header for header in headers if header[0] != NO_STORE[0]]
        headers.append(NO_STORE)
    elif not any(name == NO_STORE[0] for name, _ in headers):
        headers.append(NO_STORE)
    headers.extend(SECURITY_HEADERS)
    if exchange.foreign_origin is not None:
        headers += (
            (b"access-control-allow-origin", exchange.foreign_origin.encode("latin-1")),
            (b"access-control-expose-headers", b"*"),
            (b"vary", b"Origin"),
        )
    return headers


def _is_stream(headers: list[tuple[bytes, bytes]]) -> bool:
    return any(
        name == b"content-type" and value.startswith(_EVENT_STREAM) for name, value in headers
    )


def _believe_proxy(scope: Scope, head: Head) -> None:
    """Take the client's address and scheme from the last proxy's headers."""
    address = head.forwarded_for.rpartition(",")[2].strip()
    if address:
        scope["client"] = (address, 0)
    scheme = head.forwarded_scheme.rpartition(",")[2].strip().lower()
    if scheme in ("http", "https"):
        scope["scheme"] = scheme


def _preflight(scope: Scope) -> Response | None:
    """Return the response to a CORS preflight, or None for any other request."""
    headers = Headers(scope=scope)
    if scope["method"] != "OPTIONS" or "access-control-request-method" not in headers:
        return None
    allowed = {
        "access-control-allow-methods": _SHARED_METHODS,
        "access-control-allow-headers": headers.get("access-control-request-headers", ""),
        "access-control-max-age": _SHARED_SECONDS,
    }
    return Response(status_code=204, headers=allowed)


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
