"""Calls of commands by MCP handlers: through the one gate, where every command runs."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from qms.api.answers import encode
from qms.api.errors import note_unexpected
from qms.api.mcp.peers import ClientPeer
from qms.api.mcp.visits import Context, agent_of, visit_of
from qms.api.running import Door, Runner
from qms.domain.errors import InvalidInputError, NotFoundError, QmsError
from qms.service.commands import Services

INLINE_BYTES = 16 * 1024
"""Longer arguments are read in a thread: it would keep everybody else waiting."""

T = TypeVar("T")


class Calls:
    """The way from a handler to a command, for whoever visits."""

    def __init__(self, services: Services, runner: Runner) -> None:
        self.services = services
        self._runner = runner

    async def run(
        self,
        context: Context,
        command: str,
        arguments: dict[str, Any],
        finish: Callable[[Any], T],
    ) -> T:
        """Return what `finish`, beside the command, makes of its response.

        Raises:
            QmsError: the caller may not, the request is wrong, or the command failed.
        """
        visit, peer = visit_of(context), ClientPeer(context)
        agent_id = agent_of(context)

        def work() -> T:
            return finish(
                self.services.call(
                    visit.who,
                    visit.project,
                    command,
                    arguments,
                    agent_id=agent_id,
                    peer=peer,
                    toolsets=visit.toolsets,
                )
            )

        is_short = visit.size_bytes <= INLINE_BYTES
        running = self._runner.run(
            visit.who, visit.project, command, work, is_short=is_short, door=Door.MCP
        )
        return await peer.accompany(running)

    async def ask(self, context: Context, command: str, arguments: dict[str, Any]) -> bytes:
        """Return a command's response as JSON, for a handler that is no tool.

        Raises:
            MCPError: the command failed, in the words of the protocol.
        """
        try:
            return await self.run(context, command, arguments, encode)
        except QmsError as error:
            raise protocol_error(error) from None
        except Exception as error:
            raise internal_error(context, error) from error

    async def complete(self, context: Context, field: str, start: str) -> list[str]:
        """Return what a half-typed value can become in the visited project."""
        visit = visit_of(context)
        work = partial(self.services.complete, visit.who, visit.project, field, start)
        try:
            return await self._runner.run(visit.who, visit.project, "complete", work, door=Door.MCP)
        except QmsError as error:
            raise protocol_error(error) from None


def protocol_error(error: QmsError) -> MCPError:
    """Return an expected error as the protocol carries it: the same object as data."""
    is_request = isinstance(error, InvalidInputError | NotFoundError)
    code = INVALID_PARAMS if is_request else INTERNAL_ERROR
    return MCPError(code, error.message, error.as_object()["error"])


def internal_error(context: Context, error: Exception) -> MCPError:
    """Log an error with its traceback and return one that names nothing but the log line."""
    noted = note_unexpected(context.method, error)["error"]
    return MCPError(INTERNAL_ERROR, noted["message"], noted)
