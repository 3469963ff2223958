"""Conflict copies: versions that lost against a hand edit, kept until they are dismissed."""

import logging
from collections.abc import Set

import msgspec

from qms.disk.append_log import archive_line
from qms.disk.disk import FileIdentity
from qms.memory.errors import UNDECODABLE
from qms.memory.validation import instant_text
from qms.store.file_state import StoreFiles
from qms.store.options import Origin
from qms.store.view import Record

log = logging.getLogger(__name__)

_REASON = "conflict"


class _Copy(msgspec.Struct):
    """The id and entry of a conflict copy, as raw JSON; a hand edit may have removed either."""

    id: msgspec.Raw = msgspec.Raw(b"")
    entry: msgspec.Raw = msgspec.Raw(b"")


def conflict_line(
    entry_id: str, record: Record, reason: str, identity: FileIdentity | None
) -> bytes:
    """Return the copy of a version that lost; the same conflict gives the same bytes."""
    return msgspec.json.encode(
        {
            "id": entry_id,
            "reason": reason,
            "sequence": record.order,
            "writtenUtc": instant_text(record.header.timestamps.updated_utc),
            "fileTimeNs": identity.mtime_ns if identity else 0,
            "entry": msgspec.Raw(record.line),
        }
    )


def dismiss(files: StoreFiles, ids: Set[str] | None, origin: Origin) -> int:
    """Move the copies of these entries, or all, to the archive; return how many there were.

    They are in the archive before they leave the conflict copies: a crash in between leaves them
    in both.

    Raises:
        OSError: they are still conflict copies.
    """
    wanted = None if ids is None else {msgspec.json.encode(one) for one in ids}
    with files.lock:
        chosen = {
            line: copy.entry or msgspec.Raw(line)
            for line in files.conflicts.lines()
            if (copy := _read(line)) is not None and (wanted is None or bytes(copy.id) in wanted)
        }
        by, at_utc = origin.user, origin.at_utc
        files.archive.extend(
            [archive_line(entry, reason=_REASON, by=by, at_utc=at_utc) for entry in chosen.values()]
        )
        dismissed = files.conflicts.drop(chosen.__contains__)
    if dismissed:
        log.info("conflicts dismissed", extra={"project": files.project, "copies": dismissed})
    return dismissed


def _read(line: bytes) -> _Copy | None:
    try:
        line.decode()  # the entry is copied without being decoded
        return msgspec.json.decode(line, type=_Copy)
    except UNDECODABLE:
        return None  # torn in a crash or broken by hand: the line stays, and does not count
