"""The OpenAPI document: every row of the command table as an operation of the HTTP interface."""

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from qms.api.errors import HTTP_CODES
from qms.codec.schema import schemas_of
from qms.domain.errors import QmsError
from qms.service.calls import Command
from qms.service.schemas import has_formats
from qms.version import __version__

_PLACE = "#/components/schemas/"
_ERROR = {"$ref": "#/components/responses/error"}
_KEYS: list[dict[str, list[str]]] = [{"bearer": []}, {"apiKey": []}]
_PROJECT = {
    "name": "project",
    "in": "path",
    "required": True,
    "description": "The slug of a project",
    "schema": {"type": "string"},
}

Schema = dict[str, Any]


def openapi_document(commands: Iterable[Command]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of some commands."""
    rows = list(commands)
    types = list({kind: None for row in rows for kind in (row.request, row.response)})
    schemas, parts = schemas_of(types, place=_PLACE)
    places = dict(zip(types, schemas, strict=True))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Quick Memory Server",
            "version": __version__,
            "description": "One memory for all your agents; every error has one shape",
        },
        "paths": {
            f"/api/v1/{{project}}/{row.name}": {"post": _command_operation(row, places)}
            for row in rows
        },
        "components": {
            "schemas": {**parts, "Error": _error_schema()},
            "responses": {"error": _error_response()},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "apiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
            },
        },
    }


def error_statuses() -> list[int]:
    """Return every status that an error can have, the method of a documented one aside."""
    known = {QmsError.http_status, *(error.http_status for error in QmsError.__subclasses__())}
    return sorted({*known, *map(int, HTTP_CODES)} - {HTTPStatus.METHOD_NOT_ALLOWED})


def _command_operation(row: Command, places: dict[type[Any], Schema]) -> dict[str, Any]:
    return {
        **_operation(row, places, _KEYS),
        "parameters": [_PROJECT],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": places[row.request], "example": row.example}
            },
        },
    }


def _operation(
    row: Command, places: dict[type[Any], Schema], security: list[dict[str, list[str]]]
) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": places[row.response]}}
    if has_formats(row):
        content["text/plain"] = {"schema": {"type": "string", "description": "Rows of TOON"}}
    return {
        "operationId": row.name,
        "summary": row.help,
        "description": f"Needs tier {row.least.label}.",
        "tags": [row.toolset],
        "security": security,
        "responses": {
            "200": {"description": _sentence(row.response.__doc__), "content": content},
            **{str(status): _ERROR for status in error_statuses()},
        },
    }


def _sentence(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "The answer").strip()


def _error_response() -> dict[str, Any]:
    return {
        "description": "What went wrong, and what to do about it",
        "content": {"application/json": {"schema": {"$ref": f"{_PLACE}Error"}}},
    }


def _error_schema() -> Schema:
    error = {
        "type": "object",
        "properties": {
            "code": {"type": "string"},
            "message": {"type": "string"},
            "details": {"type": "object"},
        },
        "required": ["code", "message", "details"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"error": error},
        "required": ["error"],
        "additionalProperties": False,
    }
