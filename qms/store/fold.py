"""The fold: writes the changes in the journal into `entries.jsonl`, then cuts the journal.

The order makes it safe: archive, change log, new file, log of folds, announcement, swap, base,
audit, cut. After a crash between any two steps the next start recovers the same entries.
"""

import logging
import time

from qms.disk.append_log import archive_line
from qms.memory.changes import Put, Remove
from qms.store.base import BaseMeta
from qms.store.file_image import Image
from qms.store.file_state import InterruptedFold, Previous, StoreFiles
from qms.store.fold_log import Step, step_of
from qms.store.interrupted_fold import finish_cut_off
from qms.store.journal import JournalRecord, Operation
from qms.store.late_writes import take_late_writes
from qms.store.options import FoldOutcome
from qms.store.render import chunks, render
from qms.store.writer import Snapshot

log = logging.getLogger(__name__)

_RETRY_S = 2.0


def fold_due_in(files: StoreFiles, now: float) -> float | None:
    """Return the seconds until a fold is due, or None when there is nothing to fold."""
    since = files.writer.pending_since
    is_idle = since is None and not files.needs_base
    if is_idle or files.held is not None or files.writer.is_frozen:
        return None
    options = files.writer.options
    wait = max(options.fold_after_s, files.fold_took_s / options.fold_share)
    is_small = files.writer.view.total_bytes < options.small_file_bytes
    latest = options.small_fold_latest_s if is_small else options.fold_latest_s
    due = now if since is None else since + min(wait, latest)
    return max(0.0, due - now, files.fold_not_before - now)


def fold(files: StoreFiles) -> FoldOutcome:
    """Write every change so far into the file."""
    with files.lock:
        if files.held is not None or files.writer.is_frozen:
            return FoldOutcome.HELD
        _look_for_late_writes(files)
        snapshot = files.writer.snapshot()
        if not snapshot.pending and not snapshot.records and not files.needs_base:
            return FoldOutcome.NOTHING
        started = time.monotonic()
        try:
            outcome = _fold(files, snapshot)
            files.failure = None
        except OSError as error:
            log.warning("fold postponed", extra={"project": files.project, "reason": str(error)})
            files.failure = (
                f"entries.jsonl cannot be written now: {error.strerror or error};"
                " the journal holds the missing writes, and the next fold tries again"
            )
            outcome = FoldOutcome.POSTPONED
        files.fold_took_s = time.monotonic() - started
        if outcome is not FoldOutcome.FOLDED:
            files.writer.give_back(snapshot)
            files.fold_not_before = time.monotonic() + _RETRY_S
        return outcome


def _fold(files: StoreFiles, snapshot: Snapshot) -> FoldOutcome:
    if files.entries.identity() != files.image.identity:
        return FoldOutcome.FILE_CHANGED
    finish_cut_off(files)
    files.archive.extend(archive_lines(snapshot.records))
    files.changes.extend(snapshot.records)
    before: dict[str, bytes] = {}
    image = render(files.image, snapshot.view, snapshot.pending, before)
    staged = files.entries.stage(chunks(image), files.base.staged_path)
    image.digest, image.identity = staged.digest, staged.identity
    meta = _meta(image, snapshot)
    files.folds.extend(_steps(files, snapshot, image, before))
    if not _put_in_place(files, image, meta):
        finish_cut_off(files)
        return FoldOutcome.FILE_CHANGED
    files.image = image
    files.state = image.digest
    files.edits = []
    files.moved = {}
    files.base.commit(meta)
    files.interrupted = None
    files.needs_base = False
    files.before_cut(snapshot.records)
    files.writer.cut(snapshot)
    files.archive.forget_recent()
    files.conflicts.forget_recent()
    files.last_fold_utc = files.clock()
    return FoldOutcome.FOLDED


def _put_in_place(files: StoreFiles, image: Image, meta: BaseMeta) -> bool:
    """Announce the staged file and swap it in; False if the file was saved in between."""
    is_same = image.digest == files.image.digest
    interrupted = files.interrupted = InterruptedFold(meta, image, is_in_place=is_same)
    files.base.announce(meta)
    if is_same:
        files.entries.keep()
        image.identity = files.image.identity
        return True
    interrupted.is_in_place = None
    interrupted.is_in_place = files.entries.swap(files.image.identity)
    if interrupted.is_in_place and files.entries.replaced is not None:
        files.previous.append(Previous(files.entries.replaced, files.image, time.monotonic()))
    return interrupted.is_in_place


def _look_for_late_writes(files: StoreFiles) -> None:
    try:
        take_late_writes(files)
    except OSError as error:
        log.warning("late write postponed", extra={"project": files.project, "reason": str(error)})


def _steps(
    files: StoreFiles, snapshot: Snapshot, image: Image, before: dict[str, bytes]
) -> list[Step]:
    """Return the hand edits since the last fold, and the step of this fold."""
    changed = {
        entry_id: before.get(entry_id)
        for entry_id in snapshot.pending
        if before.get(entry_id) != _line(snapshot, entry_id)
    }
    if not changed and files.state == image.digest:
        return files.edits
    step = step_of(
        changed,
        source=files.state,
        target=image.digest,
        at_utc=files.clock(),
        completed=_adopted(snapshot),
    )
    return [*files.edits, step]


def _adopted(snapshot: Snapshot) -> set[str]:
    """Return the entries that are as a hand edit since the last fold left them."""
    return {
        change.id
        for record in snapshot.records
        if record.operation is Operation.ADOPT
        for change in record.change_set.changes
        if isinstance(change, Put) and change.line == _line(snapshot, change.id)
    }


def _line(snapshot: Snapshot, entry_id: str) -> bytes | None:
    record = snapshot.view.get(entry_id)
    return record.line if record else None


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
