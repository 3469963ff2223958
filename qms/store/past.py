"""What a store was: its entries rebuilt from a full backup and the change sets that followed."""

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from qms.codec.hand_lines import LineReader
from qms.domain.changes import Put
from qms.domain.limits import DEFAULT_LIMITS
from qms.files.backup import ARCHIVE_NAME, CHANGES_NAME, ENTRIES_NAME, KEPT_NAME, Shelf
from qms.files.backup_manifest import BackupKind, BrokenBackupError, Manifest
from qms.files.change_log import Logged, decode_logged
from qms.files.journal import JournalRecord, Operation
from qms.store.fold import archive_lines
from qms.store.image import split_lines, trusted_image
from qms.store.view import Record


class Past(msgspec.Struct):
    """The entries of a store at some moment, by id, and what its archive held."""

    lines: dict[str, bytes]
    sequence: int
    archive: list[bytes]
    unreadable: list[bytes]
    """Lines of the file that were no entries: a person's, kept in the backup."""
    at_utc: datetime | None = None
    """When the last change was made that it holds, where one was applied."""
    is_exact: bool = True
    """Whether nothing is missing between the backups that it was made of."""

    @property
    def entry_bytes(self) -> int:
        """Return what the entries take in the file."""
        return sum(map(len, self.lines.values())) + len(self.lines)

    def apply(self, logged: Logged) -> None:
        """Bring one change set onto it."""
        for change in logged.change_set.changes:
            if isinstance(change, Put):
                self.lines[change.id] = change.line
            else:
                self.lines.pop(change.id, None)
        record = JournalRecord(logged.sequence, Operation.COMMIT, logged.change_set)
        self.archive += archive_lines([record])
        self.sequence, self.at_utc = logged.sequence, logged.change_set.at_utc


class Live(msgspec.Struct, frozen=True):
    """What no backup has taken over yet."""

    lineage: str
    logged: list[Logged]


def changes_of(shelf: Shelf, manifest: Manifest) -> list[Logged]:
    """Return the change sets that a backup carries.

    Raises:
        BrokenBackupError: they were changed.
    """
    try:
        return decode_logged(split_lines(shelf.read(manifest, CHANGES_NAME)))
    except msgspec.MsgspecError as error:
        raise BrokenBackupError(f"{manifest.id}: {CHANGES_NAME}: {error}") from None


def rebuild(shelf: Shelf, chain: Sequence[Manifest]) -> Past:
    """Return what a store was at the last backup of a chain that begins with a full one.

    Raises:
        BrokenBackupError: one of them is not what it says of itself.
    """
    past = _from_full(shelf, chain[0])
    for manifest in chain[1:]:
        _follow(past, shelf, manifest)
    last = chain[-1]
    if (len(past.lines), past.entry_bytes) != (last.entries, last.entry_bytes):
        raise BrokenBackupError(
            f"{last.id}: {len(past.lines)} entries of {past.entry_bytes} bytes come out,"
            f" not {last.entries} of {last.entry_bytes}"
        )
    return past


def rebuild_at(shelf: Shelf, timeline: Sequence[Manifest], live: Live, moment: datetime) -> Past:
    """Return what a store was at a moment, from its backups, oldest first, and its live log.

    By the order of writes: all up to the last one that was made until then, whatever the clock
    said in between.

    Raises:
        BrokenBackupError: no full backup is as old as that, or one is not what it says.
    """
    fulls = [number for number, one in enumerate(timeline) if one.mode is BackupKind.FULL]
    usable = [number for number in fulls if timeline[number].created_utc <= moment]
    if not usable:
        oldest = timeline[fulls[0]].created_utc.isoformat() if fulls else "not there"
        raise BrokenBackupError(f"no full backup is that old: the oldest is {oldest}")
    past = _from_full(shelf, timeline[usable[-1]])
    followed, known_until = _followed(shelf, timeline[usable[-1] :], live, moment)
    past.is_exact = moment <= known_until
    done = [number for number, one in enumerate(followed) if _is_made(one, moment)]
    for logged in followed[: done[-1] + 1 if done else 0]:
        past.apply(logged)
    return past


def _followed(
    shelf: Shelf, timeline: Sequence[Manifest], live: Live, moment: datetime
) -> tuple[list[Logged], datetime]:
    """Return the writes after a full backup, and until when all of them are known one by one."""
    followed: list[Logged] = []
    before = timeline[0]
    for manifest in timeline[1:]:
        if manifest.changes_after is None and manifest.created_utc > moment:
            return followed, before.created_utc  # compared: what happened has no times
        followed += changes_of(shelf, manifest)
        before = manifest
    if before.lineage != live.lineage:
        return followed, before.created_utc
    followed += [one for one in live.logged if one.sequence > before.sequence]
    return followed, max(before.created_utc, moment)


def _is_made(logged: Logged, moment: datetime) -> bool:
    return logged.change_set.at_utc <= moment


def _from_full(shelf: Shelf, manifest: Manifest) -> Past:
    if manifest.mode is not BackupKind.FULL:
        raise BrokenBackupError(f"{manifest.id}: its parents are missing")
    data = shelf.read(manifest, ENTRIES_NAME)
    reader = LineReader(project=manifest.project, limits=DEFAULT_LIMITS, instant=_EPOCH)
    try:
        image, records = trusted_image(data, list(manifest.other_lines), reader)
        records += map(Record.from_line, split_lines(shelf.read(manifest, KEPT_NAME)))
    except msgspec.MsgspecError as error:
        raise BrokenBackupError(f"{manifest.id}: {ENTRIES_NAME}: {error}") from None
    return Past(
        lines={record.header.id: record.line for record in records},
        sequence=manifest.sequence,
        archive=split_lines(shelf.read(manifest, ARCHIVE_NAME)),
        unreadable=[image.raws[number] for number in manifest.other_lines],
    )


def _follow(past: Past, shelf: Shelf, manifest: Manifest) -> None:
    logged = changes_of(shelf, manifest)
    sequences = [one.sequence for one in logged]
    is_whole = sequences == list(range(past.sequence + 1, manifest.sequence + 1))
    if manifest.changes_after is not None and not is_whole:
        raise BrokenBackupError(f"{manifest.id}: writes are missing between it and its parent")
    for one in logged:
        past.apply(one)
    past.archive += split_lines(shelf.read(manifest, ARCHIVE_NAME))
    past.sequence = manifest.sequence


_EPOCH = datetime.fromtimestamp(0, UTC)
