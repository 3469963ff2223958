"""A small client that calls an ASGI application in process, on an event loop of its own."""

import asyncio
import threading
from collections.abc import Awaitable, Coroutine, Iterable
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar
from urllib.parse import unquote

import msgspec
from starlette.types import ASGIApp

HOST = "127.0.0.1:5080"
"""How the requests of tests name the server."""

LIMIT_S = 60

T = TypeVar("T")


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
        self._has_started = threading.Event()
        self._stopping = asyncio.Event()
        self._lifespan = asyncio.run_coroutine_threadsafe(self._live(), self._loop)
        assert self._has_started.wait(LIMIT_S), "the application did not start"

    def close(self) -> None:
        """End the application's lifespan and the event loop."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._lifespan.result(timeout=LIMIT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(_cancel_rest())
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
        stream = self.open(
            method,
            path,
            headers=headers,
            chunks=chunks,
            leaves=leaves,
            host=host,
            address=address,
        )
        return stream.result()

    def open(
        self,
        method: str,
        path: str,
        *,
        headers: Iterable[tuple[str, str]] = (),
        chunks: Iterable[bytes] = (b"",),
        leaves: bool = False,
        host: str | None = HOST,
        address: str = "127.0.0.1",
    ) -> "AnswerStream":
        """Send one request and return its answer while it is being made."""
        stream = AnswerStream(chunks, leaves=leaves)
        named = [] if host is None else [("host", host)]
        scope = _scope(method, path, [*named, *headers], address)
        work = self._application(scope, stream.receive, stream.send)
        stream.task = asyncio.run_coroutine_threadsafe(_awaited(work), self._loop)
        stream.loop = self._loop
        return stream

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something beside the application, on its event loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=LIMIT_S)

    def post(self, path: str, content: Any, *, key: str | None = None) -> Answer:
        """Send a JSON value; bytes go as they are."""
        body = content if isinstance(content, bytes) else msgspec.json.encode(content)
        headers = [("content-type", "application/json"), ("content-length", str(len(body)))]
        if key is not None:
            headers.append(("authorization", f"Bearer {key}"))
        return self.request("POST", path, headers=headers, chunks=[body])

    async def _live(self) -> None:
        """Take the application through its lifespan, from its start to `close`."""
        coming = iter(("lifespan.startup", "lifespan.shutdown"))

        async def receive() -> dict[str, Any]:
            kind = next(coming)
            if kind == "lifespan.shutdown":
                await self._stopping.wait()
            return {"type": kind}

        async def send(message: Any) -> None:
            if message["type"] == "lifespan.startup.complete":
                self._has_started.set()

        with suppress(AssertionError, KeyError):  # not every application has a lifespan
            await self._application({"type": "lifespan", "asgi": {"version": "3.0"}}, receive, send)
        self._has_started.set()


class AnswerStream:
    """One exchange with an application: what was sent, and what comes back piece by piece."""

    def __init__(self, chunks: Iterable[bytes], *, leaves: bool) -> None:
        self.task: Future[None]
        self.loop: asyncio.AbstractEventLoop
        self._waiting = iter(chunks)
        self._leaves = leaves
        self._is_whole = False
        self._over = asyncio.Event()
        self._sent: list[Any] = []
        self._has_head = threading.Event()
        self._pieces: SimpleQueue[bytes] = SimpleQueue()

    async def receive(self) -> dict[str, Any]:
        """Give the application the next piece of the request (ASGI)."""
        if self._is_whole:
            await self._over.wait()
        chunk = next(self._waiting, None)
        if self._is_whole or (chunk is None and self._leaves):
            return {"type": "http.disconnect"}
        self._is_whole = chunk is None
        return {"type": "http.request", "body": chunk or b"", "more_body": chunk is not None}

    async def send(self, message: Any) -> None:
        """Take the next piece of the answer (ASGI)."""
        self._sent.append(message)
        self._has_head.set()
        if message["type"] == "http.response.body":
            self._pieces.put(message.get("body", b""))
            if not message.get("more_body"):
                self._over.set()

    def wait_for_head(self) -> None:
        """Wait until the answer has begun."""
        assert self._has_head.wait(LIMIT_S), "there is no answer"

    def next(self) -> bytes:
        """Return the next piece of the body, waiting for it."""
        return self._pieces.get(timeout=LIMIT_S)

    def leave(self) -> None:
        """Close the connection, as a client does that has heard enough."""
        self.loop.call_soon_threadsafe(self._over.set)
        self.task.result(timeout=LIMIT_S)

    def result(self) -> Answer:
        """Return the whole answer, waiting for its end."""
        self.task.result(timeout=LIMIT_S)
        start, *rest = self._sent
        names = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in start["headers"]
        }
        return Answer(start["status"], names, b"".join(one.get("body", b"") for one in rest))


async def _cancel_rest() -> None:
    # The library that sends events leaves a task behind which watches for the end.
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


async def _awaited(work: Awaitable[None]) -> None:
    await work


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
