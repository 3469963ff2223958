"""JSON-RPC messages of the client, parsed only as far as the bridge needs."""

import base64
import re
from typing import Any

import msgspec

from qms.memory.errors import UNDECODABLE

MODERN_VERSION = "io.modelcontextprotocol/protocolVersion"
"""The `_meta` key with the revision, in messages of revisions without sessions."""

CALL = "tools/call"
LISTEN = "subscriptions/listen"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
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
    method: Any = msgspec.UNSET
    params: msgspec.Raw = msgspec.Raw(b"{}")
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET

    @property
    def fault(self) -> str:
        """Return why this is not a JSON-RPC message; empty if it is one."""
        is_answer = self.result is not msgspec.UNSET or self.error is not msgspec.UNSET
        if self.method is msgspec.UNSET and not is_answer:
            return "the message has neither a method nor a result"
        if self.method is not msgspec.UNSET and not (isinstance(self.method, str) and self.method):
            return "method must be a non-empty string"
        if self.id is not msgspec.UNSET and _identity(self.id) is None:
            return "id must be a string or a number"
        return ""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message of the client, with the fields that decide how to forward it."""

    content: bytes
    id: int | float | str | None = None
    """None for a notification."""
    method: str = ""
    name: str = ""
    """The name of the tool or prompt, or the URI of the resource."""
    cancels: int | float | str | None = None
    """The id of the request that it cancels."""
    revision: str = ""
    """Only in messages of revisions without sessions."""
    fault: str = ""
    """Why it is not a JSON-RPC message; the bridge then answers it and does not forward it."""

    @property
    def is_request(self) -> bool:
        """Say whether the client expects an answer."""
        return self.id is not None and bool(self.method)

    def headers(self) -> dict[str, str]:
        """Return the headers that repeat fields of the message, if its revision has them."""
        if not self.revision:
            return {}
        repeated = {"MCP-Protocol-Version": self.revision, "Mcp-Method": self.method}
        return repeated | ({"Mcp-Name": header_value(self.name)} if self.name else {})


def read_message(content: bytes) -> Message | None:
    """Parse a line; return None if it is not JSON."""
    try:
        envelope = msgspec.json.decode(content, type=_Envelope)
    except msgspec.ValidationError:
        return Message(content=content, fault="a message must be one JSON object")
    except UNDECODABLE:
        return None
    try:
        params = msgspec.json.decode(envelope.params, type=_Params)
    except msgspec.ValidationError:
        params = _Params()
    if envelope.fault:
        return Message(content=content, id=_identity(envelope.id), fault=envelope.fault)
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
    """Return a text as a header value, base64-encoded if it is not plain ASCII."""
    if _PLAIN.fullmatch(text) and not _ENCODED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'surrogatepass')).decode()}?="


def error_answer(identity: Any, message: str, *, code: int = SERVER_ERROR, data: Any = None) -> Any:
    """Return the error answer to a request."""
    error = {"code": code, "message": message}
    return {
        "jsonrpc": "2.0",
        "id": identity,
        "error": error if data is None else {**error, "data": data},
    }


def _identity(value: Any) -> int | float | str | None:
    is_one = isinstance(value, int | float | str) and not isinstance(value, bool)
    return value if is_one else None
