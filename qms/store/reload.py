"""The reload: applies a hand edit of `entries.jsonl`.

Live edits and edits made while the server was down take the same path: read strictly, compare with
the base, merge, journal, publish the view.
"""

import functools
import logging
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from qms.disk.regular_files import UnfitFileError
from qms.memory.changes import Change, Put, Remove
from qms.memory.entry import SCHEMA_VERSION
from qms.memory.errors import UnavailableError
from qms.memory.hand_lines import NEWER_SCHEMA, is_utf16
from qms.store.adopt import adopt
from qms.store.base import digest_of
from qms.store.completed_lines import completed_ids, only_completed
from qms.store.entries_file import FileState
from qms.store.file_image import FileReading, Image, read_image
from qms.store.file_state import Held, StoreFiles, Unsettled
from qms.store.fold_log import mark_of
from qms.store.interrupted_fold import find_parent, possibly_taken_out
from qms.store.late_writes import take_late_writes
from qms.store.merge import (
    merge,
    missing_ids,
    must_hold,
    own_lines,
    spoiled_ids,
)
from qms.store.older_buffer import History, Save, Verdict, judge
from qms.store.options import ReloadReport
from qms.telemetry import metrics

log = logging.getLogger(__name__)

_UNSETTLED = ReloadReport(settled=False)

_LOGGED_LINES = 20
"""How many bad lines of one file are logged one by one."""
_NAMED = 5
"""How many entries a notice names."""


def look(files: StoreFiles) -> ReloadReport:
    """Apply hand edits, unless the file may be half written: then the caller tries again."""
    return _guarded(files, lambda: _reload(files, None, is_careful=True))


def reload(files: StoreFiles, *, take_deletions: bool | None = None) -> ReloadReport:
    """Apply hand edits; the caller knows that the file is complete.

    `take_deletions` decides about a held file: apply it as it is, or only its additions and
    changes.
    """
    return _guarded(files, lambda: _reload(files, take_deletions, is_careful=False))


def _guarded(files: StoreFiles, work: Callable[[], ReloadReport]) -> ReloadReport:
    with files.lock:
        try:
            take_late_writes(files)
            return work()
        except UnfitFileError:
            return _UNSETTLED  # the disk reports it until it is fixed
        except OSError as error:
            log.warning("reload postponed", extra={"project": files.project, "reason": str(error)})
            files.failure = f"entries.jsonl cannot be read or applied: {error.strerror or error}"
            return _UNSETTLED


def _reload(files: StoreFiles, take_deletions: bool | None, *, is_careful: bool) -> ReloadReport:
    if take_deletions is None:
        identity = files.entries.identity()
        if identity == (files.held.identity if files.held else files.image.identity):
            return ReloadReport(held=files.held is not None)
    state = files.entries.read()
    if state is None:
        return _UNSETTLED
    digest = digest_of(state.data) if state.data is not None else ""
    find_parent(files, state.data or b"", digest)
    if digest == files.image.digest and not files.held and not files.moved:
        files.image.identity = state.identity
        return ReloadReport()
    began = time.monotonic()
    base = files.base_lines()
    reading = read_file(files, state)
    reading.image.digest = digest
    gone = missing_ids(base, reading.image)
    if is_careful and not _is_settled(files, reading, gone, state.data or b""):
        return _UNSETTLED
    report = take(files, reading, base, gone, take_deletions=take_deletions)
    _measure(report, time.monotonic() - began)
    return report


def _is_settled(files: StoreFiles, reading: FileReading, gone: set[str], data: bytes) -> bool:
    """Say whether missing entries were removed; else the file may still be being written.

    An editor that truncates and writes may pause between two writes for any time.
    """
    identity = reading.image.identity
    if identity is None or not gone:
        files.unsettled = None
        return True
    now = time.monotonic()
    if files.unsettled is None or files.unsettled.identity != identity:
        files.unsettled = Unsettled(identity, now)
    last = len(reading.image.raws) - 1
    is_torn = not data.endswith(b"\n") and any(one.index == last for one in reading.image.problems)
    options = files.writer.options
    return now - files.unsettled.since >= (options.settle_torn_s if is_torn else options.settle_s)


def _measure(report: ReloadReport, seconds: float) -> None:
    metrics.RELOAD_SECONDS.observe(seconds)
    for change in ("added", "changed", "removed", "conflicts"):
        metrics.RELOADED_ENTRIES.labels(change).inc(getattr(report, change))


def read_file(files: StoreFiles, state: FileState) -> FileReading:
    """Read the file strictly, except for lines that were read before."""
    data = state.data or b""
    known = files.image.known_lines(without=files.moved)
    completed = functools.cache(lambda: completed_ids(files.image, files.steps(), data))
    reading = read_image(
        data,
        known,
        files.reader(state.identity),
        files.image.taken_ids(),
        lambda line: completed().get(mark_of(line), ()),
    )
    reading.image.identity = state.identity
    return reading


