"""Messages of the server: answers, notifications before an answer, and refusals."""

from typing import Any

import msgspec

from qms.bridge.link import Answer
from qms.bridge.messages import Message, error_answer
from qms.memory.errors import (
    UNDECODABLE,
    NotAuthenticatedError,
    NotFoundError,
    QmsError,
    UnavailableError,
)

INTERNAL_ERROR = -32603

_BUSY = (429, 503)
_MOST_S = 5.0


class BusyError(Exception):
    """The server did not accept the message and says when to retry."""

    def __init__(self, after_s: float, refusal: QmsError) -> None:
        super().__init__(refusal.message)
        self.after_s = after_s
        self.refusal = refusal


class SessionLostError(Exception):
    """The server does not know the session and did not accept the message."""


class _Reply(msgspec.Struct, frozen=True):
    id: Any = None
    method: Any = msgspec.UNSET
    result: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


class _Hints(msgspec.Struct, frozen=True):
    is_read_only: bool = msgspec.field(name="readOnlyHint", default=False)
    is_idempotent: bool = msgspec.field(name="idempotentHint", default=False)
    is_destructive: bool = msgspec.field(name="destructiveHint", default=True)


class _Tool(msgspec.Struct, frozen=True):
    name: str
    annotations: _Hints | None = None


class _Tools(msgspec.Struct, frozen=True):
    tools: list[_Tool] = []


class Reply(msgspec.Struct, frozen=True):
    """One message of the server while a request is in flight."""

    content: bytes
    method: str
    """Empty for an answer."""
    is_success: bool = False

    @property
    def is_answer(self) -> bool:
        """Say whether it ends the request."""
        return not self.method


def read_reply(content: bytes) -> Reply:
    """Parse a message of the server."""
    reply = msgspec.json.decode(content, type=_Reply)
    method = "" if reply.method is msgspec.UNSET else str(reply.method)
    return Reply(content, method, is_success=bool(bytes(reply.result)))


def repeatable_tools(content: bytes) -> set[str]:
    """Return the tools of a `tools/list` answer that are safe to call twice."""
    try:
        found = msgspec.json.decode(msgspec.json.decode(content, type=_Reply).result, type=_Tools)
    except UNDECODABLE:
        return set()
    return {
        tool.name
        for tool in found.tools
        if (hints := tool.annotations) is not None
        and (hints.is_read_only or (hints.is_idempotent and not hints.is_destructive))
    }


def check_status(answer: Answer, message: Message, *, has_session: bool) -> bytes | None:
    """Return the answer to a refused message, or None if the answer is still to be read.

    Raises:
        SessionLostError, BusyError: the message must be sent again.
        QmsError: the server refuses it.
    """
    if answer.status < 300:
        return None
    body = answer.read()
    if answer.status == 404 and has_session:
        raise SessionLostError
    said = _decoded(body)
    if "jsonrpc" in said and "error" in said:
        return msgspec.json.encode(said | {"id": message.id})
    refusal = _refusal(said, answer.status)
    if answer.status in _BUSY:
        after = answer.header("Retry-After") or ""
        raise BusyError(min(float(after), _MOST_S) if after.isdecimal() else 1.0, refusal)
    raise refusal


def failed(message: Message, error: QmsError) -> Any:
    """Return the error answer to a request, with what to do about it."""
    notes = getattr(error, "__notes__", [])
    text = "; ".join([error.message, *notes])
    return error_answer(message.id, text, code=INTERNAL_ERROR, data=error.as_object()["error"])


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        said = msgspec.json.decode(body)
    except UNDECODABLE:
        return {}
    return said if isinstance(said, dict) else {}


def _refusal(said: dict[str, Any], status: int) -> QmsError:
    classes = {error.code: error for error in QmsError.__subclasses__()}
    match said:
        case {"error": {"code": str(code), "message": str(message), "details": dict(details)}}:
            error = classes.get(code, QmsError)(message)
            error.details = details
        case _:
            error = UnavailableError(f"the server answers with HTTP status {status}")
    if isinstance(error, NotAuthenticatedError):
        error.message = "the server refuses the key"
        error.add_note("set QMS_KEY to a key that works and start again")
        error.add_note("a lost key: `memoryctl keys create USER` on the server's own machine")
    if isinstance(error, NotFoundError):
        error.add_note("name an existing project with --project; a private one must list the user")
    return error
