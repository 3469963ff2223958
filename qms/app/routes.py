"""Builds the ASGI application with every route of the server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qms.commands.gate import Gate
from qms.features.health.health import Status, report_for
from qms.http.admin import admin_routes
from qms.http.answers import json_answer
from qms.http.auth import authenticate, key_of
from qms.http.errors import Handler, answer_http, answer_unexpected, answers_errors
from qms.http.guard import Guard
from qms.http.help import help_routes
from qms.http.metrics import metrics_endpoint
from qms.http.rest import command_endpoint
from qms.http.sessions import Sessions
from qms.http.setup_link import SetupLink
from qms.http.static_files import page_routes
from qms.http.threads import Runner
from qms.mcp.calls import Calls
from qms.mcp.endpoint import METHODS, mcp_endpoint
from qms.mcp.pages import STANDARD, Offers
from qms.mcp.project_servers import Endpoints
from qms.mcp.server import Handlers

ALL_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class Application(Guard):
    """The application behind its guard.

    Close `endpoints` before the shutdown: streams of MCP clients never end by themselves.
    """

    def __init__(self, inner: Starlette, gate: Gate, endpoints: Endpoints) -> None:
        super().__init__(inner, gate)
        self.endpoints = endpoints


def app(gate: Gate, offers: Offers = STANDARD, *, setup: SetupLink | None = None) -> Application:
    """Return the application that runs the commands behind `gate`.

    `offers` are its MCP pages and prompts, `setup` is the link of a first run.
    """
    runner = Runner()
    sessions = Sessions(gate)
    endpoints = Endpoints(gate, Handlers.made(Calls(gate, runner), offers))

    @asynccontextmanager
    async def lifespan(_application: Starlette) -> AsyncIterator[None]:
        async with endpoints.run():
            yield

    application = Starlette(
        routes=[
            Route(
                "/api/v1/{project}/{command}",
                command_endpoint(gate, runner, sessions),
                methods=["POST"],
            ),
            Route("/mcp/{project}", mcp_endpoint(gate, endpoints), methods=list(METHODS)),
            *page_routes(),
            Route("/health", _health(gate), methods=["GET"]),
            Route("/metrics", metrics_endpoint(gate, sessions), methods=["GET"]),
            *help_routes(gate),  # before the administration, which handles the rest of /admin
            *admin_routes(gate, runner, sessions, setup),
            Route("/.well-known/{path:path}", _nothing_here, methods=list(ALL_METHODS)),
        ],
        exception_handlers={HTTPException: _answer_http, Exception: answer_unexpected},
        lifespan=lifespan,
    )
    application.router.redirect_slashes = False
    return Application(application, gate, endpoints)


def _health(gate: Gate) -> Handler:
    @answers_errors
    async def health(request: Request) -> Response:
        has_key = key_of(request) is not None
        report = report_for(gate, authenticate(request, gate) if has_key else None)
        status = 503 if report.status is Status.UNHEALTHY else 200
        return json_answer(report if has_key else {"status": report.status}, status=status)

    return health


@answers_errors
async def _nothing_here(_request: Request) -> Response:
    # HTML here makes MCP clients start an OAuth flow and drop their key.
    raise HTTPException(404)


async def _answer_http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return answer_http(error)