def take(
    files: StoreFiles,
    reading: FileReading,
    base: dict[str, bytes],
    missing: set[str],
    *,
    take_deletions: bool | None,
) -> ReloadReport:
    """Merge a file into RAM, or hold it."""
    spoiled = spoiled_ids(files.image, reading.image, missing, files.added_later())
    taken_out = possibly_taken_out(files, missing)
    same = only_completed(reading, base)
    verdict = _judge(files, reading, base, missing=missing, spoiled=spoiled, same=same)
    spoiled -= verdict.stays
    gone = missing - spoiled - taken_out - verdict.stays
    if take_deletions is None and _hold(files, reading, base, gone):
        return ReloadReport(held=True, problems=len(reading.image.problems))
    if take_deletions is False and not reading.image.taken_ids():
        return _restore(files, reading)
    copy_before_migration(files, reading)
    with files.writer.lock:
        stays = gone if take_deletions is False else set()
        unseen = verdict.unseen | _removed_here(files, base)
        left = verdict.stays | same
        fresh = {one: good for one, good in reading.fresh.items() if one not in left}
        plan = merge(base, fresh, gone - stays, files.writer.view, unseen)
        report = adopt(files, plan, reading, outdated=_outdated(reading, base, left))
        reading.image.kept = {entry_id: base[entry_id] for entry_id in spoiled}
        back = stays | taken_out | left
        files.note_edit([*reading.fresh, *missing], reading.image.digest)
        settle(files, reading, back_into_file=[entry_id for entry_id in base if entry_id in back])
    _report_older_save(files, verdict)
    return report


def _hold(files: StoreFiles, reading: FileReading, base: dict[str, bytes], gone: set[str]) -> bool:
    """Hold a file that lost too many entries; say whether it did."""
    reason = reason_to_hold(files, reading, base, gone)
    if reason is None:
        return False
    if files.held is None:
        log.warning("edit held", extra={"project": files.project, "reason": reason})
    files.held = Held(reason, reading.image.identity)
    return True


def _judge(
    files: StoreFiles,
    reading: FileReading,
    base: dict[str, bytes],
    *,
    missing: set[str],
    spoiled: set[str],
    same: frozenset[str],
) -> Verdict:
    """Find out which entries the person had not seen."""
    steps = files.steps()
    first = steps[0].source if steps else files.state
    return judge(
        Save(
            reading=reading,
            image=files.image,
            base=base,
            missing=missing,
            spoiled=spoiled,
            same=same,
        ),
        History(steps=steps, is_whole=not first),
        now=files.clock(),
        unseen_s=files.writer.options.keep_previous_s,
    )


def _outdated(
    reading: FileReading, base: dict[str, bytes], stays: frozenset[str]
) -> tuple[Change, ...]:
    """Return what a file from an older buffer has of the entries that keep our version."""
    lines = reading.image.lines_of(stays)
    return tuple(
        Put(one, msgspec.Raw(lines[one]), "")
        if one in lines
        else Remove(one, msgspec.Raw(base[one]), kept=False)
        for one in sorted(stays)
    )


def _report_older_save(files: StoreFiles, verdict: Verdict) -> None:
    """Report a save from an older buffer, until the next save."""
    files.older_save = None
    if not verdict.stays:
        return
    names = sorted(verdict.stays)
    files.older_save = (
        f"entries.jsonl was saved from an older buffer: {len(names)} entries that the server wrote"
        f" after it was opened are kept ({', '.join(names[:_NAMED])}"
        f"{', …' if len(names) > _NAMED else ''}); reload the file in your editor before you save"
        " again, and remove lines in a separate save"
    )
    log.warning("older buffer merged", extra={"project": files.project, "kept": len(names)})


def _removed_here(files: StoreFiles, base: dict[str, bytes]) -> set[str]:
    """Return what the server removed since the last fold and the base no longer has."""
    own = own_lines(files.writer.uncut)
    return {entry_id for entry_id, lines in own.items() if None in lines and entry_id not in base}


def _restore(files: StoreFiles, reading: FileReading) -> ReloadReport:
    """Make the next fold write the previous file again, followed by the lines of this one."""
    known, found = files.image, reading.image
    if found.raws and is_utf16(found.raws[0]):
        files.entries.keep_copy()
        found.raws, found.problems = [], []
    image = Image(
        ids=[*known.ids, *(None for _ in found.raws)],
        raws=[*known.raws, *found.raws],
        problems=[*known.problems, *(one.moved_by(len(known.raws)) for one in found.problems)],
        kept=known.kept,
        digest=found.digest,
        identity=found.identity,
    )
    with files.writer.lock:
        files.note_edit([], image.digest)
        settle(files, FileReading(image=image, fresh={}))
    return ReloadReport(problems=len(image.problems))


