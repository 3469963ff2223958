"""HTTP/1.1 on a connection whose client has to get on with it.

uvicorn waits for ever: for a head, for a body, for somebody to read its answer. Here each of them
has a time, looked at once a second, and what is no HTTP is answered in the shape of all errors.
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

from qms.api.errors import answer_error
from qms.api.guard import NO_STORE, SECURITY_HEADERS
from qms.domain.errors import InvalidInputError, QmsError, UnavailableError
from qms.service.keyring import no_valid_key

MAX_CONNECTIONS = 1000
KEEP_ALIVE_S = 60
MAX_HEAD_BYTES = 64 * 1024
"""A head that is longer and still not complete is not waited for; the guard judges shorter ones."""

MAX_STEP_S = 2.0
"""How much of the time between two looks at a connection counts."""

_CREDENTIAL = re.compile(rb"(?:authorization|x-api-key)[ \t]*:", re.IGNORECASE)
_CLOSE = (b"connection", b"close")
_RETRY_AFTER_S = 1


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How long a client may take, in seconds."""

    head_s: float = 10.0
    body_s: float = 10.0
    body_bytes_per_s: float = 32 * 1024.0
    """What a body has to arrive with on average, once `body_s` are over."""
    reading_s: float = 60.0
    """How long an answer may lie unread."""
    leaving_s: float = 5.0
    """How long what follows a refusal is thrown away, so that the client gets to read it."""
    leaving_bytes: int = 16 * 1024 * 1024


class Phase(Enum):
    """What a connection is waiting for."""

    HEAD = "the head of a request"
    IDLE = "another request, or none"
    BODY = "the rest of a body"
    SERVER = "the server's own work"
    READING = "the client to read the answer"
    LEAVING = "the end of what nobody reads any more"


class PatientProtocol(H11Protocol):
    """One connection; `check` ends it when its client takes too long."""

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
        """End the connection when it has waited too long for its client."""
        phase, step_s = self.phase, now_s - self._checked_s
        self._checked_s = now_s
        if (phase, self.cycle) != self._seen:
            self._seen, self.since_s = (phase, self.cycle), now_s
            self._waited_s, self._bytes_before = 0.0, self._received_bytes
            return
        # When the server itself is late, its clients are not to blame: what they sent lies there.
        self._waited_s += min(step_s, MAX_STEP_S)
        if self._is_overdue(phase, self._waited_s):
            self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take a connection up, if need be in the place of one that is waiting for its client."""
        super().connection_made(transport)
        if len(self.connections) > self.max_connections and not self._make_room():
            self._refuse(UnavailableError("too many connections", retryAfterSeconds=_RETRY_AFTER_S))

    def data_received(self, data: bytes) -> None:
        """Take bytes in, unless nobody is interested in them any more."""
        self._received_bytes += len(data)
        if not self._is_refused:
            super().data_received(data)
        elif self._received_bytes - self._bytes_before > self.patience.leaving_bytes:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - what uvicorn says of it
        """Answer what is no HTTP request."""
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
                return False  # uvicorn has a timer for the one, and the other is our own affair

    def _make_room(self) -> bool:
        """End the connection that has waited longest for a request, if there is one."""
        waiting = [
            other
            for other in self.connections
            if isinstance(other, PatientProtocol)
            and other is not self
            and other.phase in (Phase.HEAD, Phase.IDLE, Phase.LEAVING)
        ]
        if not waiting:
            return False
        oldest = min(waiting, key=lambda other: other.since_s)
        oldest.transport.abort()
        # It hears of its end later, and must not be chosen again until then.
        self.connections.discard(oldest)
        return True

    def _refuse(self, error: QmsError | HTTPException) -> None:
        """Answer with an error, and read on only to let the client notice it."""
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
            # Closing at once would reset the connection, and the answer with it.
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
    """End every connection that has waited too long for its client."""
    for connection in list(connections):
        if isinstance(connection, PatientProtocol):
            connection.check(now_s)


def _refusal_of(error: BaseException | None, pending: bytes) -> QmsError | HTTPException:
    """Return the answer to a head that h11 does not accept; `pending` is what it has not read."""
    if getattr(error, "error_status_hint", None) == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
        if b"\n" not in pending:
            return HTTPException(414)
        is_key = _CREDENTIAL.match(pending.rpartition(b"\n")[2])
        return no_valid_key() if is_key else HTTPException(431)
    if _CREDENTIAL.search(str(error).encode("utf-8", "replace")):
        return no_valid_key()  # a key that no header can carry is nobody's
    return InvalidInputError("this is not a proper HTTP/1.1 request")
