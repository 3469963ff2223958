"""The administration over HTTP: every row of its table at its method and path."""

import re
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qms.api.answers import encode, json_answer
from qms.api.auth import check_key
from qms.api.bodies import parse_object, read_body
from qms.api.errors import Handler, answers_errors
from qms.api.running import Door, Runner
from qms.api.sessions import Sessions, clear_cookie, set_cookie
from qms.api.setup import SetupLink, refused
from qms.config.keys import KeyMatch
from qms.domain.errors import invalid
from qms.service.admin.sessions import SignIn, with_token
from qms.service.admin.table import ADMIN_TABLE, CLOSE_SESSION, GET_SESSION, OPEN_SESSION
from qms.service.calls import Command
from qms.service.commands import Services
from qms.service.requests import read_request
from qms.service.table import IMPORT_COMMANDS

NO_PROJECT = ""
"""What the administration works on is the server."""

_LAST_PARAMETER = re.compile(r"\{(\w+)\}$")
_ALL_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


def admin_routes(
    services: Services, runner: Runner, sessions: Sessions, setup: SetupLink | None
) -> list[Route]:
    """Return the routes of all rows, and behind them those for addresses that are none."""
    door = _Door(services, runner, sessions, setup)
    own = {
        OPEN_SESSION: door.open_session,
        GET_SESSION: door.get_session,
        CLOSE_SESSION: door.close_session,
    }
    routes = [_route(row, own.get(row.name) or door.command(row)) for row in ADMIN_TABLE]
    nothing_here = answers_errors(door.nothing_among(routes))
    return [
        *routes,
        Route("/admin", nothing_here, methods=_ALL_METHODS),
        Route("/admin/{path:path}", nothing_here, methods=_ALL_METHODS),
    ]


def _route(row: Command, handler: Handler) -> Route:
    assert row.route is not None
    # Names of users may hold a slash; a parameter at the end takes whatever follows.
    path = _LAST_PARAMETER.sub(r"{\1:path}", row.route.path)
    return Route(path, answers_errors(handler), methods=[row.route.method], name=row.name)


class _Door:
    """What the handlers share."""

    def __init__(
        self, services: Services, runner: Runner, sessions: Sessions, setup: SetupLink | None
    ) -> None:
        self._services = services
        self._runner = runner
        self._sessions = sessions
        self._setup = setup

    def command(self, row: Command) -> Handler:
        """Return the handler of a row that needs nothing but its arguments."""

        async def run(request: Request) -> Response:
            who = self._sessions.identify(request)
            return json_answer(await self._run(who, row.name, request))

        return run

    async def open_session(self, request: Request) -> Response:
        arguments = await self._arguments(request)
        who = self._credentials(request, read_request(arguments, SignIn))
        answer = await self._administer(who, OPEN_SESSION, arguments)
        token, session = self._sessions.begin(who)
        response = json_answer(with_token(answer, session.csrf_token()))
        is_proxied = self._services.settings.global_.behind_proxy
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

    def nothing_among(self, routes: list[Route]) -> Handler:
        """Return the handler of what none of the routes takes; it tells a stranger nothing."""

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
            return check_key(request, self._services, given.key)
        if self._setup is None:
            raise refused()
        return self._setup.redeem(given.setup, request, self._services.now)

    async def _run(self, who: KeyMatch, command: str, request: Request) -> bytes:
        arguments = await self._arguments(request, _body_limit(command))
        is_text = request.method in ("GET", "HEAD", "DELETE")
        work = partial(self._services.administer, who, command, arguments, is_text=is_text)
        return await self._runner.run(
            who, NO_PROJECT, command, lambda: encode(work()), door=Door.ADMIN
        )

    async def _administer(self, who: KeyMatch, command: str, arguments: dict[str, Any]) -> Any:
        work = partial(self._services.administer, who, command, arguments)
        return await self._runner.run(who, NO_PROJECT, command, work, door=Door.ADMIN)

    async def _arguments(self, request: Request, limit: str = "bodyBytes") -> dict[str, Any]:
        """Return the arguments of a request: of its path, and of its query or body."""
        named: dict[str, Any] = request.path_params
        if request.method in ("GET", "HEAD", "DELETE"):
            given: dict[str, Any] = dict(request.query_params)
        else:
            limits = self._services.settings.global_.limits
            given = parse_object(await read_body(request, limits, limit=limit), limits)
        for name in named.keys() & given.keys():
            if given[name] != named[name]:
                raise invalid(name, "differs from the one in the address")
        return {**given, **named}


def _body_limit(command: str) -> str:
    return "importBytes" if command in IMPORT_COMMANDS else "bodyBytes"
