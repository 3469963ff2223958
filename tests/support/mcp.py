"""MCP clients for tests: of the revision without sessions, and of those with one."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tests.support.asgi import Answer, AnswerStream, AsgiClient
from tests.support.house import key_of

MODERN = "2026-07-28"
SESSION_REVISIONS = ("2025-11-25", "2025-06-18", "2025-03-26")

_META = "io.modelcontextprotocol/"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_EVENT = re.compile(rb"^data: ?(.*?)\r?$", re.MULTILINE)


def events(body: bytes) -> list[Any]:
    """Return the messages in a body of server-sent events."""
    return [msgspec.json.decode(found) for found in _EVENT.findall(body) if found.strip()]


class McpClient:
    """One user's way into one project, by the revision that needs no session."""

    revision = MODERN

    def __init__(
        self, client: AsgiClient, user: str, project: str = "projA", *, query: str = ""
    ) -> None:
        self._client = client
        self.key = key_of(user)
        self.path = f"/mcp/{project}{query}"
        self._ids = 0

    def headers(self, method: str = "", params: Mapping[str, Any] | None = None) -> dict[str, str]:
        """Return what goes with every message."""
        said = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "authorization": f"Bearer {self.key}",
            "mcp-protocol-version": self.revision,
            "mcp-method": method,
        }
        name = (params or {}).get(_NAMED.get(method, ""))
        return {**said, "mcp-name": name} if isinstance(name, str) else said

    def message(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return a request of the protocol."""
        self._ids += 1
        given = dict(params or {})
        given["_meta"] = {
            f"{_META}protocolVersion": self.revision,
            f"{_META}clientCapabilities": {},
            **given.get("_meta", {}),
        }
        return {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": given}

    def open(self, method: str, params: Mapping[str, Any] | None = None) -> AnswerStream:
        """Send a request and return its answer while it is being made."""
        body = msgspec.json.encode(self.message(method, params))
        headers = self.headers(method, params)
        return self._client.open("POST", self.path, headers=headers.items(), chunks=[body])

    def send(self, method: str, params: Mapping[str, Any] | None = None) -> Answer:
        """Send a request and return the answer as it is."""
        return self.open(method, params).result()

    def messages(self, method: str, params: Mapping[str, Any] | None = None) -> list[Any]:
        """Send a request and return everything that comes back, the response last."""
        answer = self.send(method, params)
        if answer.headers.get("content-type", "").startswith("text/event-stream"):
            return events(answer.body)
        return [answer.json]

    def result(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Send a request that succeeds and return its result."""
        response = self.messages(method, params)[-1]
        assert "result" in response, response
        return response["result"]

    def error(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Send a request that fails and return the error of the protocol."""
        response = self.messages(method, params)[-1]
        assert set(response) == {"jsonrpc", "id", "error"}, response
        return response["error"]

    def tools(self) -> list[str]:
        """Return the names of the tools that are offered."""
        return [tool["name"] for tool in self.result("tools/list")["tools"]]

    def call(self, name: str, **arguments: Any) -> Any:
        """Call a tool that succeeds and return its structured content, which is its text too."""
        result = self.result("tools/call", {"name": name, "arguments": arguments})
        assert not result["isError"], result
        [content] = result["content"]
        assert msgspec.json.decode(content["text"]) == result["structuredContent"]
        return result["structuredContent"]

    def fails(self, name: str, **arguments: Any) -> Any:
        """Call a tool that is refused and return the error object of the house."""
        result = self.result("tools/call", {"name": name, "arguments": arguments})
        assert result["isError"], result
        [content] = result["content"]
        assert msgspec.json.decode(content["text"]) == result["structuredContent"]
        return result["structuredContent"]["error"]


class SessionClient(McpClient):
    """The same for the revisions that begin with `initialize`."""

    def __init__(
        self,
        client: AsgiClient,
        user: str,
        project: str = "projA",
        *,
        query: str = "",
        revision: str = SESSION_REVISIONS[0],
    ) -> None:
        super().__init__(client, user, project, query=query)
        self.revision = revision
        self.session = ""
        self.began = self._begin()

    def headers(self, method: str = "", params: Mapping[str, Any] | None = None) -> dict[str, str]:
        said = super().headers()
        del said["mcp-method"]
        if not self.session:
            del said["mcp-protocol-version"]
            return said
        return {**said, "mcp-session-id": self.session}

    def message(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        self._ids += 1
        message = {"jsonrpc": "2.0", "id": self._ids, "method": method}
        return message if params is None else {**message, "params": params}

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> Answer:
        """Send a notification."""
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        body = msgspec.json.encode(message)
        return self._client.request(
            "POST", self.path, headers=self.headers().items(), chunks=[body]
        )

    def listen(self) -> AnswerStream:
        """Open the stream on which the server speaks unasked, and wait until it can."""
        stream = self._client.open("GET", self.path, headers=self.headers().items())
        stream.wait_for_head()
        self.send("ping")
        return stream

    def end(self) -> Answer:
        """End the session."""
        return self._client.request("DELETE", self.path, headers=self.headers().items())

    def _begin(self) -> Any:
        info = {"name": "tests", "version": "1"}
        params = {"protocolVersion": self.revision, "capabilities": {}, "clientInfo": info}
        answer = self.send("initialize", params)
        assert answer.status == 200, answer.body
        self.session = answer.headers["mcp-session-id"]
        assert self.notify("notifications/initialized").status == 202
        return events(answer.body)[-1]["result"]
