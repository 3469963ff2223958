"""`/mcp/{project}`: who may come in, how much they may bring, and then the SDK answers."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec
from anyio import to_thread
from mcp_types import INVALID_REQUEST, PARSE_ERROR
from msgspec import UNSET, UnsetType
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from qms.api.answers import json_answer
from qms.api.auth import AGENT_HEADER, authenticate
from qms.api.bodies import over_limit, read_body
from qms.api.errors import Handler, answers_errors
from qms.api.mcp.calling import INLINE_BYTES
from qms.api.mcp.endpoints import Endpoint, Endpoints
from qms.api.mcp.visits import SCOPE_KEY, Visit
from qms.codec.lines import read_strictly
from qms.domain.errors import InvalidInputError
from qms.domain.limits import Limits
from qms.service.commands import Services
from qms.service.table import IMPORT_COMMANDS

METHODS = ("GET", "POST", "DELETE")
TOOLSETS = "toolsets"
PROGRESS = "progressToken"

ENVELOPE_DEPTH = 2
"""How deep the arguments of a tool lie in a message: what is beneath has the limit of a body."""


REASON_CHARACTERS = 120


class _Params(msgspec.Struct, frozen=True):
    name: str = ""


class _Message(msgspec.Struct, frozen=True):
    method: str = ""
    params: _Params = _Params()


class _Envelope(msgspec.Struct, frozen=True):
    """What every message of JSON-RPC has to be; what else it has is looked at by the SDK."""

    jsonrpc: Literal["2.0"]
    id: str | int | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: dict[str, Any] | UnsetType | None = UNSET


def mcp_endpoint(services: Services, endpoints: Endpoints) -> Handler:
    """Return the handler of every project's endpoint."""

    @answers_errors
    async def serve(request: Request) -> Response:
        visit = _admit(request, services)
        if request.method != "POST":
            return _Answer(await endpoints.get(visit.project), visit)
        limits = services.settings.global_.limits
        body = await read_body(request, limits, limit="importBytes")
        try:
            message = await _read_message(body, limits)
        except _NoMessageError as error:
            return error.answer()
        endpoint = await endpoints.get(visit.project)
        if message.get("method") == "initialize":
            await endpoint.make_room(visit.who.user)
        is_brief = _is_brief(message, visit, services)
        visit = msgspec.structs.replace(visit, size_bytes=len(body), is_brief=is_brief)
        return _Answer(endpoint, visit, body)

    return serve


def _admit(request: Request, services: Services) -> Visit:
    """Return the visit of whoever may come in; a closed project is an absent one."""
    who = authenticate(request, services)
    project, toolsets = services.toolsets(who, request.path_params["project"], _asked_for(request))
    return Visit(who, project, toolsets, request.headers.get(AGENT_HEADER))


def _asked_for(request: Request) -> list[str] | None:
    """Return the toolsets that the address names, if any."""
    texts = request.query_params.getlist(TOOLSETS) if request.scope["query_string"] else []
    return [name for text in texts for name in text.split(",") if name] if texts else None


class _NoMessageError(Exception):
    """A body that is not even handed to the SDK, and why."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self._error = {"code": code, "message": message}

    def answer(self) -> Response:
        """Return the refusal in the words of the protocol."""
        return json_answer({"jsonrpc": "2.0", "id": None, "error": self._error}, status=400)


async def _read_message(body: bytes, limits: Limits) -> dict[str, Any]:
    if len(body) <= INLINE_BYTES:
        return _parse(body, limits)
    return await to_thread.run_sync(_parse, body, limits)


def _parse(body: bytes, limits: Limits) -> dict[str, Any]:
    """Return the one message in a body, read strictly: the SDK is less particular."""
    if len(body) > limits.body_bytes and not _is_import(body):
        raise over_limit(limits.body_bytes, "bodyBytes")
    depth = limits.json_depth + ENVELOPE_DEPTH
    try:
        message = read_strictly(body, msgspec.structs.replace(limits, json_depth=depth))
    except InvalidInputError as error:
        raise _NoMessageError(PARSE_ERROR, error.message) from None
    if not isinstance(message, dict):
        raise _NoMessageError(INVALID_REQUEST, "send one JSON-RPC message: a batch is not taken")
    try:
        msgspec.convert(message, _Envelope)
    except msgspec.ValidationError as error:
        # The SDK would answer with what its own validator prints, the message among it.
        reason = str(error)[:REASON_CHARACTERS]
        raise _NoMessageError(INVALID_REQUEST, f"this is no JSON-RPC message: {reason}") from None
    return message


def _is_brief(message: dict[str, Any], visit: Visit, services: Services) -> bool:
    """Say whether a message calls a tool that has nothing to tell before its answer."""
    params = message.get("params")
    if message.get("method") != "tools/call" or not isinstance(params, dict):
        return False
    command, meta = params.get("name"), params.get("_meta")
    is_followed = isinstance(meta, dict) and PROGRESS in meta
    return not is_followed and services.is_brief(visit.who, visit.project, command)


def _is_import(body: bytes) -> bool:
    try:
        message = msgspec.json.decode(body, type=_Message)
    except msgspec.DecodeError:
        return False
    return message.method == "tools/call" and message.params.name in IMPORT_COMMANDS


class _Answer(Response):
    """What the SDK answers to a message that was read already."""

    def __init__(self, endpoint: Endpoint, visit: Visit, body: bytes = b"") -> None:
        super().__init__()
        self._endpoint = endpoint
        self._visit = visit
        self._body_read = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[SCOPE_KEY] = self._visit
        replayed = _replaying(self._body_read, receive)
        visit = self._visit
        await self._endpoint.answer(visit.who.user, scope, replayed, send, is_brief=visit.is_brief)


def _replaying(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    is_told = False

    async def replay() -> Message:
        nonlocal is_told
        if is_told:
            return await receive()
        is_told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
