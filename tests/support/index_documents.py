"""Small documents for tests of the indexes."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from qms.index.indexed_entry import IndexDocument
from qms.memory.bodies import Kind
from qms.memory.entry import Header, Timestamps

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
_HEADER_FIELDS = frozenset(Header.__struct_fields__)


def index_note(local_id: str, text: str, **fields: Any) -> IndexDocument:
    """Return a note of project `p`; `fields` are of its header or of the document."""
    given = {name: fields.pop(name) for name in list(fields) if name in _HEADER_FIELDS}
    header = Header(
        id=f"p:{local_id}",
        kind=Kind.NOTE,
        title=given.pop("title", local_id),
        timestamps=Timestamps(NOW, NOW),
    )
    return IndexDocument(header=msgspec.structs.replace(header, **given), text=text, **fields)
