"""The admission of an MCP message: found once at the endpoint, read by handlers."""

from typing import Any, NamedTuple

from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from starlette.requests import Request

from qms.commands.admission import Admission
from qms.config.api_keys import KeyMatch
from qms.memory.entry import agent_named

Context = ServerRequestContext[Any, Any]

SCOPE_KEY = "qms.message"


class AdmittedMessage(NamedTuple):
    """A message, or a request without one, of a caller who opens the project of the endpoint."""

    admission: Admission
    agent_id: str | None
    size_bytes: int = 0
    """The size of the message."""
    is_brief: bool = False
    """Whether the command is fast and sends nothing before its answer."""


def message_of(context: Context) -> AdmittedMessage:
    """Return the message that a handler answers, as the endpoint admitted it."""
    message: AdmittedMessage = request_of(context).scope[SCOPE_KEY]
    return message


def admission_of(context: Context) -> Admission:
    """Return the admission of the caller to the project, with the toolsets of its client."""
    return message_of(context).admission


def caller_of(context: Context) -> KeyMatch:
    """Return the user and the key of the caller."""
    who = admission_of(context).who
    assert isinstance(who, KeyMatch), "the owner of the machine has a key here, too"
    return who


def project_of(context: Context) -> str:
    """Return the slug of the project as the configuration spells it."""
    return admission_of(context).check_open().slug


def toolsets_of(context: Context) -> frozenset[str]:
    """Return the toolsets of the client."""
    return admission_of(context).toolsets or frozenset()


def request_of(context: Context) -> Request:
    """Return the HTTP request that carried a message."""
    assert isinstance(context.request, Request), "every message arrives over HTTP"
    return context.request


def agent_of(context: Context) -> str | None:
    """Return the agent's id from its header, else from its client's name."""
    agent_id = message_of(context).agent_id
    if agent_id is not None or context.session.client_params is None:
        return agent_id
    name = context.session.client_params.client_info.name
    return agent_named(f"ai:{name}") if name else None


def connection_of(context: Context) -> Connection:
    """Return the connection of a message; it lasts as long as its session."""
    return context.session._connection  # noqa: SLF001 - the SDK offers no public access to it
