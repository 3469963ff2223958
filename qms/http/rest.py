"""The commands as JSON over HTTP: `POST /api/v1/{project}/{command}`."""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from qms.commands.admission import Admission
from qms.commands.call import IMPORT_COMMANDS
from qms.commands.gate import Gate, run_command
from qms.http.answers import command_answer
from qms.http.auth import AGENT_HEADER
from qms.http.bodies import parse_object, read_body
from qms.http.errors import Handler, answers_errors
from qms.http.sessions import Sessions, uses_session
from qms.http.threads import Runner, wait_until_gone
from qms.memory.deadline import Deadline

INLINE_BYTES = 16 * 1024
"""A longer body is parsed in a thread, so that it does not block the event loop."""


def command_endpoint(gate: Gate, runner: Runner, sessions: Sessions) -> Handler:
    """Return the handler of every command."""

    @answers_errors
    async def run(request: Request) -> Response:
        who = sessions.identify(request)
        project, command = request.path_params["project"], request.path_params["command"]
        limit = "importBytes" if command in IMPORT_COMMANDS else "bodyBytes"
        body = await read_body(request, gate.settings.global_.limits, limit=limit)
        admission = gate.admit(who, project, command, by_tier=uses_session(request))
        work = partial(_run, admission, body, request.headers.get(AGENT_HEADER))
        is_short, gone = len(body) <= INLINE_BYTES, partial(wait_until_gone, request)
        return await runner.run(admission, work, is_short=is_short, gone=gone)

    return run


def _run(admission: Admission, body: bytes, agent_id: str | None, deadline: Deadline) -> Response:
    request = parse_object(body, admission.settings.global_.limits)
    return command_answer(run_command(admission, request, agent_id=agent_id, deadline=deadline))
