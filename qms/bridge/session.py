"""The state of a client's session, so that it can be restored on another server."""

from typing import Any

import msgspec

from qms.bridge.messages import Message

_OWN_ID = "qms-bridge"
_INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


class _Server(msgspec.Struct, frozen=True):
    protocol_version: str = msgspec.field(name="protocolVersion", default="")


class _Initialized(msgspec.Struct, frozen=True):
    result: _Server = _Server()


class ClientSession:
    """One client's session, across server restarts."""

    def __init__(self, initialize: Message) -> None:
        self._initialize = initialize
        self._followed: dict[str, Message] = {}
        self._log_level: Message | None = None
        self._id: str | None = None
        self._revision = ""
        self.is_ready = False
        """Whether the client has sent `notifications/initialized`."""

    @property
    def id(self) -> str | None:
        """Return the server's id of the session, if it has one."""
        return self._id

    def headers(self) -> dict[str, str]:
        """Return the headers of every message of the session."""
        headers = {} if self._id is None else {"Mcp-Session-Id": self._id}
        return headers | ({"MCP-Protocol-Version": self._revision} if self._revision else {})

    def begin(self, session_id: str | None, answer: bytes) -> None:
        """Store session id and revision from the answer to `initialize`."""
        self._id = session_id
        self._revision = msgspec.json.decode(answer, type=_Initialized).result.protocol_version

    def note(self, message: Message) -> None:
        """Remember a message that a restored session must repeat."""
        match message.method:
            case "notifications/initialized":
                self.is_ready = True
            case "resources/subscribe":
                self._followed[_address(message)] = message
            case "resources/unsubscribe":
                self._followed.pop(_address(message), None)
            case "logging/setLevel":
                self._log_level = message

    def opening(self) -> bytes:
        """Return the message that opens a new session like this one."""
        return _with_id(self._initialize, f"{_OWN_ID}-0")

    def repetition(self) -> list[bytes]:
        """Return the messages that a restored session must repeat before the client uses it."""
        if not self.is_ready:
            return []
        noted = [*self._followed.values(), *([self._log_level] if self._log_level else [])]
        return [
            _INITIALIZED,
            *(_with_id(one, f"{_OWN_ID}-{number}") for number, one in enumerate(noted, start=1)),
        ]


def _address(message: Message) -> str:
    params: Any = msgspec.json.decode(message.content).get("params", {})
    return str(params.get("uri")) if isinstance(params, dict) else ""


def _with_id(message: Message, identity: str) -> bytes:
    return msgspec.json.encode(msgspec.json.decode(message.content) | {"id": identity})
