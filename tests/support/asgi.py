"""A small client that calls an ASGI application in process, on an event loop of its own."""

import asyncio
import threading
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

import msgspec
from starlette.types import ASGIApp

HOST = "127.0.0.1:5080"
"""How the requests of tests name the server."""


class Answer(msgspec.Struct, frozen=True):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Return the body as a JSON value."""
        return msgspec.json.decode(self.body)


class AsgiClient:
    """Calls an application from any thread."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the event loop."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        headers: Iterable[tuple[str, str]] = (),
        chunks: Iterable[bytes] = (b"",),
        leaves: bool = False,
        host: str | None = HOST,
        address: str = "127.0.0.1",
    ) -> Answer:
        """Send one request, its body in chunks, and return the answer; or leave before its end."""
        named = [] if host is None else [("host", host)]
        scope = _scope(method, path, [*named, *headers], address)
        work = self._send(scope, chunks, leaves=leaves)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=60)

    def post(self, path: str, content: Any, *, key: str | None = None) -> Answer:
        """Send a JSON value; bytes go as they are."""
        body = content if isinstance(content, bytes) else msgspec.json.encode(content)
        headers = [("content-type", "application/json"), ("content-length", str(len(body)))]
        if key is not None:
            headers.append(("authorization", f"Bearer {key}"))
        return self.request("POST", path, headers=headers, chunks=[body])

    async def _send(
        self, scope: dict[str, Any], chunks: Iterable[bytes], *, leaves: bool
    ) -> Answer:
        waiting = iter(chunks)
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            chunk = next(waiting, None)
            if chunk is None and leaves:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": chunk or b"", "more_body": chunk is not None}

        async def send(message: Any) -> None:
            sent.append(message)

        await self._application(scope, receive, send)
        names = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in sent[0]["headers"]
        }
        body = b"".join(message.get("body", b"") for message in sent[1:])
        return Answer(sent[0]["status"], names, body)


def _scope(
    method: str, path: str, headers: Iterable[tuple[str, str]], address: str
) -> dict[str, Any]:
    target, _, query = path.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(target),
        "raw_path": target.encode("latin-1", "replace"),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [
            (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers
        ],
        "client": (address, 50000),
        "server": ("127.0.0.1", 5080),
    }
