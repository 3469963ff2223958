"""How the SDK answers in sessions: brief calls with one document, all others with a stream.

Since 2026-07-28 the SDK does so by itself. For the revisions before, it opens a stream for every
call, four tasks and three packets for one answer, unless told never to open one. The protocol
leaves the choice to the server, and every client understands both.
"""

from contextvars import ContextVar
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

_IS_BRIEF: ContextVar[bool] = ContextVar("is_brief", default=False)


class _OfThisRequest:
    """A setting of a session that depends on the request at hand."""

    def __get__(self, _session: object, _kind: type) -> bool:
        return _IS_BRIEF.get()

    def __set__(self, _session: object, _value: bool) -> None:
        pass


class _Transport(StreamableHTTPServerTransport):
    is_json_response_enabled: Any = _OfThisRequest()


class SessionManager(StreamableHTTPSessionManager):
    """The SDK's sessions of one project."""

    async def answer(self, scope: Scope, receive: Receive, send: Send, *, is_brief: bool) -> None:
        """Answer a request; a brief one has nothing to tell its client before the answer."""
        token = _IS_BRIEF.set(is_brief)
        try:
            await self.handle_request(scope, receive, send)
        finally:
            _IS_BRIEF.reset(token)

    def _admit_session(
        self, requestor: AuthorizationContext | None
    ) -> StreamableHTTPServerTransport | None:
        made = super()._admit_session(requestor)
        if made is not None:
            # The SDK has no other way to a transport of one's own.
            made.__class__ = _Transport
        return made
