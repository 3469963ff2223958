"""Turns errors into responses of one JSON shape, without internal details."""

import logging
import secrets
from collections.abc import Awaitable, Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from qms.http.answers import json_answer
from qms.memory.errors import NotAuthenticatedError, QmsError, RateLimitedError

log = logging.getLogger(__name__)

Handler = Callable[[Request], Awaitable[Response]]

HTTP_CODES = {
    HTTPStatus.NOT_FOUND: ("notFound", "there is nothing at this address"),
    HTTPStatus.METHOD_NOT_ALLOWED: ("methodNotAllowed", "this address does not take that method"),
    HTTPStatus.REQUEST_URI_TOO_LONG: ("addressTooLong", "the address is longer than 8 KiB"),
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: (
        "headersTooLarge",
        "the headers are more than 100, or longer than 32 KiB together",
    ),
    HTTPStatus.MISDIRECTED_REQUEST: (
        "misdirectedRequest",
        "this server does not answer to that Host: an admin can list it in allowedHosts",
    ),
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: (
        "unsupportedMediaType",
        "send application/json, without a content encoding",
    ),
}


def answers_errors(handler: Handler) -> Handler:
    """Wrap a handler so that every exception becomes a response."""

    @wraps(handler)
    async def guarded(request: Request) -> Response:
        try:
            return await handler(request)
        except (QmsError, HTTPException) as error:
            return answer_error(error)
        except ClientDisconnect:
            return Response(status_code=400)  # the client is gone and does not read it
        except Exception as error:  # noqa: BLE001 - the request boundary: logged, the server goes on
            return answer_unexpected(request, error)

    return guarded


def answer_error(error: QmsError | HTTPException) -> Response:
    """Return the response to an error that the client can act on."""
    return answer_expected(error) if isinstance(error, QmsError) else answer_http(error)


def answer_expected(error: QmsError) -> Response:
    """Return the response to a `QmsError`."""
    return json_answer(error.as_object(), status=error.http_status, headers=_headers(error))


def answer_http(error: HTTPException) -> Response:
    """Return the response to an error of HTTP alone, such as an unknown route or media type."""
    status = HTTPStatus(error.status_code)
    code, message = HTTP_CODES.get(status, ("invalidRequest", status.phrase.lower()))
    return json_answer(_body(code, message), status=status, headers=dict(error.headers or {}))


def answer_unexpected(request: Request, error: Exception) -> Response:
    """Log an error with its traceback and return a response that holds only its error id."""
    return json_answer(note_unexpected(request.scope["path"], error), status=500)


def note_unexpected(place: str, error: Exception) -> dict[str, Any]:
    """Log an error with its traceback and return a body that holds only its error id."""
    error_id = secrets.token_hex(8)
    log.error("request failed", exc_info=error, extra={"errorId": error_id, "path": place})
    message = f"something unexpected happened: look for {error_id} in the log"
    return _body("internal", message, errorId=error_id)


def _body(code: str, message: str, **details: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "details": details}}


def _headers(error: QmsError) -> dict[str, str]:
    if isinstance(error, NotAuthenticatedError):
        return {"www-authenticate": "Bearer"}
    if isinstance(error, RateLimitedError) or "retryAfterSeconds" in error.details:
        return {"retry-after": str(error.details.get("retryAfterSeconds", 1))}
    return {}
