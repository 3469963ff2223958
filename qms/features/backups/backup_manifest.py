"""The manifest of a backup: its content, the hash of each file and its parent."""

import hashlib
from datetime import datetime
from enum import StrEnum

import msgspec

from qms.disk.append_log import LogMark
from qms.memory.errors import UNDECODABLE

FORMAT = 1
MANIFEST_NAME = "manifest.json"


class BackupKind(StrEnum):
    """The kind of a backup: a whole store, or the changes since its parent."""

    FULL = "full"
    DIFFERENTIAL = "differential"


class BackupFile(msgspec.Struct, frozen=True, rename="camel"):
    """One file of a backup, as it was read back."""

    sha256: str
    bytes: int
    lines: int


class ParentLink(msgspec.Struct, frozen=True, rename="camel"):
    """The previous backup; a differential needs exactly this one to be restored."""

    id: str
    sha256: str
    """Of the parent's manifest."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The description of a backup that is stored with it."""

    id: str
    project: str
    mode: BackupKind
    created_utc: datetime
    lineage: str
    sequence: int
    """The last write that it holds."""
    changes_after: int | None
    """The write that its change sets follow; None if they come from a comparison."""
    entries: int
    entry_bytes: int
    """The size of the entries in the file, to check a rebuilt store."""
    parent: ParentLink | None
    archive: LogMark
    other_lines: tuple[int, ...] = ()
    """Positions in the file of lines that are no entries."""
    files: dict[str, BackupFile]


class _Envelope(msgspec.Struct, frozen=True):
    format: int
    sha256: str
    backup: msgspec.Raw


class BrokenBackupError(Exception):
    """A backup does not match its manifest; the message says how."""


def encode_manifest(manifest: Manifest) -> bytes:
    """Return the content of the manifest's file, with its own hash."""
    backup = msgspec.Raw(msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    return msgspec.json.encode(_Envelope(FORMAT, _digest(backup), backup)) + b"\n"


def decode_manifest(data: bytes) -> Manifest:
    """Return the manifest of a file's content.

    Raises:
        BrokenBackupError: it was changed, or has another format version.
    """
    try:
        envelope = msgspec.json.decode(data, type=_Envelope)
        if envelope.format != FORMAT:
            raise BrokenBackupError(f"{MANIFEST_NAME} has unknown format {envelope.format}")
        if _digest(envelope.backup) != envelope.sha256:
            raise BrokenBackupError(f"{MANIFEST_NAME} does not match its hash")
        return msgspec.json.decode(envelope.backup, type=Manifest)
    except UNDECODABLE as error:
        raise BrokenBackupError(f"{MANIFEST_NAME} cannot be read: {error}") from None


def manifest_digest(manifest: Manifest) -> str:
    """Return the hash by which a child names this backup."""
    return _digest(encode_manifest(manifest))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
