"""JSON-RPC messages as a bridge sees them: who asks for what, and nothing more of their content."""

import base64
import re
from typing import Any

import msgspec

MODERN_VERSION = "io.modelcontextprotocol/protocolVersion"
"""Where a message of a revision without sessions says which revision it is."""

CALL = "tools/call"
LISTEN = "subscriptions/listen"

PARSE_ERROR = -32700
SERVER_ERROR = -32000
"""The first of the codes that JSON-RPC leaves to implementations."""

_NAMED_BY = {CALL: "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_ENCODED = re.compile(r"=\?base64\?.*\?=")


class _Params(msgspec.Struct, frozen=True):
    name: Any = None
    uri: Any = None
    request_id: Any = msgspec.field(name="requestId", default=None)
    meta: Any = msgspec.field(name="_meta", default=None)


class _Envelope(msgspec.Struct, frozen=True):
    id: Any = msgspec.UNSET
    method: Any = None
    params: msgspec.Raw = msgspec.Raw(b"{}")


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message of the client, whole, with what decides where it goes."""

    content: bytes
    id: int | float | str | None = None
    """None for a notification, and for an answer to what the server asked."""
    method: str = ""
    name: str = ""
    """The tool, prompt or address that it is about."""
    cancels: int | float | str | None = None
    """The request that it takes back."""
    revision: str = ""
    """Only in messages of revisions without sessions."""

    @property
    def is_request(self) -> bool:
        """Say whether somebody waits for an answer."""
        return self.id is not None and bool(self.method)

    def headers(self) -> dict[str, str]:
        """Return the headers that repeat what the message says, where its revision has them."""
        if not self.revision:
            return {}
        repeated = {"MCP-Protocol-Version": self.revision, "Mcp-Method": self.method}
        return repeated | ({"Mcp-Name": header_value(self.name)} if self.name else {})


def read_message(content: bytes) -> Message | None:
    """Return what a line says, or None when it is no JSON; anything else is for the server."""
    try:
        envelope = msgspec.json.decode(content, type=_Envelope)
    except msgspec.ValidationError:
        return Message(content=content)
    except msgspec.DecodeError:
        return None
    try:
        params = msgspec.json.decode(envelope.params, type=_Params)
    except msgspec.ValidationError:
        params = _Params()
    method = envelope.method if isinstance(envelope.method, str) else ""
    name = getattr(params, _NAMED_BY.get(method, ""), None)
    revision = params.meta.get(MODERN_VERSION) if isinstance(params.meta, dict) else None
    return Message(
        content=content,
        id=_identity(envelope.id),
        method=method,
        name=name if isinstance(name, str) else "",
        cancels=_identity(params.request_id) if method == "notifications/cancelled" else None,
        revision=revision if isinstance(revision, str) else "",
    )


def header_value(text: str) -> str:
    """Return a text as a header carries it, encoded where it could not as it is."""
    if _PLAIN.fullmatch(text) and not _ENCODED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'surrogatepass')).decode()}?="


def error_answer(identity: Any, message: str, *, code: int = SERVER_ERROR, data: Any = None) -> Any:
    """Return the answer that a request failed."""
    error = {"code": code, "message": message}
    return {
        "jsonrpc": "2.0",
        "id": identity,
        "error": error if data is None else {**error, "data": data},
    }


def _identity(value: Any) -> int | float | str | None:
    is_one = isinstance(value, int | float | str) and not isinstance(value, bool)
    return value if is_one else None
