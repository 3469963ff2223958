"""The command table over plain JSON: `POST /api/v1/{project}/{command}`."""

import logging
from functools import partial

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import Response

from qms.api.answers import encode, json_answer
from qms.api.auth import AGENT_HEADER, authenticate
from qms.api.bodies import parse_object, read_body
from qms.api.errors import Handler, answers_errors
from qms.config.keys import KeyMatch
from qms.service.commands import Services
from qms.service.table import IMPORT_COMMANDS

log = logging.getLogger(__name__)

THREADS = 64
"""How many commands run at once: writers that wait together share one sync."""

WAITING_THREADS = 64
"""How many more may wait for stores that are being loaded, out of the way of those that work."""

INLINE_BYTES = 16 * 1024
"""A longer body is parsed in a thread: it would keep everybody else waiting."""


def command_endpoint(services: Services) -> Handler:
    """Return the handler of every command."""
    working, waiting = CapacityLimiter(THREADS), CapacityLimiter(WAITING_THREADS)

    @answers_errors
    async def run(request: Request) -> Response:
        who = authenticate(request, services)
        project, command = request.path_params["project"], request.path_params["command"]
        limit = "importBytes" if command in IMPORT_COMMANDS else "bodyBytes"
        body = await read_body(request, services.settings.global_.limits, limit=limit)
        agent_id = request.headers.get(AGENT_HEADER)
        work = partial(_run, services, who, project, command, body=body, agent_id=agent_id)
        if len(body) <= INLINE_BYTES and services.runs_inline(who, project, command):
            return json_answer(work())
        limiter = waiting if services.waits_for_store(who, project) else working
        return json_answer(await to_thread.run_sync(work, limiter=limiter))

    return run


def _run(
    services: Services,
    who: KeyMatch,
    project: str,
    command: str,
    *,
    body: bytes,
    agent_id: str | None,
) -> bytes:
    arguments = parse_object(body, services.settings.global_.limits)
    answer = encode(services.call(who, project, command, arguments, agent_id=agent_id))
    log.debug("command answered", extra={"project": project, "command": command, "user": who.user})
    return answer
