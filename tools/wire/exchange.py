"""Requests to a server over HTTP, plain or of MCP without a session, and their answers."""

import http.client
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

REVISION = "2026-07-28"
ANSWER_LIMIT_S = 120
STREAM = "text/event-stream"

_META = "io.modelcontextprotocol/"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@dataclass(frozen=True)
class Answer:
    """An answer over HTTP."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """Return the body as text."""
        return self.body.decode("utf-8", "backslashreplace")

    @property
    def value(self) -> Any:
        """Return the body as JSON; of an event stream all its messages, as a list."""
        if self.headers.get("content-type", "").startswith(STREAM):
            return [
                json.loads(one) for one in re.findall(r"^data: ?(\S.*)$", self.text, re.MULTILINE)
            ]
        return parsed(self.text)


def key_of(user: str) -> str:
    """Return the key of a user of the recorded configuration."""
    return f"qms_key_of_the_{user}_for_recordings"


def ask(
    port: int, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None
) -> Answer:
    """Send a request on a connection of its own and return its answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_LIMIT_S)
    try:
        connection.request(method, path, body, dict(headers))
        given = connection.getresponse()
        found: dict[str, str] = {}
        for name, value in given.getheaders():
            found[name.lower()] = (
                f"{found[name.lower()]}, {value}" if name.lower() in found else value
            )
        return Answer(given.status, found, given.read())
    finally:
        connection.close()


def key_header(user: str) -> dict[str, str]:
    """Return the header that carries the key of a user, none for nobody."""
    return {"Authorization": f"Bearer {key_of(user)}"} if user else {}


def mcp_headers(method: str, params: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers that go with a request of MCP."""
    headers = {
        "Accept": f"application/json, {STREAM}",
        "MCP-Protocol-Version": REVISION,
        "Mcp-Method": method,
    }
    name = params.get(_NAMED.get(method, ""))
    return {**headers, "Mcp-Name": name} if isinstance(name, str) else headers


def mcp_message(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request of MCP."""
    meta = {f"{_META}protocolVersion": REVISION, f"{_META}clientCapabilities": {}}
    given = {**params, "_meta": {**meta, **params.get("_meta", {})}}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": given}


def parsed(text: str) -> Any:
    """Return the value of a text that is JSON, None for any other."""
    try:
        return json.loads(text)
    except ValueError:
        return None
