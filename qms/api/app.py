"""The ASGI application: every route of the server."""

import hashlib

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qms.api.admin import admin_routes
from qms.api.answers import json_answer
from qms.api.auth import authenticate, key_of
from qms.api.errors import Handler, answer_http, answer_unexpected, answers_errors
from qms.api.metrics import metrics_endpoint
from qms.api.rest import command_endpoint
from qms.api.running import Runner
from qms.api.sessions import Sessions
from qms.api.setup import SetupLink
from qms.codec.schema import entry_schema
from qms.service.commands import Services
from qms.service.health import Status
from qms.service.system import SCHEMA_URL

ALL_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def app(services: Services, *, setup: SetupLink | None = None) -> Starlette:
    """Return the application that serves `services`; `setup` is the link of a first run."""
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
            Route(SCHEMA_URL, _schema(), methods=["GET"]),
            *admin_routes(services, runner, sessions, setup),
            Route("/.well-known/{path:path}", _nothing_here, methods=list(ALL_METHODS)),
        ],
        exception_handlers={HTTPException: _answer_http, Exception: answer_unexpected},
    )
    application.router.redirect_slashes = False
    return application


def _health(services: Services) -> Handler:
    @answers_errors
    async def health(request: Request) -> Response:
        has_key = key_of(request) is not None
        report = services.report(authenticate(request, services) if has_key else None)
        status = 503 if report.status is Status.UNHEALTHY else 200
        return json_answer(report if has_key else {"status": report.status}, status=status)

    return health


def _schema() -> Handler:
    content = msgspec.json.encode(entry_schema())
    etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {"etag": etag, "cache-control": "public, max-age=3600"}

    async def schema(request: Request) -> Response:
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type="application/schema+json")

    return schema


@answers_errors
async def _nothing_here(_request: Request) -> Response:
    # HTML here makes MCP clients start an OAuth flow and forget the key they were given.
    raise HTTPException(404)


async def _answer_http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return answer_http(error)