def settle(files: StoreFiles, reading: FileReading, *, back_into_file: Iterable[str] = ()) -> None:
    """Make the file just read the image, and mark the entries that it lacks as pending."""
    view, image = files.writer.view, reading.image
    in_file = set(image.ids)
    rewritten = [
        entry_id
        for entry_id, good in reading.fresh.items()
        if good.rewritten or (record := view.get(entry_id)) is None or record.line != good.line
    ]
    lines = {entry_id: good.line for entry_id, good in reading.fresh.items() if not good.rewritten}
    pending = dict.fromkeys([*files.writer.pending, *rewritten, *back_into_file])
    for entry_id in list(pending):
        record = view.get(entry_id)
        line = record.line if record else None
        is_in_file = entry_id in in_file or entry_id in image.kept
        if (record is None and not is_in_file) or (
            line is not None and lines.get(entry_id) == line
        ):
            del pending[entry_id]
    files.needs_base = files.needs_base or image.digest != files.image.digest
    log_bad_lines(files.project, files.image, image)
    files.image = image
    files.state = image.digest
    files.moved = {}
    if files.interrupted is not None and files.interrupted.is_in_place is None:
        files.interrupted.is_in_place = False
    files.held = None
    files.unsettled = None
    files.failure = None
    _note_newer(files, reading)
    files.writer.set_pending(pending)


def log_bad_lines(project: str, before: Image, after: Image) -> None:
    """Log the lines that became unreadable since this image, and those that were repaired."""
    known, found = before.problems_by_line(), after.problems_by_line()
    new = [one for line, one in found.items() if line not in known]
    gone = [one for line, one in known.items() if line not in found]
    for level, event, problems in (
        (logging.WARNING, "bad line found", new),
        (logging.INFO, "bad line repaired", gone),
    ):
        for one in problems[:_LOGGED_LINES]:
            place = {"file": "entries.jsonl", "line": one.index + 1}
            reason = f"{one.code}: {one.reason}"
            log.log(level, event, extra={"project": project, **place, "reason": reason})
        if len(problems) > _LOGGED_LINES:
            more = len(problems) - _LOGGED_LINES
            log.log(level, "%s: more lines", event, extra={"project": project, "lines": more})


def reason_to_hold(
    files: StoreFiles, reading: FileReading, base: dict[str, bytes], gone: set[str]
) -> str | None:
    """Return why a person has to confirm the file, or None."""
    image = reading.image
    if image.raws and is_utf16(image.raws[0]):
        return "entries.jsonl is in UTF-16: save it as UTF-8"
    if not len(files.writer.view):
        return None
    if image.identity is None:
        return "entries.jsonl is gone" if files.image.identity is not None else None
    if base and not any(entry_id is not None for entry_id in image.ids) and gone:
        return "entries.jsonl has no entries any more"
    if must_hold(len(base), len(gone)):
        return f"{len(gone)} of {len(base)} entries are gone from entries.jsonl"
    return None


def _note_newer(files: StoreFiles, reading: FileReading) -> None:
    newer = [entry_id for entry_id, good in reading.fresh.items() if good.newer]
    still = [one for one in files.newer if one in reading.image.ids and one not in reading.fresh]
    files.newer = [*still, *newer]
    freeze_if_newer(files)


def freeze_if_newer(files: StoreFiles) -> None:
    """Refuse every write while the file has entries of an unknown schema version."""
    unread = [one for one in files.image.problems if one.code == NEWER_SCHEMA]
    names = [*files.newer, *(one.entry_id or f"on line {one.index + 1}" for one in unread)]
    if not names:
        files.writer.freeze(None)
        return
    files.writer.freeze(
        UnavailableError(
            f"store {files.project} is read-only: entry {names[0]} has a schemaVersion above"
            f" {SCHEMA_VERSION}: install the version of the server that wrote it",
            project=files.project,
            id=names[0],
        )
    )


def copy_before_migration(files: StoreFiles, reading: FileReading) -> None:
    """Copy the file into the backups before entries of an older schema are rewritten."""
    if not any(good.migrated for good in reading.fresh.values()):
        return
    stamp = files.clock().strftime("%Y%m%dT%H%M%S%fZ")
    folder = Path(files.backup_root) / f"{stamp}-migration" / files.project
    files.disk.make_folder(folder)
    files.disk.copy(files.entries.path, folder / "entries.jsonl", sync=True)
    for made in (folder, folder.parent, folder.parent.parent):
        files.disk.sync_folder(made)
    log.info("copied before migration", extra={"project": files.project, "folder": folder.name})
