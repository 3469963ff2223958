"""Reads one line of `archive.jsonl`: a person may have edited it."""

from datetime import datetime
from typing import Any

import msgspec

from qms.disk.damage import line_fault
from qms.disk.line_checksum import is_altered
from qms.memory.errors import UNDECODABLE
from qms.memory.migrations import migrate
from qms.memory.validation import header_of


class Archived(msgspec.Struct, frozen=True, rename="camel"):
    """One line of `archive.jsonl`."""

    archived_utc: datetime
    reason: str
    by: str
    entry: dict[str, Any]
    undo_id: str | None = None


def read_archived(line: bytes) -> Archived | None:
    """Return what a line of the archive holds, or None if it is no archived entry."""
    if is_altered(line):
        return None
    try:
        found = msgspec.json.decode(line, type=Archived)
        entry = migrate(found.entry)
        header_of(entry)
    except UNDECODABLE:
        return None
    if not isinstance(entry.get("body"), dict):
        return None
    return found if entry is found.entry else msgspec.structs.replace(found, entry=entry)


def archive_fault(line: bytes) -> str | None:
    """Return why a line of the archive is left out, or None; a blank line is no fault."""
    fault = line_fault(line)
    if fault is None and line.strip() and read_archived(line) is None:
        return "is not an archived entry: the line is left out"
    return fault
