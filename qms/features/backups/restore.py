"""Restores a store to a backup or a moment, in one change set.

The current state is kept as a backup first. Then every difference is written through the store's
writer as one journal record: after a crash the store is either unchanged or restored.
"""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from qms.features.backups.backup_manifest import BackupKind, BrokenBackupError
from qms.features.backups.files import BackupFolder
from qms.features.backups.past import Live, Past, rebuild, rebuild_at
from qms.features.backups.plan import PRE_RESTORE, Found, chain, timeline
from qms.features.backups.queue import BackupQueue
from qms.features.backups.take import Order, take
from qms.memory.errors import ConflictError, NotFoundError, UnavailableError
from qms.memory.hand_lines import GoodLine, LineReader
from qms.store.draft import Draft
from qms.store.memory_store import MemoryStore
from qms.store.options import Origin

REASON = "restored"
"""The archive reason of entries that a restore removes."""

SAMPLES = 10


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """The state to restore: a backup, or a moment."""

    backup_id: str | None = None
    at_utc: datetime | None = None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The entries that a restore adds, changes and removes, by id."""

    added: list[str]
    changed: list[str]
    removed: list[str]


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a restore; without `kept_as` nothing was changed."""

    past: Past
    difference: Difference
    sequence: int
    """The store's last write when it was compared."""
    kept_as: str | None = None


def restore(
    store: MemoryStore,
    queue: BackupQueue,
    target: Target,
    origin: Origin,
    *,
    dry_run: bool = False,
    if_sequence: int | None = None,
) -> Restored:
    """Restore a store, or report what that would change.

    Raises:
        NotFoundError: there is no such backup, or none that old.
        UnavailableError: a needed backup is broken, or the current state cannot be backed up.
        ConflictError: the store was written since `if_sequence`.
    """
    with queue.busy:
        past = _checked(store, find_past(store, queue.backup_folder, target), origin.at_utc)
        view = store.view
        present = {one: record.line for one, record in view.records.items()}
        found = Restored(
            past=past, difference=difference(present, past.lines), sequence=view.sequence
        )
        _check_sequence(found, if_sequence)
        if dry_run:
            return found
        kept_as = _keep_present(store, queue, origin.at_utc)
        _add_files(store, past)
        applied = store.commit(origin, lambda draft: _apply(draft, past))
    return msgspec.structs.replace(found, difference=applied, kept_as=kept_as)


def find_past(store: MemoryStore, backup_folder: BackupFolder, target: Target) -> Past:
    """Return the state of the store at the target."""
    found = backup_folder.all(store.project)
    try:
        if target.at_utc is not None:
            return _at(store, backup_folder, found, target.at_utc)
        if target.backup_id not in [one.id for one in found]:
            raise NotFoundError(f"there is no backup {str(target.backup_id)[:64]!r}")
        assert target.backup_id is not None
        return rebuild(backup_folder, chain(found, target.backup_id))
    except BrokenBackupError as error:
        raise UnavailableError(f"the backup cannot be used: {error}") from error


def difference(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Difference:
    """Return the differences between two states, by id."""
    return Difference(
        added=sorted(after.keys() - before.keys()),
        changed=sorted(one for one in before.keys() & after.keys() if before[one] != after[one]),
        removed=sorted(before.keys() - after.keys()),
    )


def _at(store: MemoryStore, backup_folder: BackupFolder, found: Found, at_utc: datetime) -> Past:
    moment = store.snapshots.present()
    made = timeline(found)
    if not any(one.mode is BackupKind.FULL and one.created_utc <= at_utc for one in made):
        oldest = f"the oldest is {made[0].id}" if made else "there is none yet"
        raise NotFoundError(f"no backup reaches back to that moment: {oldest}")
    return rebuild_at(backup_folder, made, Live(moment.lineage, moment.logged), at_utc)


def _checked(store: MemoryStore, past: Past, now: datetime) -> Past:
    """Return the past without lines that are not valid entries of this project today."""
    reader = LineReader(project=store.project, limits=store.limits, instant=now)
    good: dict[str, bytes] = {}
    for entry_id, line in past.lines.items():
        match reader.read(line, lambda: "-"):
            case GoodLine(header=header, newer=False) if header.id == entry_id:
                good[entry_id] = line
            case _:
                past.unreadable.append(line)
    past.lines = good
    return past


def _check_sequence(found: Restored, if_sequence: int | None) -> None:
    if if_sequence is not None and if_sequence != found.sequence:
        raise ConflictError(
            "the store was written after the dry run: run it again, then repeat the restore",
            version=str(found.sequence),
        )


def _keep_present(store: MemoryStore, queue: BackupQueue, now: datetime) -> str:
    order = Order(
        id=PRE_RESTORE + queue.new_id(),
        mode=BackupKind.FULL,
        at_utc=now,
        config_text=queue.config_text(),
    )
    return take(store, queue.backup_folder, order, lambda _done, _total: None).id


def _add_files(store: MemoryStore, past: Past) -> None:
    try:
        store.snapshots.add_to_archive(past.archive)
        store.features.put_back(past.features)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnavailableError(f"the archive cannot be written now: {reason}") from error


def _apply(draft: Draft, past: Past) -> Difference:
    """Apply the past to the draft, compared inside the writer with everything written so far."""
    present = {one: record.line for one in draft.ids() if (record := draft.get(one)) is not None}
    found = difference(present, past.lines)
    draft.is_whole_copy = True
    for entry_id in found.removed:
        draft.remove(entry_id, reason=REASON, force=True)
    wanted = {*found.added, *found.changed}
    for entry_id, line in past.lines.items():
        if entry_id in wanted:
            draft.put_line(line)
    return found
