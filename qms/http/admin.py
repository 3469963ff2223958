"""Routes of `/admin`: each row of the administration at its method and path."""

import re
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qms.commands.call import IMPORT_COMMANDS
from qms.commands.command import Command
from qms.commands.command import Route as Place
from qms.commands.gate import Gate, run_command
from qms.commands.requests import read_request
from qms.config.api_keys import KeyMatch
from qms.features.users.sign_in import (
    CLOSE_SESSION,
    CREATE_LINK,
    GET_SESSION,
    OPEN_SESSION,
    SignIn,
    with_link,
    with_token,
)
from qms.http.answers import command_answer, encode, json_answer
from qms.http.auth import AGENT_HEADER, check_key
from qms.http.bodies import parse_object, read_body
from qms.http.errors import Handler, answers_errors
from qms.http.sessions import Sessions, clear_cookie, set_cookie
from qms.http.setup_link import SetupLink, SignInLinks
from qms.http.threads import Door, Runner, wait_until_gone
from qms.memory.errors import NotAuthenticatedError, invalid

_LAST_PARAMETER = re.compile(r"\{(\w+)\}$")
_ALL_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


def admin_routes(
    gate: Gate, runner: Runner, sessions: Sessions, setup: SetupLink | None
) -> list[Route]:
    """Return the routes of all rows, then the routes that answer 404 and 405."""
    door = _Door(gate, runner, sessions, setup)
    own = {
        OPEN_SESSION: door.open_session,
        GET_SESSION: door.get_session,
        CLOSE_SESSION: door.close_session,
        CREATE_LINK: door.create_link,
    }
    routes = [
        *(
            _route(row.route, own.get(row.name) or door.command(row))
            for row in gate.commands
            if row.route is not None
        ),
        *(_route(row.care_route, door.care(row)) for row in gate.commands if row.care),
    ]
    nothing_here = answers_errors(door.nothing_among(routes))
    return [
        *routes,
        Route("/admin", nothing_here, methods=_ALL_METHODS),
        Route("/admin/{path:path}", nothing_here, methods=_ALL_METHODS),
    ]


def _route(place: Place | None, handler: Handler) -> Route:
    assert place is not None
    # User names may contain a slash; the last parameter takes the rest of the path.
    path = _LAST_PARAMETER.sub(r"{\1:path}", place.path)
    return Route(path, answers_errors(handler), methods=[place.method])


class _Door:
    """The state that the handlers share."""

    def __init__(
        self, gate: Gate, runner: Runner, sessions: Sessions, setup: SetupLink | None
    ) -> None:
        self._gate = gate
        self._runner = runner
        self._sessions = sessions
        self._links = SignInLinks(setup)

    def command(self, row: Command) -> Handler:
        """Return the handler of a row that needs nothing but its arguments."""

        async def run(request: Request) -> Response:
            who = self._sessions.identify(request)
            return json_answer(await self._run(who, row.name, request))

        return run

    def care(self, row: Command) -> Handler:
        """Return the handler of a row that maintains the store of a project."""

        async def run(request: Request) -> Response:
            who = self._sessions.identify(request)
            arguments = await self._arguments(request, _body_limit(row.name))
            project, agent_id = request.path_params["project"], request.headers.get(AGENT_HEADER)
            admission = self._gate.admit(who, project, row.name, by_tier=True)
            work = partial(run_command, admission, arguments, agent_id=agent_id)
            return await self._runner.run(
                admission,
                lambda deadline: command_answer(work(deadline=deadline)),
                door=Door.ADMIN,
                gone=partial(wait_until_gone, request),
            )

        return run

    async def open_session(self, request: Request) -> Response:
        arguments = await self._arguments(request)
        limits = self._gate.settings.global_.limits
        who = self._credentials(request, read_request(arguments, SignIn, limits))
        answer = await self._administer(who, OPEN_SESSION, arguments)
        token, session = self._sessions.begin(who)
        response = json_answer(with_token(answer, session.csrf_token()))
        is_proxied = self._gate.settings.global_.behind_proxy
        set_cookie(response, token, request, behind_proxy=is_proxied)
        return response

    async def get_session(self, request: Request) -> Response:
        who = self._sessions.identify(request)
        session = self._sessions.find(request)
        answer = await self._administer(who, GET_SESSION, {})
        is_own = session is not None and session.who == who
        return json_answer(with_token(answer, session.csrf_token() if session and is_own else None))

    async def close_session(self, request: Request) -> Response:
        who = self._sessions.identify(request)
        answer = await self._administer(who, CLOSE_SESSION, {})
        self._sessions.end(request)
        response = json_answer(answer)
        clear_cookie(response)
        return response

    async def create_link(self, request: Request) -> Response:
        who = self._sessions.identify(request)
        answer = await self._administer(who, CREATE_LINK, await self._arguments(request))
        link = self._links.make(who, self._gate.now)
        return json_answer(with_link(answer, link.token, link.ends_utc))

    def nothing_among(self, routes: list[Route]) -> Handler:
        """Return the handler of unknown paths and methods; it authenticates before it answers."""

        async def nothing_here(request: Request) -> Response:
            self._sessions.identify(request)
            path = request.scope["path"]
            here = [route for route in routes if route.path_regex.match(path)]
            methods = sorted({method for route in here for method in route.methods or ()})
            if not here:
                raise HTTPException(404)
            raise HTTPException(405, headers={"allow": ", ".join(methods)})

        return nothing_here

    def _credentials(self, request: Request, given: SignIn) -> KeyMatch:
        if (given.key is None) == (given.setup is None):
            raise invalid("key", "give either key or setup")
        if given.setup is None:
            return check_key(request, self._gate, given.key)
        who = self._links.redeem(given.setup, request, self._gate.now)
        if not self._gate.still_holds(who):
            raise NotAuthenticatedError("the key that this link was made with is no longer valid")
        return who

    async def _run(self, who: KeyMatch, command: str, request: Request) -> bytes:
        arguments = await self._arguments(request, _body_limit(command))
        is_text = request.method in ("GET", "HEAD", "DELETE")
        admission = self._gate.admit(who, None, command)
        work = partial(run_command, admission, arguments, is_text=is_text)
        return await self._runner.run(
            admission,
            lambda deadline: encode(work(deadline=deadline)),
            door=Door.ADMIN,
            gone=partial(wait_until_gone, request),
        )

    async def _administer(self, who: KeyMatch, command: str, arguments: dict[str, Any]) -> Any:
        admission = self._gate.admit(who, None, command)
        work = partial(run_command, admission, arguments)
        return await self._runner.run(
            admission, lambda deadline: work(deadline=deadline), door=Door.ADMIN
        )

    async def _arguments(self, request: Request, limit: str = "bodyBytes") -> dict[str, Any]:
        """Return the arguments of a request, from its path and from its query or body."""
        named: dict[str, Any] = request.path_params
        if request.method in ("GET", "HEAD", "DELETE"):
            given: dict[str, Any] = dict(request.query_params)
        else:
            limits = self._gate.settings.global_.limits
            given = parse_object(await read_body(request, limits, limit=limit), limits)
        for name in named.keys() & given.keys():
            if given[name] != named[name]:
                raise invalid(name, "differs from the one in the address")
        return {**given, **named}


def _body_limit(command: str) -> str:
    return "importBytes" if command in IMPORT_COMMANDS else "bodyBytes"
