"""The schema document: an entry, and what every command takes and answers."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from qms.codec.documents import instant_text
from qms.codec.schema import entry_schema, schemas_of
from qms.service.calls import Command

_PLACE = "#/$defs/"


def schema_document(commands: Iterable[Command], generated: datetime) -> dict[str, Any]:
    """Return the JSON Schema of an entry, with all other types and the commands that use them."""
    rows = list(commands)
    types = list({kind: None for row in rows for kind in (row.request, row.response)})
    places = dict(zip(types, schemas_of(types, place=_PLACE)[0], strict=True))
    return {
        **entry_schema(*types),
        "generatedUtc": instant_text(generated),
        "commands": {
            row.name: {"request": places[row.request], "response": places[row.response]}
            for row in rows
        },
    }
