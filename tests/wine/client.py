"""A client on Linux of the server on Windows: the MCP SDK over HTTP."""

import asyncio
import http.client
import json
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


class LinuxClient:
    """Calls tools of one project, each over a connection of its own."""

    def __init__(self, port: int, key: str, project: str = "default") -> None:
        self.port = port
        self._key = key
        self._address = f"http://127.0.0.1:{port}/mcp/{project}"

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return what a tool answers."""
        return asyncio.run(self._call(tool, arguments))

    def titles(self, text: str) -> list[str]:
        """Return the titles that a search finds, the best first."""
        found = self.call("searchEntries", query={"text": text})
        return [result["entry"]["title"] for result in found["results"]]

    def status(self) -> str:
        """Return what the server says of itself to whoever asks; nothing when it is not there."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", "/health")
            return str(json.loads(connection.getresponse().read())["status"])
        except OSError:
            return ""
        finally:
            connection.close()

    async def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        web = httpx2.AsyncClient(headers={"Authorization": f"Bearer {self._key}"}, timeout=60)
        streams = streamable_http_client(self._address, http_client=web)
        async with web, Client(streams) as client:
            answer = await client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        assert isinstance(answer.structured_content, dict)
        return answer.structured_content
