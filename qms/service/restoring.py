"""Restoring: a store as it was in a backup or at a moment, in one change set.

What is there is kept as a backup of its own first. Then all that differs is written through the
store's writer as one record of the journal: a crash leaves the store before it or after it.
"""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from qms.codec.hand_lines import GoodLine, LineReader
from qms.domain.errors import ConflictError, NotFoundError, UnavailableError
from qms.files.backup import Shelf
from qms.files.backup_manifest import BackupKind, BrokenBackupError
from qms.service.backup_desk import BackupDesk
from qms.service.backup_taking import Order, take
from qms.store.draft import Draft
from qms.store.memory_store import MemoryStore
from qms.store.options import Origin
from qms.store.past import Live, Past, rebuild, rebuild_at
from qms.upkeep.backups import PRE_RESTORE, Found, chain, timeline

REASON = "restored"
"""Why entries that a restore takes out are in the archive."""

SAMPLES = 10


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What to go back to: a backup, or a moment."""

    backup_id: str | None = None
    at_utc: datetime | None = None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """What a restore changes, by id."""

    added: list[str]
    changed: list[str]
    removed: list[str]


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a restore; without `kept_as` nothing was done."""

    past: Past
    difference: Difference
    sequence: int
    """The store's last write when it was compared."""
    kept_as: str | None = None


def restore(
    store: MemoryStore,
    desk: BackupDesk,
    target: Target,
    origin: Origin,
    *,
    dry_run: bool = False,
    if_sequence: int | None = None,
) -> Restored:
    """Bring a store back, or say what that would change.

    Raises:
        NotFoundError: there is no such backup, or none that old.
        UnavailableError: a backup that is needed is broken, or the present cannot be kept.
        ConflictError: the store was written since `if_sequence`.
    """
    with desk.busy:
        past = _checked(store, find_past(store, desk.shelf, target), origin.at_utc)
        view = store.view
        present = {one: record.line for one, record in view.records.items()}
        found = Restored(
            past=past, difference=difference(present, past.lines), sequence=view.sequence
        )
        _check_sequence(found, if_sequence)
        if dry_run:
            return found
        kept_as = _keep_present(store, desk, origin.at_utc)
        _add_archive(store, past)
        applied = store.commit(origin, lambda draft: _apply(draft, past))
    return msgspec.structs.replace(found, difference=applied, kept_as=kept_as)


def find_past(store: MemoryStore, shelf: Shelf, target: Target) -> Past:
    """Return what the store was."""
    found = shelf.all(store.project)
    try:
        if target.at_utc is not None:
            return _at(store, shelf, found, target.at_utc)
        if target.backup_id not in [one.id for one in found]:
            raise NotFoundError(f"there is no backup {str(target.backup_id)[:64]!r}")
        assert target.backup_id is not None
        return rebuild(shelf, chain(found, target.backup_id))
    except BrokenBackupError as error:
        raise UnavailableError(f"the backup cannot be used: {error}") from error


def difference(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Difference:
    """Return what changes between two states, by id."""
    return Difference(
        added=sorted(after.keys() - before.keys()),
        changed=sorted(one for one in before.keys() & after.keys() if before[one] != after[one]),
        removed=sorted(before.keys() - after.keys()),
    )


def _at(store: MemoryStore, shelf: Shelf, found: Found, at_utc: datetime) -> Past:
    moment = store.keepsake.present()
    made = timeline(found)
    if not any(one.mode is BackupKind.FULL and one.created_utc <= at_utc for one in made):
        oldest = f"the oldest is {made[0].id}" if made else "there is none yet"
        raise NotFoundError(f"no backup reaches back to that moment: {oldest}")
    return rebuild_at(shelf, made, Live(moment.lineage, moment.logged), at_utc)


def _checked(store: MemoryStore, past: Past, now: datetime) -> Past:
    """Return the past without lines that are no entries of this project by today's rules."""
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
            "entries were written since that was looked at: look again, and repeat it",
            version=str(found.sequence),
        )


def _keep_present(store: MemoryStore, desk: BackupDesk, now: datetime) -> str:
    order = Order(
        id=PRE_RESTORE + desk.new_id(),
        mode=BackupKind.FULL,
        at_utc=now,
        config_text=desk.config_text(),
    )
    return take(store, desk.shelf, order, lambda _done, _total: None).id


def _add_archive(store: MemoryStore, past: Past) -> None:
    try:
        store.keepsake.add_to_archive(past.archive)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnavailableError(f"the archive cannot be written now: {reason}") from error


def _apply(draft: Draft, past: Past) -> Difference:
    """Bring the draft to the past; decided inside the writer, whatever was written meanwhile."""
    present = {one: record.line for one in draft.ids() if (record := draft.get(one)) is not None}
    found = difference(present, past.lines)
    for entry_id in found.removed:
        draft.remove(entry_id, reason=REASON)
    wanted = {*found.added, *found.changed}
    for entry_id, line in past.lines.items():
        if entry_id in wanted:
            draft.put_line(line)
    return found
