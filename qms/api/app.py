"""The ASGI application: every route of the server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qms.api.admin import admin_routes
from qms.api.answers import json_answer
from qms.api.auth import authenticate, key_of
from qms.api.errors import Handler, answer_http, answer_unexpected, answers_errors
from qms.api.guard import Guard
from qms.api.help import help_routes
from qms.api.mcp.calling import Calls
from qms.api.mcp.door import METHODS, mcp_endpoint
from qms.api.mcp.endpoints import Endpoints
from qms.api.mcp.offers import STANDARD, Offers
from qms.api.mcp.server import Handlers
from qms.api.metrics import metrics_endpoint
from qms.api.rest import command_endpoint
from qms.api.running import Runner
from qms.api.sessions import Sessions
from qms.api.setup import SetupLink
from qms.api.spa import page_routes
from qms.service.commands import Services
from qms.service.health import Status

ALL_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class Application(Guard):
    """The application with its guard in front.

    Whoever stops it closes `endpoints` first: the streams of MCP clients never end by themselves.
    """

    def __init__(self, inner: Starlette, services: Services, endpoints: Endpoints) -> None:
        super().__init__(inner, services)
        self.endpoints = endpoints


def app(
    services: Services, offers: Offers = STANDARD, *, setup: SetupLink | None = None
) -> Application:
    """Return the application that serves `services`.

    `offers` are its MCP pages and prompts, `setup` is the link of a first run.
    """
    runner = Runner(services)
    sessions = Sessions(services)
    endpoints = Endpoints(services, Handlers.made(Calls(services, runner), offers))

    @asynccontextmanager
    async def lifespan(_application: Starlette) -> AsyncIterator[None]:
        async with endpoints.run():
            yield

    application = Starlette(
        routes=[
            Route(
                "/api/v1/{project}/{command}",
                command_endpoint(services, runner, sessions),
                methods=["POST"],
            ),
            Route("/mcp/{project}", mcp_endpoint(services, endpoints), methods=list(METHODS)),
            *page_routes(),
            Route("/health", _health(services), methods=["GET"]),
            Route("/metrics", metrics_endpoint(services, sessions), methods=["GET"]),
            *help_routes(services),  # before the administration, which takes all else below /admin
            *admin_routes(services, runner, sessions, setup),
            Route("/.well-known/{path:path}", _nothing_here, methods=list(ALL_METHODS)),
        ],
        exception_handlers={HTTPException: _answer_http, Exception: answer_unexpected},
        lifespan=lifespan,
    )
    application.router.redirect_slashes = False
    return Application(application, services, endpoints)


def _health(services: Services) -> Handler:
    @answers_errors
    async def health(request: Request) -> Response:
        has_key = key_of(request) is not None
        report = services.report(authenticate(request, services) if has_key else None)
        status = 503 if report.status is Status.UNHEALTHY else 200
        return json_answer(report if has_key else {"status": report.status}, status=status)

    return health


@answers_errors
async def _nothing_here(_request: Request) -> Response:
    # HTML here makes MCP clients start an OAuth flow and forget the key they were given.
    raise HTTPException(404)


async def _answer_http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return answer_http(error)
