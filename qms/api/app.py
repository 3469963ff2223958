"""The ASGI application: every route of the server."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from qms.api.admin import admin_routes
from qms.api.answers import json_answer
from qms.api.auth import authenticate, key_of
from qms.api.errors import Handler, answer_http, answer_unexpected, answers_errors
from qms.api.guard import Guard
from qms.api.help import help_routes
from qms.api.metrics import metrics_endpoint
from qms.api.rest import command_endpoint
from qms.api.running import Runner
from qms.api.sessions import Sessions
from qms.api.setup import SetupLink
from qms.service.commands import Services
from qms.service.health import Status

ALL_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def app(services: Services, *, setup: SetupLink | None = None) -> ASGIApp:
    """Return the application with its guard in front; `setup` is the link of a first run."""
    runner = Runner(services)
    sessions = Sessions(services)
    application = Starlette(
        routes=[
            Route(
                "/api/v1/{project}/{command}",
                command_endpoint(services, runner, sessions),
                methods=["POST"],
            ),
            Route("/health", _health(services), methods=["GET"]),
            Route("/metrics", metrics_endpoint(services, sessions), methods=["GET"]),
            *help_routes(services),  # before the administration, which takes all else below /admin
            *admin_routes(services, runner, sessions, setup),
            Route("/.well-known/{path:path}", _nothing_here, methods=list(ALL_METHODS)),
        ],
        exception_handlers={HTTPException: _answer_http, Exception: answer_unexpected},
    )
    application.router.redirect_slashes = False
    return Guard(application, services)


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
