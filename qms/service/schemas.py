"""What a command takes and answers, as JSON Schema short enough for an agent's context.

Requests are told whole, their parts in place, without the names and remarks of the code.
Responses are told to the depth at which a client reads them: each field and its type.
"""

from typing import Any

import msgspec

from qms.codec.schema import type_schema
from qms.domain.queries import Filter, Format
from qms.service.ai_memory.shapes import TextFormat
from qms.service.calls import Command

Schema = dict[str, Any]

_DEFINITIONS = "$defs"
_PLACE = f"#/{_DEFINITIONS}/"
_NULL = {"type": "null"}
_UNSAID_DEFAULTS: tuple[Any, ...] = (None, [], (), {}, False, "")
"""Leaving the field out says the same."""

_SINGULARS = ("kind", "tier", "tag")
"""Other spellings of a filter's lists: taken, and not worth an agent's attention."""


def request_schema(command: Command) -> Schema:
    """Return the JSON Schema of a command's request."""
    full = type_schema(command.request)
    return _short(full, full.get(_DEFINITIONS, {}))


def response_schema(command: Command) -> Schema:
    """Return the JSON Schema of a command's response, rows of text included."""
    full = type_schema(command.response)
    definitions = full.get(_DEFINITIONS, {})
    top = _resolved(full, definitions)
    fields = {name: _outline(part, definitions) for name, part in _fields(top).items()}
    required = [] if has_formats(command) else top.get("required", [])
    # Rows come with `format` and `count` alone beside the text, so that no field is always there.
    return {"type": "object", "properties": fields} | ({"required": required} if required else {})


def has_formats(command: Command) -> bool:
    """Say whether a command can answer in rows of text."""
    fields = msgspec.structs.fields(command.request)
    return any(field.type in (Format, TextFormat) for field in fields)


def _short(schema: Schema, definitions: dict[str, Schema]) -> Schema:
    """Return a schema with its parts in place, without titles, nulls and defaults that say no."""
    if "anyOf" in schema:
        choices = [_short(one, definitions) for one in schema["anyOf"] if one != _NULL]
        return _described(choices[0] if len(choices) == 1 else {"anyOf": choices}, schema)
    is_filter = schema.get("$ref") == _PLACE + Filter.__name__
    found = _resolved(schema, definitions)
    short = {key: found[key] for key in _KEPT if found.get(key) not in (None, [])}
    if found.get("default") not in _UNSAID_DEFAULTS:
        short["default"] = found["default"]
    if "properties" in found:
        short["properties"] = {
            name: _short(part, definitions)
            for name, part in found["properties"].items()
            if not (is_filter and name in _SINGULARS)
        }
    if found.get("items"):
        short["items"] = _short(found["items"], definitions)
    return _described(short, schema)


_KEPT = ("type", "enum", "format", "minimum", "maximum", "required")


def _resolved(schema: Schema, definitions: dict[str, Schema]) -> Schema:
    name = schema.get("$ref", "").removeprefix(_PLACE)
    return {**definitions[name], **schema} if name else schema


def _described(short: Schema, schema: Schema) -> Schema:
    """Return it with what the field says of itself, in place of parts that need not be told then.

    What a type says of itself is for readers of the code.
    """
    said = schema.get("description") if "title" not in schema else None
    if said is None:
        return short
    return {**{key: short[key] for key in short if key != "properties"}, "description": said}


def _fields(schema: Schema) -> dict[str, Schema]:
    fields: dict[str, Schema] = schema.get("properties", {})
    return fields


def _outline(part: Schema, definitions: dict[str, Schema]) -> Schema:
    choices = part.get("anyOf", [part])
    types = [_type_name(_resolved(choice, definitions)) for choice in choices]
    if None in types:
        return {}
    return {"type": types[0] if len(types) == 1 else types}


def _type_name(schema: Schema) -> str | None:
    return "string" if "enum" in schema else schema.get("type")
