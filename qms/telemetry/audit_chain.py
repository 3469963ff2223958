"""Audit records and their hash chain: each record contains the hash of the one before.

A record's hash covers its line up to the hash itself, including the previous hash: editing,
removing or moving a line breaks the chain at that place.
"""

import hashlib
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import UNSET, UnsetType

from qms.disk.regular_files import regular_reader
from qms.memory.changes import Change, ChangeSet, Put
from qms.memory.errors import UNDECODABLE

FIRST_HASH = "0" * 64
"""The previous hash of the first record."""

NO_PROJECT = ""
"""The project of a record about the server itself: users, keys, projects, settings."""

_CLOSING = b'"}'


class AuditedChange(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One changed entry or server object; never contains a title, a body or a key."""

    op: str
    id: str
    version: str | None = None


class AuditRecord(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """One ChangeSet or event in the audit log: who, what, which ids and versions."""

    seq: int
    at_utc: datetime
    project: str
    store_seq: int
    user: str
    agent_id: str | None
    key_id: str | None
    command: str
    changes: tuple[AuditedChange, ...]
    is_event: bool | UnsetType = UNSET
    """True for an event, which is in no journal; `store_seq` is then its number among events."""
    previous: str
    hash: str = ""

    @property
    def sequence(self) -> str:
        """Return the sequence that `store_seq` belongs to: a project's journal, or the events."""
        return NO_PROJECT if self.is_event is True else self.project


class AuditEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An action that is not a ChangeSet: on the server itself, or on a project as a whole.

    `changes` name the objects; those of the server carry the version of the TOML file.
    """

    at_utc: datetime
    user: str
    key_id: str | None
    command: str
    changes: tuple[AuditedChange, ...]
    project: str = NO_PROJECT
    agent_id: str | None = None


class ChainEnd(msgspec.Struct, frozen=True, rename="camel"):
    """The last record of a log, and the size of the file that ends with it."""

    seq: int = 0
    hash: str = FIRST_HASH
    size: int = 0


class BadRecord(msgspec.Struct, frozen=True, rename="camel"):
    """The first record that breaks the chain."""

    line: int
    seq: int
    reason: str


_decoder = msgspec.json.Decoder(AuditRecord)


def unlinked(project: str, store_seq: int, changes: ChangeSet) -> AuditRecord:
    """Return the record of a ChangeSet, not linked into the chain yet."""
    return AuditRecord(
        seq=0,
        at_utc=changes.at_utc,
        project=project,
        store_seq=store_seq,
        user=changes.user,
        agent_id=changes.agent_id,
        key_id=changes.key_id,
        command=changes.command,
        changes=tuple(_audited(change) for change in changes.changes),
        previous="",
    )


def event_record(event: AuditEvent, number: int) -> AuditRecord:
    """Return the record of an event, not linked into the chain yet."""
    return AuditRecord(
        seq=0,
        at_utc=event.at_utc,
        project=event.project,
        store_seq=number,
        user=event.user,
        agent_id=event.agent_id,
        key_id=event.key_id,
        command=event.command,
        changes=event.changes,
        is_event=True,
        previous="",
    )


def link(end: ChainEnd, record: AuditRecord) -> tuple[bytes, ChainEnd]:
    """Return the line of `record` after `end`, and the new end of the chain."""
    linked = msgspec.structs.replace(record, seq=end.seq + 1, previous=end.hash)
    line, digest = _seal(linked)
    return line, ChainEnd(linked.seq, digest, end.size + len(line))


def closes_with(end: ChainEnd) -> bytes:
    """Return the last bytes of a file that ends with this record."""
    return end.hash.encode() + _CLOSING + b"\n"


def read_line(line: bytes) -> AuditRecord | None:
    """Return the record of a whole line, or None when the line is not a record."""
    if not line.endswith(b"\n"):
        return None
    try:
        return _decoder.decode(line)
    except UNDECODABLE:
        return None


def verify_file(path: Path, *known: ChainEnd) -> BadRecord | None:
    """Return the first record that was edited, removed or moved, or None.

    `known` are earlier ends of the log: without them, lines removed at the end of the file, or a
    chain that was rewritten from scratch, would pass.
    """
    hashes = {end.seq: end.hash for end in known if end.seq}
    try:
        with regular_reader(path) as lines:
            return _verify_lines(lines, hashes)
    except FileNotFoundError:
        return _missing(1, 1) if hashes else None


def _verify_lines(lines: BinaryIO, known: dict[int, str]) -> BadRecord | None:
    seq, previous, number = 0, FIRST_HASH, 0
    for number, line in enumerate(lines, start=1):
        record = read_line(line)
        if record is None:
            return BadRecord(number, seq + 1, "not an audit record")
        if (reason := _fault(record, line, seq + 1, previous)) is not None:
            return BadRecord(number, seq + 1, reason)
        seq, previous = record.seq, record.hash
        if known.get(seq, previous) != previous:
            return BadRecord(number, seq, "its hash is not the one that was written: replaced")
    return _missing(number + 1, seq + 1) if seq < max(known, default=0) else None


def _fault(record: AuditRecord, line: bytes, seq: int, previous: str) -> str | None:
    if record.seq != seq:
        return f"found record {record.seq} here: a record was removed or moved"
    if _seal(msgspec.structs.replace(record, hash=""))[0] != line:
        return "its content does not match its hash: edited"
    if record.previous != previous:
        return "it does not follow the record before it: one of them was replaced"
    return None


def _missing(line: int, seq: int) -> BadRecord:
    return BadRecord(line, seq, "missing at the end of the log: removed")


def _seal(record: AuditRecord) -> tuple[bytes, str]:
    unsealed = msgspec.json.encode(record).removesuffix(_CLOSING)
    digest = hashlib.sha256(unsealed).hexdigest()
    return unsealed + digest.encode() + _CLOSING + b"\n", digest


def _audited(change: Change) -> AuditedChange:
    if isinstance(change, Put):
        return AuditedChange("create" if change.created else "update", change.id, change.version)
    return AuditedChange("remove", change.id)
