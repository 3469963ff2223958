"""JSON Schema of requests and responses, short enough for an agent's context.

Requests are described whole, with definitions inlined, without titles and docstrings of the code.
Responses are described to the depth of one level: each field and its type.
"""

from enum import EnumType
from typing import Annotated, Any, get_args, get_origin

import msgspec

from qms.commands.command import Command
from qms.memory.filters import Filter, Format
from qms.memory.json_schema import HIDDEN_KEY, type_schema

Schema = dict[str, Any]

_DEFINITIONS = "$defs"
_REFERENCE = f"#/{_DEFINITIONS}/"
_NULL = {"type": "null"}
_OBJECT = {"type": "object"}
_STRING, _ARRAY = "string", "array"
_OMITTED_DEFAULTS: tuple[Any, ...] = (None, [], (), {}, False, "")
"""Defaults that mean the same as leaving the field out."""

_SINGULARS = ("kind", "tier", "tag")
"""Other spellings of a filter's lists: accepted, but left out of the schema."""


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
    return any(_has_rows(field.type) for field in fields)


def _has_rows(kind: Any) -> bool:
    """Say whether a type is an enum of formats that includes TOON, of any toolset."""
    kind = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    values = [one.value for one in list[Any](kind)] if isinstance(kind, EnumType) else []
    return Format.TOON.value in values


def _short(schema: Schema, definitions: dict[str, Schema]) -> Schema:
    """Return a schema with definitions inlined, without titles, nulls and empty defaults."""
    if "anyOf" in schema:
        choices = [_short(one, definitions) for one in schema["anyOf"] if one != _NULL]
        # Without a default, leaving the field out means something else than null.
        if _NULL in schema["anyOf"] and "default" not in schema:
            choices = _with_null(choices)
        return _described(choices[0] if len(choices) == 1 else {"anyOf": choices}, schema)
    is_filter = schema.get("$ref") == _REFERENCE + Filter.__name__
    found = _resolved(schema, definitions)
    short = {key: found[key] for key in _KEPT if found.get(key) not in (None, [])}
    if "enum" in short:
        short.setdefault("type", _STRING)
    if found.get("default") not in _OMITTED_DEFAULTS:
        short["default"] = found["default"]
    if "properties" in found:
        short["properties"] = {
            name: _short(part, definitions)
            for name, part in found["properties"].items()
            if not (is_filter and name in _SINGULARS) and HIDDEN_KEY not in part
        }
    if found.get("type") == _ARRAY:
        short["items"] = _short(found.get("items") or _OBJECT, definitions)
    return _described(short, schema)


MIRROR_KEYWORD = "x-mcp-header"
"""Names the header that repeats a field, for the servers between client and server."""

_KEPT = (
    *("type", "enum", "format", "minimum", "maximum", "minItems", "maxItems", "required"),
    MIRROR_KEYWORD,
)


def _with_null(choices: list[Schema]) -> list[Schema]:
    match choices:
        case [{"type": str(name)} as only] if "enum" not in only and name != _OBJECT["type"]:
            return [{**only, "type": [name, "null"]}]
        case _:
            return [*choices, _NULL]


def _resolved(schema: Schema, definitions: dict[str, Schema]) -> Schema:
    name = schema.get("$ref", "").removeprefix(_REFERENCE)
    return {**definitions[name], **schema} if name else schema


def _described(short: Schema, schema: Schema) -> Schema:
    """Return the schema with the field's description, which then replaces its properties.

    The description of a type is its docstring, for readers of the code, and is left out.
    """
    description = schema.get("description") if "title" not in schema else None
    if description is None:
        return short
    without_fields = {key: short[key] for key in short if key != "properties"}
    if "enum" in schema:
        without_fields["enum"] = schema["enum"]  # the usual ones of a long list
    return {**without_fields, "description": description}


def _fields(schema: Schema) -> dict[str, Schema]:
    fields: dict[str, Schema] = schema.get("properties", {})
    return fields


def _outline(part: Schema, definitions: dict[str, Schema]) -> Schema:
    """Return the type of a value, and of what is in it if it is a list."""
    choices = [_outline_of_one(one, definitions) for one in part.get("anyOf", [part])]
    if len(choices) == 1:
        return choices[0]
    if all(one.keys() == _NULL.keys() and one != _OBJECT for one in choices):
        return {"type": [one["type"] for one in choices]}
    # Strict converters look for lists and objects in `anyOf`, not in a list of types.
    return {"anyOf": choices}


def _outline_of_one(choice: Schema, definitions: dict[str, Schema]) -> Schema:
    """Return the type of one choice; what has no type of its own is a whole entry."""
    found = _resolved(choice, definitions)
    if "enum" in found:
        return {"type": _STRING}
    outline: Schema = {"type": found.get("type", _OBJECT["type"])}
    if outline["type"] == _ARRAY:
        outline["items"] = _outline(found.get("items") or {}, definitions)
    return outline
