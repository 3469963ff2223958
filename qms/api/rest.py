"""The command table over plain JSON: `POST /api/v1/{project}/{command}`."""

from functools import partial

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import Response

from qms.api.answers import json_answer
from qms.api.auth import AGENT_HEADER, authenticate
from qms.api.bodies import read_object
from qms.api.errors import Handler, answers_errors
from qms.service.commands import Services
from qms.service.table import IMPORT_COMMANDS

THREADS = 64
"""How many commands run at once: writers that wait together share one sync."""


def command_endpoint(services: Services) -> Handler:
    """Return the handler of every command."""
    limiter = CapacityLimiter(THREADS)

    @answers_errors
    async def run(request: Request) -> Response:
        who = authenticate(request, services)
        project, command = request.path_params["project"], request.path_params["command"]
        limit = "importBytes" if command in IMPORT_COMMANDS else "bodyBytes"
        arguments = await read_object(request, services.settings.global_.limits, limit=limit)
        call = partial(
            services.call,
            who,
            project,
            command,
            arguments,
            agent_id=request.headers.get(AGENT_HEADER),
        )
        if services.runs_inline(project, command):
            return json_answer(call())
        return json_answer(await to_thread.run_sync(call, limiter=limiter))

    return run
