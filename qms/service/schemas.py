"""What a command takes and answers, as JSON Schema with an object at the top."""

from typing import Any

from qms.codec.schema import type_schema
from qms.service.calls import Command

_DEFINITIONS = "$defs"
_PLACE = f"#/{_DEFINITIONS}/"


def request_schema(command: Command) -> dict[str, Any]:
    """Return the JSON Schema of a command's request."""
    return _unfolded(type_schema(command.request))


def response_schema(command: Command) -> dict[str, Any]:
    """Return the JSON Schema of a command's response."""
    return _unfolded(type_schema(command.response))


def _unfolded(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema whose top is the type itself: clients do not follow a reference there."""
    definitions = dict(schema.get(_DEFINITIONS, {}))
    name = schema.get("$ref", "").removeprefix(_PLACE)
    top = definitions.pop(name, schema)
    return {**top, _DEFINITIONS: definitions} if definitions else top
