"""A proxy on the loopback that adds a key, for clients that cannot send one."""

import asyncio
import threading
from contextlib import closing, suppress
from types import TracebackType
from urllib.parse import urlsplit

_HEAD_BYTES = 64 * 1024


class KeyProxy:
    """Runs while its `with` block does; all but the key and its own name goes through as it is."""

    def __init__(self, target: str, key: str) -> None:
        parts = urlsplit(target)
        self._address = parts.hostname, parts.port
        self._target = parts.netloc.encode()
        self._key = key
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._writers: set[asyncio.StreamWriter] = set()
        self.url = ""

    def __enter__(self) -> "KeyProxy":
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(30)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_HEAD_BYTES)

    async def _stop(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()
        # What was aborted is closed in the next round of the loop.
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass one request on; its connection ends with it, so that no second head follows."""
        self._writers.add(writer)
        with closing(writer), suppress(asyncio.IncompleteReadError, ConnectionError):
            head = await reader.readuntil(b"\r\n\r\n")
            upstream, downstream = await asyncio.open_connection(*self._address)
            self._writers.add(downstream)
            with closing(downstream):
                downstream.write(self._with_key(head))
                await asyncio.gather(_pipe(reader, downstream), _pipe(upstream, writer))

    def _with_key(self, head: bytes) -> bytes:
        request, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
        kept = [self._aimed(line) for line in lines if not _named(line, b"connection:")]
        added = [b"Authorization: Bearer " + self._key.encode(), b"Connection: close"]
        return b"\r\n".join([request, *kept, *added, b"", b""])

    def _aimed(self, line: bytes) -> bytes:
        """Name the server where the client named this proxy; another name goes through."""
        own = self.url.removeprefix("http://").encode()
        return line.replace(own, self._target) if _named(line, b"host:", b"origin:") else line


def _named(line: bytes, *names: bytes) -> bool:
    return line.lower().startswith(names)


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(_HEAD_BYTES):
            writer.write(data)
            await writer.drain()
    with suppress(ConnectionError, RuntimeError):
        writer.close()
