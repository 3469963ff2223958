"""Taking one backup: from a moment of a store to files that were read back."""

import logging
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial

import msgspec

from qms.codec.documents import version_of
from qms.codec.lines import decode_line
from qms.domain.changes import Change, ChangeSet, Put, Remove
from qms.domain.errors import UnavailableError
from qms.files import backup
from qms.files.backup import BackupWriter, Shelf
from qms.files.backup_manifest import (
    BackupKind,
    BrokenBackupError,
    Manifest,
    ParentLink,
    manifest_digest,
)
from qms.files.change_log import Logged, encode_logged
from qms.store.image import Image
from qms.store.memory_store import MemoryStore
from qms.store.moment import Moment
from qms.store.past import Past, rebuild
from qms.store.render import chunks
from qms.store.view import StoreView
from qms.upkeep.backups import PRE_RESTORE, Found, chain, timeline

log = logging.getLogger(__name__)

COMPARED = "compare"
"""The command of a change set that was found by comparing with the parent."""

Progress = Callable[[int, int], None]


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be made."""

    id: str
    mode: BackupKind
    at_utc: datetime
    config_text: str
    """The configuration without its secrets."""


class _Part(msgspec.Struct, frozen=True):
    """The change sets of a backup, and after which write they begin."""

    logged: list[Logged]
    after: int | None


def stamp(moment: datetime) -> str:
    """Return how a moment is named on the shelf."""
    return moment.strftime("%Y%m%dT%H%M%S%fZ")


def take(store: MemoryStore, shelf: Shelf, order: Order, progress: Progress) -> Manifest:
    """Make a backup and return its manifest; a differential without a usable parent is full.

    Raises:
        UnavailableError: the disk does not take it; nothing is left of it.
    """
    try:
        manifest = _take(store, shelf, order, progress)
    except BrokenBackupError as error:
        log.warning("backup not compared", extra={"reason": str(error)})
        order = msgspec.structs.replace(order, mode=BackupKind.FULL)
        return take(store, shelf, order, progress)
    except OSError as error:
        raise UnavailableError(
            f"no backup of {store.project} could be made: {error.strerror or error}",
            project=store.project,
        ) from error
    if not order.id.startswith(PRE_RESTORE):
        _forget(store, manifest)
    return manifest


def _take(store: MemoryStore, shelf: Shelf, order: Order, progress: Progress) -> Manifest:
    found = shelf.all(store.project)
    parent = None if order.id.startswith(PRE_RESTORE) else _parent(found)
    is_full = parent is None or order.mode is BackupKind.FULL
    since = None if is_full or parent is None else parent.archive
    moment = store.keepsake.moment(whole=is_full, archive_since=since)
    part = _part(shelf, found, parent, moment, order, is_full=is_full)
    return _write(shelf, order, moment, part, parent, progress)


def _parent(found: Found) -> Manifest | None:
    """Return the newest backup, if the whole chain below it is there."""
    made = timeline(found)
    try:
        return chain(found, made[-1].id)[-1] if made else None
    except BrokenBackupError as error:
        log.warning("backup chain broken", extra={"reason": str(error)})
        return None


def _part(
    shelf: Shelf,
    found: Found,
    parent: Manifest | None,
    moment: Moment,
    order: Order,
    *,
    is_full: bool,
) -> _Part:
    """Return the change sets that lead from the parent to this moment."""
    if parent is None:
        return _Part(_outlived(moment), None)
    logged = [one for one in moment.logged if one.sequence > parent.sequence]
    is_known = parent.lineage == moment.lineage
    if is_known and len(logged) == moment.view.sequence - parent.sequence:
        return _Part(logged, parent.sequence)
    if is_full:
        return _Part(_outlived(moment), None)
    past = rebuild(shelf, chain(found, parent.id))
    return _Part([_compared(past, moment.view, order.at_utc)], None)


def _outlived(moment: Moment) -> list[Logged]:
    """Return what the log holds besides the present versions: those are in the entries."""
    kept = []
    for one in moment.logged:
        changes = tuple(c for c in one.change_set.changes if not _is_present(c, moment.view))
        if changes:
            rest = msgspec.structs.replace(one.change_set, changes=changes)
            kept.append(Logged(one.sequence, rest))
    return kept


def _is_present(change: Change, view: StoreView) -> bool:
    record = view.get(change.id)
    return isinstance(change, Put) and record is not None and record.line == change.line


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
    change_set = ChangeSet(changes=tuple(changes), command=COMPARED, user="system", at_utc=at_utc)
    return Logged(view.sequence, change_set)


def _write(
    shelf: Shelf,
    order: Order,
    moment: Moment,
    part: _Part,
    parent: Manifest | None,
    progress: Progress,
) -> Manifest:
    project, view, image = moment.view.project, moment.view, moment.image
    with shelf.writer(project, order.id) as writer:
        if image is not None:
            _add_entries(writer, moment, image, progress)
            _add(writer, backup.KEPT_NAME, b"".join(one + b"\n" for one in image.kept.values()))
            _add(writer, backup.CONFIG_NAME, order.config_text.encode("utf-8"))
        changes = [encode_logged(one.sequence, one.change_set) + b"\n" for one in part.logged]
        _add(writer, backup.CHANGES_NAME, b"".join(changes))
        _add(writer, backup.ARCHIVE_NAME, moment.archive)
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


def _add_entries(writer: BackupWriter, moment: Moment, image: Image, progress: Progress) -> None:
    """Write the entries, from the file where it still is what it was: that costs a copy."""
    total = len(image.raws)
    is_copied = moment.file is not None and writer.copy(
        backup.ENTRIES_NAME, moment.file, sha256=image.digest, lines=total
    )
    if is_copied:
        progress(total, total)
    else:
        writer.add(backup.ENTRIES_NAME, partial(_counted, image, progress))


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
        store.keepsake.forget(manifest.sequence)
    except OSError as error:
        # What is still in the log is left out by its sequence next time.
        log.warning("change log not cut", extra={"reason": error.strerror})
