"""The reload: a hand edit of `entries.jsonl` on its way into RAM.

Live edits and edits made while the server was down go the same way: read strictly, compare with
the base, merge, journal, show.
"""

import logging
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from qms.codec.hand_lines import NEWER_SCHEMA, is_utf16
from qms.domain.entry import SCHEMA_VERSION
from qms.domain.errors import UnavailableError
from qms.files.base import digest_of
from qms.files.entries import FileState
from qms.store.adopt import adopt
from qms.store.cut_off import find_parent, possibly_taken_out
from qms.store.file_side import FileSide, Held, Unsettled
from qms.store.image import FileReading, Image, read_image
from qms.store.late_writes import take_late_writes
from qms.store.merge import (
    merge,
    missing_ids,
    must_hold,
    own_lines,
    spoiled_ids,
    unseen_ids,
)
from qms.store.options import ReloadReport
from qms.telemetry import metrics

log = logging.getLogger(__name__)

_UNSETTLED = ReloadReport(settled=False)


def look(side: FileSide) -> ReloadReport:
    """Take what a person changed, unless the file may be half written: then look again later."""
    return _guarded(side, lambda: _reload(side, None, is_careful=True))


def reload(side: FileSide, *, take_deletions: bool | None = None) -> ReloadReport:
    """Take what a person changed; the file is whole, as far as the caller knows.

    `take_deletions` decides about a held file: take it as it is, or only what was added and
    changed in it.
    """
    return _guarded(side, lambda: _reload(side, take_deletions, is_careful=False))


def _guarded(side: FileSide, work: Callable[[], ReloadReport]) -> ReloadReport:
    with side.lock:
        try:
            take_late_writes(side)
            return work()
        except OSError as error:
            log.warning("reload postponed", extra={"project": side.project, "reason": str(error)})
            side.failure = f"entries.jsonl cannot be read or taken: {error.strerror or error}"
            return _UNSETTLED


def _reload(side: FileSide, take_deletions: bool | None, *, is_careful: bool) -> ReloadReport:
    if take_deletions is None:
        identity = side.entries.identity()
        if identity == (side.held.identity if side.held else side.image.identity):
            return ReloadReport(held=side.held is not None)
    state = side.entries.read()
    if state is None:
        return _UNSETTLED
    digest = digest_of(state.data) if state.data is not None else ""
    find_parent(side, state.data or b"", digest)
    if digest == side.image.digest and not side.held and not side.moved:
        side.image.identity = state.identity
        return ReloadReport()
    began = time.monotonic()
    base = side.base_lines()
    reading = read_file(side, state)
    reading.image.digest = digest
    gone = missing_ids(base, reading.image)
    if is_careful and not _is_settled(side, reading, gone, state.data or b""):
        return _UNSETTLED
    report = take(side, reading, base, gone, take_deletions=take_deletions)
    _measure(report, time.monotonic() - began)
    return report


def _is_settled(side: FileSide, reading: FileReading, gone: set[str], data: bytes) -> bool:
    """Say whether what the file lacks was taken out, or may still be on its way into it.

    An editor that truncates and writes may be stopped between two pieces for any time.
    """
    identity = reading.image.identity
    if identity is None or not gone:
        side.unsettled = None
        return True
    now = time.monotonic()
    if side.unsettled is None or side.unsettled.identity != identity:
        side.unsettled = Unsettled(identity, now)
    last = len(reading.image.raws) - 1
    is_torn = not data.endswith(b"\n") and any(one.index == last for one in reading.image.problems)
    options = side.writer.options
    return now - side.unsettled.since >= (options.settle_torn_s if is_torn else options.settle_s)


def _measure(report: ReloadReport, seconds: float) -> None:
    metrics.RELOAD_SECONDS.observe(seconds)
    for change in ("added", "changed", "removed", "conflicts"):
        metrics.RELOADED_ENTRIES.labels(change).inc(getattr(report, change))


def read_file(side: FileSide, state: FileState) -> FileReading:
    """Read the file strictly, all but the lines that were read before."""
    known = side.image.known_lines(without=side.moved)
    reading = read_image(
        state.data or b"", known, side.reader(state.identity), side.image.taken_ids()
    )
    reading.image.identity = state.identity
    return reading


def take(
    side: FileSide,
    reading: FileReading,
    base: dict[str, bytes],
    missing: set[str],
    *,
    take_deletions: bool | None,
) -> ReloadReport:
    """Merge what was read into RAM, or hold it."""
    spoiled = spoiled_ids(side.image, reading.image, missing, side.added_later())
    taken_out = possibly_taken_out(side, missing)
    gone = missing - spoiled - taken_out
    if take_deletions is None:
        reason = reason_to_hold(side, reading, base, gone)
        if reason is not None:
            if side.held is None:
                log.warning("edit held", extra={"project": side.project, "reason": reason})
            side.held = Held(reason, reading.image.identity)
            return ReloadReport(held=True, problems=len(reading.image.problems))
    if take_deletions is False and not reading.image.taken_ids():
        return _restore(side, reading)
    copy_before_migration(side, reading)
    with side.writer.lock:
        stays = gone if take_deletions is False else set()
        unseen = unseen_ids(side.recent, reading, gone - stays) | _removed_here(side, base)
        plan = merge(base, reading.fresh, gone - stays, side.writer.view, unseen)
        report = adopt(side, plan, reading)
        reading.image.kept = {entry_id: base[entry_id] for entry_id in spoiled}
        back = stays | taken_out
        settle(side, reading, back_into_file=[entry_id for entry_id in base if entry_id in back])
    return report


