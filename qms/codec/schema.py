"""JSON Schema, made of the types themselves."""

from typing import Any

import msgspec

from qms.domain.bodies import BODY_TYPES
from qms.domain.entry import Entry


def type_schema(wanted: type[Any]) -> dict[str, Any]:
    """Return the JSON Schema of a type, its parts under `$defs`."""
    return msgspec.json.schema(wanted)


def entry_schema() -> dict[str, Any]:
    """Return the JSON Schema of an entry, the body of each kind under `$defs`."""
    (schema, *bodies), definitions = msgspec.json.schema_components(
        [Entry, *BODY_TYPES.values()], ref_template="#/$defs/{name}"
    )
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
        "$defs": definitions,
    }
