"""`/mcp/{project}`: authenticates a request, limits and parses its body, then calls the SDK."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec
from anyio import to_thread
from mcp_types import INVALID_REQUEST, PARSE_ERROR
from msgspec import UNSET, UnsetType
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from qms.commands.admission import Admission
from qms.commands.call import IMPORT_COMMANDS
from qms.commands.gate import Gate
from qms.http.answers import json_answer
from qms.http.auth import AGENT_HEADER, authenticate
from qms.http.bodies import over_limit, read_body
from qms.http.errors import Handler, answers_errors
from qms.mcp.calls import INLINE_BYTES
from qms.mcp.message import SCOPE_KEY, AdmittedMessage
from qms.mcp.project_servers import Endpoint, Endpoints
from qms.memory.errors import UNDECODABLE, InvalidInputError
from qms.memory.limits import Limits
from qms.memory.lines import read_strictly

METHODS = ("GET", "POST", "DELETE")
TOOLSETS = "toolsets"
PROGRESS = "progressToken"

ENVELOPE_DEPTH = 2
"""The nesting depth of a tool's arguments in a message; the depth limit applies below it."""


REASON_CHARACTERS = 120


class _Params(msgspec.Struct, frozen=True):
    name: str = ""


class _Message(msgspec.Struct, frozen=True):
    method: str = ""
    params: _Params = _Params()


class _Envelope(msgspec.Struct, frozen=True):
    """The fields that every JSON-RPC message must have; the SDK checks the rest."""

    jsonrpc: Literal["2.0"]
    id: str | int | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: dict[str, Any] | UnsetType | None = UNSET


def mcp_endpoint(gate: Gate, endpoints: Endpoints) -> Handler:
    """Return the handler of every project's endpoint."""

    @answers_errors
    async def serve(request: Request) -> Response:
        admission = gate.admit_client(
            authenticate(request, gate), request.path_params["project"], _asked_for(request)
        )
        project, agent_id = admission.check_open().slug, request.headers.get(AGENT_HEADER)
        if request.method != "POST":
            return _Answer(await endpoints.get(project), AdmittedMessage(admission, agent_id))
        limits = admission.settings.global_.limits
        body = await read_body(request, limits, limit="importBytes")
        try:
            message = await _read_message(body, limits)
        except _NoMessageError as error:
            return error.answer()
        endpoint = await endpoints.get(project)
        if message.get("method") == "initialize":
            await endpoint.make_room(admission.who.user, endpoints.limits.per_user)
        is_brief = _is_brief(message, admission)
        return _Answer(endpoint, AdmittedMessage(admission, agent_id, len(body), is_brief), body)

    return serve


def _asked_for(request: Request) -> list[str] | None:
    """Return the toolsets that the URL names, if any."""
    texts = request.query_params.getlist(TOOLSETS) if request.scope["query_string"] else []
    return [name for text in texts for name in text.split(",") if name] if texts else None


class _NoMessageError(Exception):
    """A body that is refused before the SDK sees it."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self._error = {"code": code, "message": message}

    def answer(self) -> Response:
        """Return the refusal as a JSON-RPC error."""
        return json_answer({"jsonrpc": "2.0", "id": None, "error": self._error}, status=400)


async def _read_message(body: bytes, limits: Limits) -> dict[str, Any]:
    if len(body) <= INLINE_BYTES:
        return _parse(body, limits)
    return await to_thread.run_sync(_parse, body, limits)


def _parse(body: bytes, limits: Limits) -> dict[str, Any]:
    """Return the single message of a body, parsed more strictly than by the SDK."""
    if len(body) > limits.body_bytes and not _is_import(body):
        raise over_limit(limits.body_bytes, "bodyBytes")
    depth = limits.json_depth + ENVELOPE_DEPTH
    try:
        message = read_strictly(body, msgspec.structs.replace(limits, json_depth=depth))
    except InvalidInputError as error:
        raise _NoMessageError(PARSE_ERROR, error.message) from None
    if not isinstance(message, dict):
        raise _NoMessageError(INVALID_REQUEST, "send one JSON-RPC object, not a batch")
    try:
        msgspec.convert(message, _Envelope)
    except msgspec.ValidationError as error:
        # The SDK would answer with the text of its own validator, which repeats the message.
        reason = str(error)[:REASON_CHARACTERS]
        raise _NoMessageError(INVALID_REQUEST, f"not a JSON-RPC message: {reason}") from None
    return message


def _is_brief(message: dict[str, Any], admission: Admission) -> bool:
    """Say whether a message calls a tool that sends nothing before its answer."""
    params = message.get("params")
    if message.get("method") != "tools/call" or not isinstance(params, dict):
        return False
    command, meta = params.get("name"), params.get("_meta")
    is_followed = isinstance(meta, dict) and PROGRESS in meta
    if is_followed or not isinstance(command, str):
        return False
    return admission.with_command(command).is_brief


def _is_import(body: bytes) -> bool:
    try:
        message = msgspec.json.decode(body, type=_Message)
    except UNDECODABLE:
        return False
    return message.method == "tools/call" and message.params.name in IMPORT_COMMANDS


class _Answer(Response):
    """The SDK's response to a message whose body was read already."""

    def __init__(self, endpoint: Endpoint, message: AdmittedMessage, body: bytes = b"") -> None:
        super().__init__()
        self._endpoint = endpoint
        self._message = message
        self._body_read = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[SCOPE_KEY] = message = self._message
        replayed = _replaying(self._body_read, receive)
        user = message.admission.who.user
        await self._endpoint.answer(user, scope, replayed, send, is_brief=message.is_brief)


def _replaying(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    is_sent = False

    async def replay() -> Message:
        nonlocal is_sent
        if is_sent:
            return await receive()
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
