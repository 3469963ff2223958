"""The fold: bringing what the journal holds into `entries.jsonl`, then cutting the journal.

The order is what makes it safe: archive, change log, new file, announcement, swap, base, audit,
cut. A crash between any two steps leaves a state from which the next start comes to the same
entries.
"""

import logging
import time

from qms.domain.changes import Remove
from qms.files.append_log import archive_line
from qms.files.base import BaseMeta
from qms.files.journal import JournalRecord
from qms.store.cut_off import finish_cut_off
from qms.store.file_side import CutOff, FileSide, FoldedWrites, Previous
from qms.store.image import Image
from qms.store.late_writes import take_late_writes
from qms.store.options import FoldOutcome
from qms.store.render import chunks, render
from qms.store.writer import Snapshot

log = logging.getLogger(__name__)

_RETRY_S = 2.0


def fold_due_in(side: FileSide, now: float) -> float | None:
    """Return the seconds until a fold is due, or None when there is nothing to fold."""
    since = side.writer.pending_since
    is_idle = since is None and not side.needs_base
    if is_idle or side.held is not None or side.writer.is_frozen:
        return None
    options = side.writer.options
    wait = max(options.fold_after_s, side.fold_took_s / options.fold_share)
    is_small = side.writer.view.total_bytes < options.small_file_bytes
    latest = options.small_fold_latest_s if is_small else options.fold_latest_s
    due = now if since is None else since + min(wait, latest)
    return max(0.0, due - now, side.fold_not_before - now)


def fold(side: FileSide) -> FoldOutcome:
    """Bring everything written so far into the file."""
    with side.lock:
        if side.held is not None or side.writer.is_frozen:
            return FoldOutcome.HELD
        _look_for_late_writes(side)
        snapshot = side.writer.snapshot()
        if not snapshot.pending and not snapshot.records and not side.needs_base:
            return FoldOutcome.NOTHING
        started = time.monotonic()
        try:
            outcome = _fold(side, snapshot)
            side.failure = None
        except OSError as error:
            log.warning("fold postponed", extra={"project": side.project, "reason": str(error)})
            side.failure = (
                f"entries.jsonl cannot be brought up to date now: {error.strerror or error};"
                " the journal holds what is missing, and the next fold tries again"
            )
            outcome = FoldOutcome.POSTPONED
        side.fold_took_s = time.monotonic() - started
        if outcome is not FoldOutcome.FOLDED:
            side.writer.give_back(snapshot)
            side.fold_not_before = time.monotonic() + _RETRY_S
        return outcome


def _fold(side: FileSide, snapshot: Snapshot) -> FoldOutcome:
    if side.entries.identity() != side.image.identity:
        return FoldOutcome.FILE_CHANGED
    finish_cut_off(side)
    side.archive.extend(archive_lines(snapshot.records))
    side.changes.extend(snapshot.records)
    image = render(side.image, snapshot.view, snapshot.pending)
    staged = side.entries.stage(chunks(image), side.base.staged_path)
    image.digest, image.identity = staged.digest, staged.identity
    meta = _meta(image, snapshot)
    if not _put_in_place(side, image, meta):
        finish_cut_off(side)
        return FoldOutcome.FILE_CHANGED
    _note_writes(side, snapshot)
    side.image = image
    side.moved = {}
    side.base.commit(meta)
    side.cut_off = None
    side.needs_base = False
    side.before_cut(snapshot.records)
    side.writer.cut(snapshot)
    side.archive.forget_recent()
    side.conflicts.forget_recent()
    side.last_fold_utc = side.clock()
    return FoldOutcome.FOLDED


def _put_in_place(side: FileSide, image: Image, meta: BaseMeta) -> bool:
    """Announce the staged file and swap it in; False when somebody saved another one meanwhile."""
    is_same = image.digest == side.image.digest
    cut_off = side.cut_off = CutOff(meta, image, is_in_place=is_same)
    side.base.announce(meta)
    if is_same:
        side.entries.keep()
        image.identity = side.image.identity
        return True
    cut_off.is_in_place = None
    cut_off.is_in_place = side.entries.swap(side.image.identity)
    if cut_off.is_in_place and side.entries.replaced is not None:
        side.previous.append(Previous(side.entries.replaced, side.image, time.monotonic()))
    return cut_off.is_in_place


def _look_for_late_writes(side: FileSide) -> None:
    try:
        take_late_writes(side)
    except OSError as error:
        log.warning("late write postponed", extra={"project": side.project, "reason": str(error)})


def _note_writes(side: FileSide, snapshot: Snapshot) -> None:
    """Remember what was written: a person who saves next may have opened the file before."""
    now = time.monotonic()
    records = ((entry_id, snapshot.view.get(entry_id)) for entry_id in snapshot.pending)
    lines = {entry_id: record.line if record else None for entry_id, record in records}
    oldest = now - side.writer.options.keep_previous_s
    side.recent = [one for one in side.recent if one.at >= oldest]
    side.recent.append(FoldedWrites(now, lines))


def _meta(image: Image, snapshot: Snapshot) -> BaseMeta:
    return BaseMeta(
        folded_sequence=snapshot.view.sequence,
        sha256=image.digest,
        entries=len(snapshot.view),
        other_lines=image.other_lines(),
        kept=[line.decode("utf-8") for line in image.kept.values()],
    )


def archive_lines(records: list[JournalRecord]) -> list[bytes]:
    """Return the lines that the removals among these records add to the archive."""
    return [
        archive_line(
            change.entry,
            reason=change.reason,
            by=record.change_set.user,
            at_utc=record.change_set.at_utc,
            undo_id=change.undo_id,
        )
        for record in records
        for change in record.change_set.changes
        if isinstance(change, Remove) and change.kept
    ]
