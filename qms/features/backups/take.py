"""Takes one backup: writes a snapshot of a store to files and reads them back."""

import logging
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial

import msgspec

from qms.features.backups import files
from qms.features.backups.backup_manifest import (
    BackupKind,
    BrokenBackupError,
    Manifest,
    ParentLink,
    manifest_digest,
)
from qms.features.backups.files import BackupFolder, BackupWriter
from qms.features.backups.past import Past, encode_features, rebuild
from qms.features.backups.plan import PRE_RESTORE, Found, chain, timeline
from qms.memory.access import SYSTEM_USER
from qms.memory.changes import Change, ChangeSet, Put, Remove
from qms.memory.errors import UnavailableError
from qms.memory.lines import decode_line
from qms.memory.validation import version_of
from qms.store.change_log import Logged, encode_logged
from qms.store.feature_files import SavedFeatures
from qms.store.file_image import Image
from qms.store.memory_store import MemoryStore
from qms.store.render import chunks
from qms.store.snapshot import StoreSnapshot
from qms.store.view import StoreView

log = logging.getLogger(__name__)

COMPARED = "compare"
"""The command of a change set that comes from a comparison with the parent."""

Progress = Callable[[int, int], None]


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """The backup to make."""

    id: str
    mode: BackupKind
    at_utc: datetime
    config_text: str
    """The configuration without its secrets."""


class _Part(msgspec.Struct, frozen=True):
    """The change sets of a backup, the write that they follow, and the files of features."""

    logged: list[Logged]
    after: int | None
    features: SavedFeatures = {}


def stamp(moment: datetime) -> str:
    """Return the id of a backup made at this moment."""
    return moment.strftime("%Y%m%dT%H%M%S%fZ")


def take(
    store: MemoryStore, backup_folder: BackupFolder, order: Order, progress: Progress
) -> Manifest:
    """Make a backup and return its manifest; a differential without a usable parent is full.

    Raises:
        UnavailableError: the disk cannot be written; the partial backup is removed.
    """
    store.check_files()  # reports unreadable files before the backup
    try:
        manifest = _take(store, backup_folder, order, progress)
    except BrokenBackupError as error:
        log.warning("backup parent broken", extra={"reason": str(error)})
        order = msgspec.structs.replace(order, mode=BackupKind.FULL)
        return take(store, backup_folder, order, progress)
    except OSError as error:
        raise UnavailableError(
            f"the backup of {store.project} failed: {error.strerror or error}",
            project=store.project,
        ) from error
    if not order.id.startswith(PRE_RESTORE):
        _forget(store, manifest)
    return manifest


def _take(
    store: MemoryStore, backup_folder: BackupFolder, order: Order, progress: Progress
) -> Manifest:
    found = backup_folder.all(store.project)
    parent = None if order.id.startswith(PRE_RESTORE) else _parent(found)
    is_full = parent is None or order.mode is BackupKind.FULL
    since = None if is_full or parent is None else parent.archive
    moment = store.snapshots.moment(whole=is_full, archive_since=since)
    part = _part(backup_folder, found, parent, moment, order, is_full=is_full)
    part = msgspec.structs.replace(part, features=store.features.saved())
    return _write(backup_folder, order, moment, part, parent, progress)


def _parent(found: Found) -> Manifest | None:
    """Return the newest backup if its whole chain is there."""
    made = timeline(found)
    try:
        return chain(found, made[-1].id)[-1] if made else None
    except BrokenBackupError as error:
        log.warning("backup chain broken", extra={"reason": str(error)})
        return None


def _part(
    backup_folder: BackupFolder,
    found: Found,
    parent: Manifest | None,
    moment: StoreSnapshot,
    order: Order,
    *,
    is_full: bool,
) -> _Part:
    """Return the change sets between the parent and this moment.

    Without a parent the whole change log: it names the author and time of current versions.
    """
    if parent is None:
        return _Part(moment.logged, None)
    logged = [one for one in moment.logged if one.sequence > parent.sequence]
    is_known = parent.lineage == moment.lineage
    if is_known and len(logged) == moment.view.sequence - parent.sequence:
        return _Part(logged, parent.sequence)
    if is_full:
        return _Part(moment.logged, None)
    past = rebuild(backup_folder, chain(found, parent.id))
    return _Part([_compared(past, moment.view, order.at_utc)], None)


def _compared(past: Past, view: StoreView, at_utc: datetime) -> Logged:
    """Return one change set that leads from the past to a view."""
    changes: list[Change] = [
        Put(one, msgspec.Raw(record.line), version_of(decode_line(record.line)))
        for one, record in view.records.items()
        if past.lines.get(one) != record.line
    ]
    changes += [
        Remove(one, msgspec.Raw(line), COMPARED, kept=False)
        for one, line in past.lines.items()
        if one not in view.records
    ]
    change_set = ChangeSet(
        changes=tuple(changes), command=COMPARED, user=SYSTEM_USER, at_utc=at_utc
    )
    return Logged(view.sequence, change_set)


def _write(
    backup_folder: BackupFolder,
    order: Order,
    moment: StoreSnapshot,
    part: _Part,
    parent: Manifest | None,
    progress: Progress,
) -> Manifest:
    project, view, image = moment.view.project, moment.view, moment.image
    with backup_folder.writer(project, order.id) as writer:
        if image is not None:
            _add_entries(writer, moment, image, progress)
            _add(writer, files.KEPT_NAME, b"".join(one + b"\n" for one in image.kept.values()))
            _add(writer, files.CONFIG_NAME, order.config_text.encode("utf-8"))
        changes = [encode_logged(one.sequence, one.change_set) + b"\n" for one in part.logged]
        _add(writer, files.CHANGES_NAME, b"".join(changes))
        _add(writer, files.ARCHIVE_NAME, moment.archive)
        _add(writer, files.FEATURES_NAME, encode_features(part.features))
        manifest = Manifest(
            id=order.id,
            project=project,
            mode=BackupKind.FULL if image is not None else BackupKind.DIFFERENTIAL,
            created_utc=order.at_utc,
            lineage=moment.lineage,
            sequence=view.sequence,
            changes_after=part.after,
            entries=len(view),
            entry_bytes=view.total_bytes,
            parent=None if parent is None else ParentLink(parent.id, manifest_digest(parent)),
            archive=moment.archive_mark,
            other_lines=tuple(image.other_lines()) if image is not None else (),
            files=writer.files,
        )
        writer.finish(manifest)
    return manifest


def _add_entries(
    writer: BackupWriter, moment: StoreSnapshot, image: Image, progress: Progress
) -> None:
    """Write the entries; copy the file if it is unchanged, which is cheaper."""
    total = len(image.raws)
    is_copied = moment.file is not None and writer.copy(
        files.ENTRIES_NAME, moment.file, sha256=image.digest, lines=total
    )
    if is_copied:
        progress(total, total)
    else:
        writer.add(files.ENTRIES_NAME, partial(_counted, image, progress))


def _add(writer: BackupWriter, name: str, data: bytes) -> None:
    if data:
        writer.add(name, lambda: [data])


def _counted(image: Image, progress: Progress) -> Iterator[bytes]:
    total, done = len(image.raws), 0

    def count(chunk: bytes) -> bytes:
        nonlocal done
        done = min(total, done + chunk.count(b"\n"))
        progress(done, total)
        return chunk

    return map(count, chunks(image))


def _forget(store: MemoryStore, manifest: Manifest) -> None:
    try:
        store.snapshots.forget(manifest.sequence)
    except OSError as error:
        # The next backup skips these records by their sequence.
        log.warning("change log not cut", extra={"reason": error.strerror})
