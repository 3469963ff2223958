"""Generates JSON Schema from the types."""

from collections.abc import Iterable
from typing import Any

import msgspec

from qms.memory.bodies import BODY_TYPES
from qms.memory.entry import Entry

HIDDEN_KEY = "x-hidden"
HIDDEN = msgspec.Meta(extra_json_schema={HIDDEN_KEY: True})
"""The annotation of a field that works and that tool lists leave out, to stay short."""


def type_schema(wanted: type[Any]) -> dict[str, Any]:
    """Return the JSON Schema of a type, its parts under `$defs`."""
    return msgspec.json.schema(wanted)


def schemas_of(
    wanted: Iterable[type[Any]], *, place: str
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return a schema for each type, and the parts that they refer to at `place`."""
    schemas, parts = msgspec.json.schema_components(wanted, ref_template=f"{place}{{name}}")
    return list(schemas), parts


def entry_schema(*others: type[Any]) -> dict[str, Any]:
    """Return the JSON Schema of an entry; bodies and other types are under `$defs`."""
    (schema, *bodies), definitions = schemas_of(
        [Entry, *BODY_TYPES.values(), *others], place="#/$defs/"
    )
    bodies = bodies[: len(BODY_TYPES)]
    by_kind = [
        {
            "if": {"properties": {"kind": {"const": kind.value}}, "required": ["kind"]},
            "then": {"properties": {"body": body}},
        }
        for kind, body in zip(BODY_TYPES, bodies, strict=True)
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "allOf": by_kind,
        "$defs": {**definitions, "MemoryEntry": schema},
    }
