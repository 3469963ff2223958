"""The command table over plain JSON: `POST /api/v1/{project}/{command}`."""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from qms.api.answers import command_answer
from qms.api.auth import AGENT_HEADER
from qms.api.bodies import parse_object, read_body
from qms.api.errors import Handler, answers_errors
from qms.api.running import Runner
from qms.api.sessions import Sessions
from qms.config.keys import KeyMatch
from qms.service.commands import Services
from qms.service.table import IMPORT_COMMANDS

INLINE_BYTES = 16 * 1024
"""A longer body is parsed in a thread: it would keep everybody else waiting."""


def command_endpoint(services: Services, runner: Runner, sessions: Sessions) -> Handler:
    """Return the handler of every command."""

    @answers_errors
    async def run(request: Request) -> Response:
        who = sessions.identify(request)
        project, command = request.path_params["project"], request.path_params["command"]
        limit = "importBytes" if command in IMPORT_COMMANDS else "bodyBytes"
        body = await read_body(request, services.settings.global_.limits, limit=limit)
        agent_id = request.headers.get(AGENT_HEADER)
        work = partial(_run, services, who, project, command, body=body, agent_id=agent_id)
        return await runner.run(who, project, command, work, is_short=len(body) <= INLINE_BYTES)

    return run


def _run(
    services: Services,
    who: KeyMatch,
    project: str,
    command: str,
    *,
    body: bytes,
    agent_id: str | None,
) -> Response:
    arguments = parse_object(body, services.settings.global_.limits)
    return command_answer(services.call(who, project, command, arguments, agent_id=agent_id))
