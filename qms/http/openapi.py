"""Builds the OpenAPI document: one operation for each row of the command table."""

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from qms.commands.command import Command
from qms.commands.schemas import has_formats
from qms.http.errors import HTTP_CODES
from qms.memory.access import AccessTier
from qms.memory.errors import QmsError
from qms.memory.json_schema import schemas_of
from qms.version import __version__

Schema = dict[str, Any]
Security = list[dict[str, list[str]]]

_PLACE = "#/components/schemas/"
_ERROR = {"$ref": "#/components/responses/error"}
_SESSION: Security = [{"bearer": []}, {"apiKey": []}, {"session": []}]
_SESSION_CHANGE: Security = [*_SESSION[:-1], {"session": [], "csrf": []}]
_PROJECT = {
    "name": "project",
    "in": "path",
    "required": True,
    "description": "The slug of a project",
    "schema": {"type": "string"},
}
_SECURITY_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
    "session": {"type": "apiKey", "in": "cookie", "name": "qms_session"},
    "csrf": {"type": "apiKey", "in": "header", "name": "X-CSRF-Token"},
}
_PARAMETER = re.compile(r"\{(\w+)\}")
_WITHOUT_BODY = ("get", "delete")
_ADMINISTRATION = "admin"


def openapi_document(commands: Iterable[Command]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of the given rows."""
    rows = list(commands)
    types = list({kind: None for row in rows for kind in (row.request, row.response)})
    schemas, parts = schemas_of(types, place=_PLACE)
    places = dict(zip(types, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row.route is not None:
            operation = _routed_operation(row, places, parts)
            paths.setdefault(row.route.path, {})[row.route.method.lower()] = operation
        if row.toolset is not None:
            paths[f"/api/v1/{{project}}/{row.name}"] = {"post": _command_operation(row, places)}
        if row.care:
            paths[row.care_route.path] = {"post": _care_operation(row, places)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Quick Memory Server",
            "version": __version__,
            "description": "One memory for all your agents; every error has one shape",
        },
        "paths": paths,
        "components": {
            "schemas": {**parts, "Error": _error_schema()},
            "responses": {"error": _error_response()},
            "securitySchemes": _SECURITY_SCHEMES,
        },
    }


def error_statuses() -> list[int]:
    """Return every status of an error except 405, which a documented method cannot get."""
    known = {QmsError.http_status, *(error.http_status for error in QmsError.__subclasses__())}
    return sorted({*known, *map(int, HTTP_CODES)} - {HTTPStatus.METHOD_NOT_ALLOWED})


def _command_operation(row: Command, places: dict[type[Any], Schema]) -> dict[str, Any]:
    needs = f"Needs tier {row.least.label}; a key also needs toolset {row.toolset} in the project."
    return {
        **_operation(row, places[row.response], _SESSION_CHANGE),
        "description": needs,
        "parameters": [_PROJECT],
        "requestBody": _body(places[row.request], row.example),
    }


def _care_operation(row: Command, places: dict[type[Any], Schema]) -> dict[str, Any]:
    """Return a maintenance command at its `/admin` route, which needs no toolset."""
    return {
        **_command_operation(row, places),
        "operationId": _prefixed("care", row.name),
        "description": _needs(row),
        "tags": [_ADMINISTRATION],
    }


def _routed_operation(
    row: Command, places: dict[type[Any], Schema], parts: dict[str, Schema]
) -> dict[str, Any]:
    """Return an administration command: arguments in the path, else in query or body."""
    assert row.route is not None
    request = parts[places[row.request]["$ref"].removeprefix(_PLACE)]
    fields, required = request["properties"], request.get("required", [])
    in_path = _PARAMETER.findall(row.route.path)
    others = {name: schema for name, schema in fields.items() if name not in in_path}
    parameters = [_parameter(name, "path", fields[name], required=True) for name in in_path]
    needed = [name for name in others if name in required]
    security = _SESSION if row.route.method == "GET" else _SESSION_CHANGE
    if row.least is AccessTier.NONE:
        security = [*security, {}]
    operation = {
        **_operation(row, places[row.response], security),
        "operationId": row.name if row.toolset is None else _prefixed("server", row.name),
        "tags": [_ADMINISTRATION],
    }
    if row.route.method.lower() in _WITHOUT_BODY:
        parameters += [
            _parameter(name, "query", schema, required=name in needed)
            for name, schema in others.items()
        ]
        return {**operation, "parameters": parameters}
    body = {"type": "object", "properties": others, "required": needed}
    example = {name: value for name, value in row.example.items() if name in others}
    return {**operation, "parameters": parameters, "requestBody": _body(body, example)}


def _parameter(name: str, place: str, schema: Schema, *, required: bool) -> dict[str, Any]:
    return {"name": name, "in": place, "required": required, "schema": schema}


def _body(schema: Schema, example: dict[str, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": schema, "example": example}}
    return {"required": True, "content": content}


def _operation(row: Command, response: Schema, security: Security) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": response}}
    if has_formats(row):
        content["text/plain"] = {"schema": {"type": "string", "description": "Rows of TOON"}}
    return {
        "operationId": row.name,
        "summary": row.help,
        "description": _needs(row),
        "tags": [row.toolset],
        "security": security,
        "responses": {
            "200": {"description": _sentence(row.response.__doc__), "content": content},
            **{str(status): _ERROR for status in error_statuses()},
        },
    }


def _prefixed(prefix: str, name: str) -> str:
    """Return the id of an operation that runs a command at another place, too."""
    return f"{prefix}{name[0].upper()}{name[1:]}"


def _needs(row: Command) -> str:
    return f"Needs tier {row.least.label}."


def _sentence(text: str | None) -> str:
    return " ".join((text or "The answer").split())


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
