"""The client of one request, as a command sees it: whoever is told of progress."""

import asyncio
from collections import deque
from collections.abc import Awaitable
from typing import TypeVar

from mcp.shared.jsonrpc_dispatcher import progress_token_from_params

from qms.api.mcp.visits import Context

MAX_WAITING = 1000
"""So many reports wait for a slow client; beyond that the oldest are left out."""

T = TypeVar("T")


class ClientPeer:
    """Takes reports from any thread and sends them in order, beside the work."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._is_asked = progress_token_from_params(context.params) is not None
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[int, int]] = deque(maxlen=MAX_WAITING)
        self._sending: asyncio.Task[None] | None = None

    def progress(self, done: int, total: int) -> None:
        """Have the client told how far the work is, if it asked for that."""
        if self._is_asked:
            self._loop.call_soon_threadsafe(self._add, done, total)

    async def accompany(self, work: Awaitable[T]) -> T:
        """Return what `work` returns, after everything that it reported is sent."""
        try:
            return await work
        finally:
            if self._sending is not None:
                await self._sending

    def _add(self, done: int, total: int) -> None:
        self._waiting.append((done, total))
        if self._sending is None or self._sending.done():
            self._sending = self._loop.create_task(self._send())

    async def _send(self) -> None:
        while self._waiting:
            done, total = self._waiting.popleft()
            await self.context.session.report_progress(done, total)
