"""Who asks in an MCP request, and for what: settled once at the door, read by every handler."""

from typing import Any

import msgspec
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext

from qms.config.keys import KeyMatch
from qms.domain.entry import agent_named

Context = ServerRequestContext[Any, Any]

SCOPE_KEY = "qms.visit"


class Visit(msgspec.Struct, frozen=True):
    """A key that opens the project, and the toolsets that its client gets."""

    who: KeyMatch
    project: str
    toolsets: frozenset[str]
    agent_id: str | None
    size_bytes: int = 0
    """How long the message is."""
    is_brief: bool = False
    """Whether nothing comes but the answer, and that soon."""


def visit_of(context: Context) -> Visit:
    """Return the visit that a message belongs to: that of the HTTP request which brought it."""
    assert context.request is not None, "every message comes in through the door"
    visit: Visit = context.request.scope[SCOPE_KEY]
    return visit


def agent_of(context: Context) -> str | None:
    """Return which agent asks: as its header says, else by the name that its client gives."""
    visit = visit_of(context)
    if visit.agent_id is not None or context.session.client_params is None:
        return visit.agent_id
    name = context.session.client_params.client_info.name
    return agent_named(f"ai:{name}") if name else None


def connection_of(context: Context) -> Connection:
    """Return the connection of a message, which lives as long as its session does."""
    return context.session._connection  # noqa: SLF001 - the SDK has no other way to its end
