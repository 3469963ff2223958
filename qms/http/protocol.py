"""HTTP/1.1 connections with timeouts for slow clients.

uvicorn waits forever for a head, for a body and for the client to read the response. Here each has
a timeout, checked once a second. Invalid HTTP gets a response in the shape of all errors.
"""

import asyncio
import re
import sys
from collections.abc import Iterable
from enum import Enum
from http import HTTPStatus
from typing import Any

import h11
import msgspec
from starlette.exceptions import HTTPException
from uvicorn.protocols.http.h11_impl import H11Protocol

from qms.auth.keyring import no_valid_key
from qms.http.errors import answer_error
from qms.http.guard import NO_STORE, SECURITY_HEADERS
from qms.memory.errors import InvalidInputError, QmsError, UnavailableError

MAX_CONNECTIONS = 1000
KEEP_ALIVE_S = 60
MAX_HEAD_BYTES = 64 * 1024
"""A longer incomplete head is refused; the guard checks the size of complete ones."""

MAX_STEP_S = 2.0
"""At most this much of the time between two checks counts as waiting."""

_CREDENTIAL = re.compile(rb"(?:authorization|x-api-key)[ \t]*:", re.IGNORECASE)
_CLOSE = (b"connection", b"close")
_RETRY_AFTER_S = 1


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """Timeouts and limits for a slow client."""

    head_s: float = 10.0
    body_s: float = 10.0
    body_bytes_per_s: float = 32 * 1024.0
    """The least average rate of a body after `body_s`."""
    reading_s: float = 60.0
    """How long a response may stay unread."""
    leaving_s: float = 5.0
    """How long input after a refusal is read and dropped, so that the client can read the error."""
    leaving_bytes: int = 16 * 1024 * 1024


class Phase(Enum):
    """What a connection is waiting for."""

    HEAD = "the head of a request"
    IDLE = "another request, or none"
    BODY = "the rest of a body"
    SERVER = "the server's own work"
    READING = "the client to read the answer"
    LEAVING = "the end of input that is dropped"


class TimeoutProtocol(H11Protocol):
    """One connection; `check` closes it when its client takes too long."""

    patience = Patience()
    max_connections = MAX_CONNECTIONS

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._received_bytes = 0
        self._bytes_before = 0
        self._seen: tuple[Phase, object] = (Phase.HEAD, None)
        self._is_refused = False
        self.since_s = self._checked_s = self.loop.time()
        self._waited_s = 0.0

    @property
    def phase(self) -> Phase:
        """Return what the connection is waiting for."""
        has_answered = getattr(self.cycle, "response_complete", True)
        if self._is_refused:
            return Phase.LEAVING
        if self.flow.write_paused:
            return Phase.READING
        if self.conn.their_state is h11.SEND_BODY:
            if has_answered:
                return Phase.LEAVING
            return Phase.SERVER if self.flow.read_paused else Phase.BODY
        if not has_answered:
            return Phase.SERVER
        return Phase.HEAD if self.timeout_keep_alive_task is None else Phase.IDLE

    def check(self, now_s: float) -> None:
        """Close the connection when it has waited too long for its client."""
        phase, step_s = self.phase, now_s - self._checked_s
        self._checked_s = now_s
        if (phase, self.cycle) != self._seen:
            self._seen, self.since_s = (phase, self.cycle), now_s
            self._waited_s, self._bytes_before = 0.0, self._received_bytes
            return
        # A late check is the server's delay, not the client's: its bytes may be waiting unread.
        self._waited_s += min(step_s, MAX_STEP_S)
        if self._is_overdue(phase, self._waited_s):
            self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Accept a connection; at the limit, close one that waits for its client first."""
        super().connection_made(transport)
        if len(self.connections) > self.max_connections and not self._make_room():
            self._refuse(UnavailableError("too many connections", retryAfterSeconds=_RETRY_AFTER_S))

    def data_received(self, data: bytes) -> None:
        """Process received bytes, or drop them after a refusal."""
        self._received_bytes += len(data)
        if not self._is_refused:
            super().data_received(data)
        elif self._received_bytes - self._bytes_before > self.patience.leaving_bytes:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's own text
        """Answer bytes that are not a valid HTTP request."""
        self._refuse(_refusal_of(sys.exception(), self.conn.trailing_data[0]))

    def _is_overdue(self, phase: Phase, waited_s: float) -> bool:
        patience, moved = self.patience, self._received_bytes - self._bytes_before
        match phase:
            case Phase.HEAD:
                return waited_s > patience.head_s
            case Phase.BODY:
                return waited_s > patience.body_s + moved / patience.body_bytes_per_s
            case Phase.READING:
                return waited_s > patience.reading_s
            case Phase.LEAVING:
                return waited_s > patience.leaving_s or moved > patience.leaving_bytes
            case Phase.IDLE | Phase.SERVER:
                return False  # uvicorn times idle connections; server time is not the client's

    def _make_room(self) -> bool:
        """Close the connection that has waited longest for a request, if there is one."""
        waiting = [
            other
            for other in self.connections
            if isinstance(other, TimeoutProtocol)
            and other is not self
            and other.phase in (Phase.HEAD, Phase.IDLE, Phase.LEAVING)
        ]
        if not waiting:
            return False
        oldest = min(waiting, key=lambda other: other.since_s)
        oldest.transport.abort()
        # `connection_lost` is called later; until then it must not be chosen again.
        self.connections.discard(oldest)
        return True

    def _refuse(self, error: QmsError | HTTPException) -> None:
        """Answer with an error, then read and drop input until the client closes."""
        self._is_refused = True
        self._bytes_before = self._received_bytes
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        if not getattr(self.cycle, "response_complete", True):
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.write(self._encoded(error))
        if self.transport.can_write_eof():
            # Closing now would reset the connection before the client has read the error.
            self.transport.write_eof()
        else:
            self.transport.close()

    def _encoded(self, error: QmsError | HTTPException) -> bytes:
        answer = answer_error(error)
        headers: Iterable[tuple[bytes, bytes]] = (
            *answer.raw_headers,
            NO_STORE,
            *SECURITY_HEADERS,
            _CLOSE,
        )
        events = (
            h11.Response(status_code=answer.status_code, headers=list(headers)),
            h11.Data(data=bytes(answer.body)),
            h11.EndOfMessage(),
        )
        return b"".join(self.conn.send(event) or b"" for event in events)


def check_connections(connections: Iterable[asyncio.Protocol], now_s: float) -> None:
    """Close every connection that has waited too long for its client."""
    for connection in list(connections):
        if isinstance(connection, TimeoutProtocol):
            connection.check(now_s)


def _refusal_of(error: BaseException | None, pending: bytes) -> QmsError | HTTPException:
    """Return the error for a head that h11 rejects; `pending` is the unparsed input."""
    if getattr(error, "error_status_hint", None) == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
        if b"\n" not in pending:
            return HTTPException(414)
        is_key = _CREDENTIAL.match(pending.rpartition(b"\n")[2])
        return no_valid_key() if is_key else HTTPException(431)
    if _CREDENTIAL.search(str(error).encode("utf-8", "replace")):
        return no_valid_key()  # a key that no header can carry is unknown
    return InvalidInputError("this is not a valid HTTP/1.1 request")
