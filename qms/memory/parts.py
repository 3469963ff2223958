"""Parts: chunks belong to a document, are guarded as it is, and come and go with it."""

import msgspec

from qms.memory.access import AccessTier, Right, SystemRight, may_edit, tier_to_edit
from qms.memory.bodies import Kind
from qms.memory.entry import Header
from qms.memory.errors import UNDECODABLE, NotAllowedError

PART_OF = "partOf"
"""The relation of a chunk to its document."""

CHUNK_COUNT = "chunkCount"
"""The key of a document's metadata that says how many chunks it has."""

BEFORE = "before"
"""The key of a chunk's metadata with the words before it, for its vector."""


def document_id_of(header: Header) -> str | None:
    """Return the id of the document that a chunk belongs to; None for any other entry."""
    if header.kind is not Kind.CHUNK:
        return None
    return next((one.target_id for one in header.relations if one.type == PART_OF), None)


class _Relation(msgspec.Struct, frozen=True, rename="camel"):
    type: str = ""
    target_id: str = ""


class _Line(msgspec.Struct, frozen=True):
    kind: str = ""
    relations: list[_Relation] = []


_lines = msgspec.json.Decoder(_Line)


def is_part_line(line: bytes, document_id: str) -> bool:
    """Say whether a line of JSON is a chunk of this document."""
    try:
        found = _lines.decode(line)
    except UNDECODABLE:
        return False
    wanted = _Relation(PART_OF, document_id)
    return found.kind == Kind.CHUNK.value and wanted in found.relations


def check_part(right: Right, document: Header, *, is_open: bool) -> None:
    """Raise `NotAllowedError` unless a chunk of this document may be made, changed or removed.

    `is_open` says that the document is written in the same change, or is still incomplete.
    """
    if isinstance(right, SystemRight):
        return
    if not may_edit(right, document):
        least = tier_to_edit(document)
        raise NotAllowedError(
            f"chunks are guarded as their document {document.id}: tier {least.label} is needed",
            needs=least.label,
            has=AccessTier(right).label,
        )
    if not is_open:
        raise NotAllowedError(
            f"chunks are made by storeDocument only: store {document.id} again to change them",
            field="kind",
            documentId=document.id,
        )
