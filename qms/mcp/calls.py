"""Runs commands for MCP handlers through the common gate, and reports their progress."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from qms.commands.admission import COMPLETE, Admission
from qms.commands.gate import Gate, begin, run_command
from qms.features.lists.completions import complete
from qms.http.answers import encode
from qms.http.errors import note_unexpected
from qms.http.threads import Door, Runner, wait_until_gone
from qms.mcp.message import Context, admission_of, agent_of, message_of, request_of
from qms.memory.deadline import Deadline
from qms.memory.errors import InvalidInputError, NotFoundError, QmsError

MAX_WAITING = 1000
"""At most this many reports wait for a slow client; then the oldest are dropped."""

T = TypeVar("T")


class ClientProgress:
    """Takes reports from any thread and sends them in order while the command runs."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._is_asked = progress_token_from_params(context.params) is not None
        self.loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[int, int]] = deque(maxlen=MAX_WAITING)
        self._sending: asyncio.Task[None] | None = None

    def progress(self, done: int, total: int) -> None:
        """Report progress to the client, if it asked for it."""
        if self._is_asked:
            self.loop.call_soon_threadsafe(self._add, done, total)

    async def accompany(self, work: Awaitable[T]) -> T:
        """Await `work` and return its result after all of its reports are sent."""
        try:
            return await work
        finally:
            if self._sending is not None:
                await self._sending

    def _add(self, done: int, total: int) -> None:
        self._waiting.append((done, total))
        if self._sending is None or self._sending.done():
            self._sending = self.loop.create_task(self._send())

    async def _send(self) -> None:
        while self._waiting:
            done, total = self._waiting.popleft()
            await self.context.session.report_progress(done, total)


INLINE_BYTES = 16 * 1024
"""Longer arguments are parsed in a thread, so that they do not block the event loop."""


class Calls:
    """Runs commands for the caller of an MCP request."""

    def __init__(self, gate: Gate, runner: Runner) -> None:
        self.gate = gate
        self._runner = runner

    async def run(
        self,
        context: Context,
        admission: Admission,
        arguments: dict[str, Any],
        finish: Callable[[Any], T],
    ) -> T:
        """Run a command and return its response, converted by `finish` in the same thread.

        Raises:
            QmsError: the caller is not allowed, the request is wrong, or the command failed.
        """
        progress, agent_id = ClientProgress(context), agent_of(context)
        call = partial(run_command, admission, arguments, agent_id=agent_id, progress=progress)
        running = self._runner.run(
            admission,
            lambda deadline: finish(call(deadline=deadline)),
            is_short=message_of(context).size_bytes <= INLINE_BYTES,
            door=Door.MCP,
            gone=partial(wait_until_gone, request_of(context)),
        )
        return await progress.accompany(running)

    async def ask(self, context: Context, command: str, arguments: dict[str, Any]) -> bytes:
        """Return a command's response as JSON, for resources and prompts.

        They belong to no toolset: for them only the tier is checked.

        Raises:
            MCPError: the command failed.
        """
        admission = admission_of(context).with_command(command, by_tier=True)
        try:
            return await self.run(context, admission, arguments, encode)
        except QmsError as error:
            raise protocol_error(error) from None
        except Exception as error:  # the request boundary: logged, the server goes on
            raise internal_error(context, error) from error

    async def complete(self, context: Context, field: str, start: str) -> list[str]:
        """Return completions of a partial value in the project of the request."""
        admission = admission_of(context).with_command(COMPLETE)

        def work(deadline: Deadline) -> list[str]:
            return complete(begin(admission, deadline=deadline), field, start)

        try:
            return await self._runner.run(admission, work, door=Door.MCP)
        except QmsError as error:
            raise protocol_error(error) from None


def protocol_error(error: QmsError) -> MCPError:
    """Return an expected error as an MCP error, with our error object as its data."""
    is_request = isinstance(error, InvalidInputError | NotFoundError)
    code = INVALID_PARAMS if is_request else INTERNAL_ERROR
    return MCPError(code, error.message, error.as_object()["error"])


def internal_error(context: Context, error: Exception) -> MCPError:
    """Log an error with its traceback and return an MCP error that holds only its error id."""
    noted = note_unexpected(context.method, error)["error"]
    return MCPError(INTERNAL_ERROR, noted["message"], noted)
