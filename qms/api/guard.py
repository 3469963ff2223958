"""What stands before every route: limits of heads, Host, Origin; and what every answer carries.

The order is that of `docs/security.md`. What comes after it, the key, the body and the tier, is
asked for by the routes, in this order too.
"""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qms.api.body_room import BodyRoom
from qms.api.errors import answer_error
from qms.api.exchanges import EXCHANGE, Exchange
from qms.api.heads import AllowedNames, Head, check_limits, only_host, read_head
from qms.api.streams import Streams
from qms.domain.errors import QmsError, UnavailableError
from qms.service.commands import Services

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
"""Below these no answer is kept by anybody, whatever its route says; help is for everybody."""

_HELP = "/admin/help/"

NO_STORE = (b"cache-control", b"no-store")
_EVENT_STREAM = b"text/event-stream"
_SHARED_METHODS = "GET, POST, PUT, PATCH, DELETE"
_SHARED_SECONDS = "600"
_RETRY_AFTER_S = 5


class _StreamRefusedError(Exception):
    """Ends an application whose stream was refused; nobody but the guard sees it."""


class Guard:
    """An ASGI application in front of another one."""

    def __init__(
        self,
        application: ASGIApp,
        services: Services,
        streams: Streams | None = None,
        bodies: BodyRoom | None = None,
    ) -> None:
        self._application = application
        self._services = services
        self._streams = streams or Streams()
        self._bodies = bodies or BodyRoom()
        self._names = AllowedNames(services.settings.global_)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        exchange = scope[EXCHANGE] = Exchange()
        dressed = self._dressing(scope, send, exchange)
        try:
            refusal = self._admit(scope, exchange)
        except (QmsError, HTTPException) as error:
            refusal = answer_error(error)
        if refusal is not None:
            await refusal(scope, receive, dressed)
            return
        largest = self._services.settings.global_.limits.import_bytes
        body = self._bodies.share(receive, at_least=largest)
        try:
            await self._application(scope, body, dressed)
        except Exception:
            # An application whose answer was replaced by a refusal may well stumble over it.
            if not exchange.is_refused:
                raise
        finally:
            body.release()
            if exchange.has_stream:
                self._streams.close(exchange.key_id)

    def _admit(self, scope: Scope, exchange: Exchange) -> Response | None:
        """Return None for a request that may go on, or the answer to a browser's question.

        Raises:
            QmsError, HTTPException: it may not.
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
        settings = self._services.settings.global_
        if settings is not self._names.settings:
            self._names = AllowedNames(settings)
        return self._names

    def _dressing(self, scope: Scope, send: Send, exchange: Exchange) -> Send:
        """Return a `send` that gives an answer the headers that every one has."""

        async def dress(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"] = _with_headers(scope, message, exchange)
                if _is_stream(headers):
                    await self._open_stream(scope, send, exchange)
            await send(message)

        return dress

    async def _open_stream(self, scope: Scope, send: Send, exchange: Exchange) -> None:
        if self._streams.open(exchange.key_id):
            exchange.has_stream = True
            return
        exchange.is_refused = True
        error = UnavailableError(
            "too many streams are open: close some, or try again later",
            retryAfterSeconds=_RETRY_AFTER_S,
        )
        await answer_error(error)(scope, _nothing, self._dressing(scope, send, exchange))
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
    """Take address and scheme of the client from the proxy: what the last one wrote."""
    address = head.forwarded_for.rpartition(",")[2].strip()
    if address:
        scope["client"] = (address, 0)
    scheme = head.forwarded_scheme.rpartition(",")[2].strip().lower()
    if scheme in ("http", "https"):
        scope["scheme"] = scheme


def _preflight(scope: Scope) -> Response | None:
    """Return the answer to a browser that asks whether it may send a request."""
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