def _removed_here(side: FileSide, base: dict[str, bytes]) -> set[str]:
    """Return what the server removed since the last fold and the base does not know any more."""
    own = own_lines(side.writer.uncut)
    return {entry_id for entry_id, lines in own.items() if None in lines and entry_id not in base}


def _restore(side: FileSide, reading: FileReading) -> ReloadReport:
    """Have the next fold write the file that we knew; what stands in its place comes after."""
    known, found = side.image, reading.image
    if found.raws and is_utf16(found.raws[0]):
        side.entries.keep_copy()
        found.raws, found.problems = [], []
    image = Image(
        ids=[*known.ids, *(None for _ in found.raws)],
        raws=[*known.raws, *found.raws],
        problems=[*known.problems, *(one.moved_by(len(known.raws)) for one in found.problems)],
        kept=known.kept,
        digest=found.digest,
        identity=found.identity,
    )
    with side.writer.lock:
        settle(side, FileReading(image=image, fresh={}))
    return ReloadReport(problems=len(image.problems))


def settle(side: FileSide, reading: FileReading, *, back_into_file: Iterable[str] = ()) -> None:
    """Make the file just read the image, and note what it lacks."""
    view, image = side.writer.view, reading.image
    in_file = set(image.ids)
    rewritten = [
        entry_id
        for entry_id, good in reading.fresh.items()
        if good.rewritten or (record := view.get(entry_id)) is None or record.line != good.line
    ]
    lines = {entry_id: good.line for entry_id, good in reading.fresh.items() if not good.rewritten}
    pending = dict.fromkeys([*side.writer.pending, *rewritten, *back_into_file])
    for entry_id in list(pending):
        record = view.get(entry_id)
        line = record.line if record else None
        is_in_file = entry_id in in_file or entry_id in image.kept
        if (record is None and not is_in_file) or (
            line is not None and lines.get(entry_id) == line
        ):
            del pending[entry_id]
    side.needs_base = side.needs_base or image.digest != side.image.digest
    side.image = image
    side.moved = {}
    if side.cut_off is not None and side.cut_off.is_in_place is None:
        side.cut_off.is_in_place = False
    side.held = None
    side.unsettled = None
    side.failure = None
    _note_newer(side, reading)
    side.writer.set_pending(pending)


def reason_to_hold(
    side: FileSide, reading: FileReading, base: dict[str, bytes], gone: set[str]
) -> str | None:
    """Return why a person has to say whether the file is meant, or None."""
    image = reading.image
    if image.raws and is_utf16(image.raws[0]):
        return "entries.jsonl is in UTF-16: save it as UTF-8"
    if not len(side.writer.view):
        return None
    if image.identity is None:
        return "entries.jsonl is gone" if side.image.identity is not None else None
    if base and not any(entry_id is not None for entry_id in image.ids) and gone:
        return "entries.jsonl has no entries any more"
    if must_hold(len(base), len(gone)):
        return f"{len(gone)} of {len(base)} entries are gone from entries.jsonl"
    return None


def _note_newer(side: FileSide, reading: FileReading) -> None:
    newer = [entry_id for entry_id, good in reading.fresh.items() if good.newer]
    still = [one for one in side.newer if one in reading.image.ids and one not in reading.fresh]
    side.newer = [*still, *newer]
    freeze_if_newer(side)


def freeze_if_newer(side: FileSide) -> None:
    """Refuse every write while the file has entries of a schema version that we do not know."""
    unread = [one for one in side.image.problems if one.code == NEWER_SCHEMA]
    names = [*side.newer, *(one.entry_id or f"on line {one.index + 1}" for one in unread)]
    if not names:
        side.writer.freeze(None)
        return
    side.writer.freeze(
        UnavailableError(
            f"store {side.project} is read-only: entry {names[0]} has a schemaVersion above"
            f" {SCHEMA_VERSION}: install the version of the server that wrote it",
            project=side.project,
            id=names[0],
        )
    )


def copy_before_migration(side: FileSide, reading: FileReading) -> None:
    """Copy the file into the backups before entries of an older schema are rewritten."""
    if not any(good.migrated for good in reading.fresh.values()):
        return
    stamp = side.clock().strftime("%Y%m%dT%H%M%S%fZ")
    folder = Path(side.backup_root) / f"{stamp}-migration" / side.project
    side.disk.make_folder(folder)
    side.disk.copy(side.entries.path, folder / "entries.jsonl", sync=True)
    side.disk.sync_folder(folder)
    log.info("copied before migration", extra={"project": side.project, "folder": folder.name})
