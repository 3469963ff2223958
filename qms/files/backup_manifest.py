"""The manifest of a backup: what it holds, the hash of each file, and what it follows."""

import hashlib
from datetime import datetime
from enum import StrEnum

import msgspec

from qms.files.append_log import LogMark

FORMAT = 1
MANIFEST_NAME = "manifest.json"


class BackupKind(StrEnum):
    """What a backup holds: a whole store, or what changed since its parent."""

    FULL = "full"
    DIFFERENTIAL = "differential"


class BackupFile(msgspec.Struct, frozen=True, rename="camel"):
    """One file of a backup, as it was read back."""

    sha256: str
    bytes: int
    lines: int


class ParentLink(msgspec.Struct, frozen=True, rename="camel"):
    """The backup before: without it, and exactly it, a differential is nothing."""

    id: str
    sha256: str
    """Of the parent's manifest."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a backup says of itself."""

    id: str
    project: str
    mode: BackupKind
    created_utc: datetime
    lineage: str
    sequence: int
    """The last write that it holds."""
    changes_after: int | None
    """The write that its change sets follow; None when they were found by comparing."""
    entries: int
    entry_bytes: int
    """What the entries take in the file, for comparing what is rebuilt."""
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
    """A backup is not what it says of itself; the message says how."""


def encode_manifest(manifest: Manifest) -> bytes:
    """Return the content of the manifest's file, with its own hash."""
    backup = msgspec.Raw(msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    return msgspec.json.encode(_Envelope(FORMAT, _digest(backup), backup)) + b"\n"


def decode_manifest(data: bytes) -> Manifest:
    """Return what the file says.

    Raises:
        BrokenBackupError: it was changed, or is of another version.
    """
    try:
        envelope = msgspec.json.decode(data, type=_Envelope)
        if envelope.format != FORMAT:
            raise BrokenBackupError(f"{MANIFEST_NAME} is of format {envelope.format}")
        if _digest(envelope.backup) != envelope.sha256:
            raise BrokenBackupError(f"{MANIFEST_NAME} does not match its hash")
        return msgspec.json.decode(envelope.backup, type=Manifest)
    except msgspec.MsgspecError as error:
        raise BrokenBackupError(f"{MANIFEST_NAME} cannot be read: {error}") from None


def manifest_digest(manifest: Manifest) -> str:
    """Return by what a child names this backup."""
    return _digest(encode_manifest(manifest))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
