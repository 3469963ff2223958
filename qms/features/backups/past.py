"""Rebuilds past states of a store from a full backup and the change sets after it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import PurePath

import msgspec

from qms.features.backups.backup_manifest import BackupKind, BrokenBackupError, Manifest
from qms.features.backups.files import (
    ARCHIVE_NAME,
    CHANGES_NAME,
    ENTRIES_NAME,
    FEATURES_NAME,
    KEPT_NAME,
    BackupFolder,
)
from qms.memory.changes import Put
from qms.memory.errors import UNDECODABLE
from qms.memory.hand_lines import LineReader
from qms.memory.limits import DEFAULT_LIMITS
from qms.store.change_log import Logged, decode_logged
from qms.store.feature_files import SavedFeatures
from qms.store.file_image import split_lines, trusted_image
from qms.store.fold import archive_lines
from qms.store.journal import JournalRecord, Operation
from qms.store.view import Record


class Past(msgspec.Struct):
    """The entries of a store at a past moment, by id, and the lines of its archive."""

    lines: dict[str, bytes]
    sequence: int
    archive: list[bytes]
    unreadable: list[bytes]
    """Lines of the file that were no entries; they stay in the backup."""
    at_utc: datetime | None = None
    """The time of the last applied change, if there is one."""
    is_exact: bool = True
    """Whether no write is missing between the backups used."""
    features: SavedFeatures = {}
    """The files of features in the newest backup used."""

    @property
    def entry_bytes(self) -> int:
        """Return the size of the entries in the file."""
        return sum(map(len, self.lines.values())) + len(self.lines)

    def apply(self, logged: Logged) -> None:
        """Apply one change set."""
        for change in logged.change_set.changes:
            if isinstance(change, Put):
                self.lines[change.id] = change.line
            else:
                self.lines.pop(change.id, None)
        record = JournalRecord(logged.sequence, Operation.COMMIT, logged.change_set)
        self.archive += archive_lines([record])
        self.sequence, self.at_utc = logged.sequence, logged.change_set.at_utc


class Live(msgspec.Struct, frozen=True):
    """The change log of the store that no backup holds yet."""

    lineage: str
    logged: list[Logged]


def changes_of(backup_folder: BackupFolder, manifest: Manifest) -> list[Logged]:
    """Return the change sets of a backup.

    Raises:
        BrokenBackupError: their file was changed.
    """
    try:
        return decode_logged(split_lines(backup_folder.read(manifest, CHANGES_NAME)))
    except UNDECODABLE as error:
        raise BrokenBackupError(f"{manifest.id}: {CHANGES_NAME}: {error}") from None


def features_of(backup_folder: BackupFolder, manifest: Manifest) -> SavedFeatures:
    """Return the files of features that a backup holds.

    Raises:
        BrokenBackupError: their file was changed.
    """
    data = backup_folder.read(manifest, FEATURES_NAME)
    try:
        return decode_features(data)
    except UNDECODABLE as error:
        raise BrokenBackupError(f"{manifest.id}: {FEATURES_NAME}: {error}") from None


def encode_features(saved: SavedFeatures) -> bytes:
    """Return the content of the file that holds the files of features; empty without any."""
    return msgspec.json.encode(saved) + b"\n" if saved else b""


def decode_features(data: bytes) -> SavedFeatures:
    """Return the files of features.

    Raises:
        msgspec.ValidationError: it is no such file, or names a path outside of its place.
    """
    saved = msgspec.json.decode(data, type=SavedFeatures) if data else {}
    for path in (PurePath(name) for contents in saved.values() for name in contents):
        if path.is_absolute() or ".." in path.parts:
            raise msgspec.ValidationError(f"{path} is outside of its place")
    return saved


def rebuild(backup_folder: BackupFolder, chain: Sequence[Manifest]) -> Past:
    """Return the state of a store at the last backup of a chain that begins with a full one.

    Raises:
        BrokenBackupError: a backup does not match its manifest.
    """
    past = _from_full(backup_folder, chain[0])
    for manifest in chain[1:]:
        _follow(past, backup_folder, manifest)
    last = chain[-1]
    past.features = features_of(backup_folder, last)
    if (len(past.lines), past.entry_bytes) != (last.entries, last.entry_bytes):
        raise BrokenBackupError(
            f"{last.id}: the rebuilt store has {len(past.lines)} entries in {past.entry_bytes}"
            f" bytes, not {last.entries} in {last.entry_bytes}"
        )
    return past


def rebuild_at(
    backup_folder: BackupFolder, timeline: Sequence[Manifest], live: Live, moment: datetime
) -> Past:
    """Return the state of a store at a moment, from its backups, oldest first, and its live log.

    The order of writes counts, not the clock: every write up to the last one that is not later
    than the moment is applied.

    Raises:
        BrokenBackupError: no full backup is that old, or a backup does not match its manifest.
    """
    fulls = [number for number, one in enumerate(timeline) if one.mode is BackupKind.FULL]
    usable = [number for number in fulls if timeline[number].created_utc <= moment]
    if not usable:
        oldest = timeline[fulls[0]].created_utc.isoformat() if fulls else "missing"
        raise BrokenBackupError(f"no full backup is that old: the oldest is {oldest}")
    past = _from_full(backup_folder, timeline[usable[-1]])
    followed, known_until = _followed(backup_folder, timeline[usable[-1] :], live, moment)
    past.is_exact = moment <= known_until
    used = [one for one in timeline if one.created_utc <= moment]
    past.features = features_of(backup_folder, used[-1])
    done = [number for number, one in enumerate(followed) if _is_made(one, moment)]
    for logged in followed[: done[-1] + 1 if done else 0]:
        past.apply(logged)
    return past


def _followed(
    backup_folder: BackupFolder, timeline: Sequence[Manifest], live: Live, moment: datetime
) -> tuple[list[Logged], datetime]:
    """Return the writes after a full backup, and the time until which every write is known."""
    followed: list[Logged] = []
    before = timeline[0]
    for manifest in timeline[1:]:
        if manifest.changes_after is None and manifest.created_utc > moment:
            return followed, before.created_utc  # found by comparing: writes without times
        followed += changes_of(backup_folder, manifest)
        before = manifest
    if before.lineage != live.lineage:
        return followed, before.created_utc
    followed += [one for one in live.logged if one.sequence > before.sequence]
    return followed, max(before.created_utc, moment)


def _is_made(logged: Logged, moment: datetime) -> bool:
    return logged.change_set.at_utc <= moment


def _from_full(backup_folder: BackupFolder, manifest: Manifest) -> Past:
    if manifest.mode is not BackupKind.FULL:
        raise BrokenBackupError(f"{manifest.id}: its parents are missing")
    data = backup_folder.read(manifest, ENTRIES_NAME)
    reader = LineReader(project=manifest.project, limits=DEFAULT_LIMITS, instant=_EPOCH)
    try:
        image, records = trusted_image(data, list(manifest.other_lines), reader)
        records += map(Record.from_line, split_lines(backup_folder.read(manifest, KEPT_NAME)))
    except UNDECODABLE as error:
        raise BrokenBackupError(f"{manifest.id}: {ENTRIES_NAME}: {error}") from None
    return Past(
        lines={record.header.id: record.line for record in records},
        sequence=manifest.sequence,
        archive=split_lines(backup_folder.read(manifest, ARCHIVE_NAME)),
        unreadable=[image.raws[number] for number in manifest.other_lines],
    )


def _follow(past: Past, backup_folder: BackupFolder, manifest: Manifest) -> None:
    logged = changes_of(backup_folder, manifest)
    sequences = [one.sequence for one in logged]
    is_whole = sequences == list(range(past.sequence + 1, manifest.sequence + 1))
    if manifest.changes_after is not None and not is_whole:
        raise BrokenBackupError(f"{manifest.id}: writes are missing between it and its parent")
    for one in logged:
        past.apply(one)
    past.archive += split_lines(backup_folder.read(manifest, ARCHIVE_NAME))
    past.sequence = manifest.sequence


_EPOCH = datetime.fromtimestamp(0, UTC)
