"""The reload: a hand edit of `entries.jsonl` on its way into RAM.

Live edits and edits made while the server was down go the same way: read strictly, compare with
the base, merge, journal, show.
"""

import logging
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from qms.codec.documents import instant_text, version_of
from qms.codec.hand_lines import GoodLine, is_utf16
from qms.codec.lines import decode_line
from qms.domain.access import HAND_EDITOR
from qms.domain.changes import Change, Put, Remove
from qms.domain.entry import SCHEMA_VERSION
from qms.domain.errors import UnavailableError
from qms.files.base import digest_of
from qms.files.entries import FileState
from qms.fsio.disk import FileIdentity
from qms.store.file_side import FileSide, Held
from qms.store.image import FileReading, read_image
from qms.store.merge import Merge, merge, missing_ids, must_hold, own_lines, spoiled_ids
from qms.store.options import Origin, ReloadReport
from qms.store.view import Record

log = logging.getLogger(__name__)

_UNSETTLED = ReloadReport(settled=False)


def reload(side: FileSide, *, take_deletions: bool | None = None) -> ReloadReport:
    """Look at the file and take what a person changed.

    `take_deletions` decides about a held file: take it as it is, or only what was added and
    changed in it.
    """
    with side.lock:
        try:
            _take_late_writes(side)
            return _reload(side, take_deletions)
        except OSError as error:
            log.warning("reload postponed", extra={"project": side.project, "reason": str(error)})
            side.failure = f"entries.jsonl cannot be read or taken: {error.strerror or error}"
            return _UNSETTLED


def _reload(side: FileSide, take_deletions: bool | None) -> ReloadReport:
    if take_deletions is None:
        identity = side.entries.identity()
        if identity == (side.held.identity if side.held else side.image.identity):
            return ReloadReport(held=side.held is not None)
    state = side.entries.read()
    if state is None:
        return _UNSETTLED
    digest = digest_of(state.data) if state.data is not None else ""
    if digest == side.image.digest and not side.held and not side.moved:
        side.image.identity = state.identity
        return ReloadReport()
    base = side.base_lines()
    reading = read_file(side, state)
    reading.image.digest = digest
    return take(side, reading, base, take_deletions=take_deletions)


def read_file(side: FileSide, state: FileState) -> FileReading:
    """Read the file strictly, all but the lines that were read before."""
    known = {
        raw: entry_id
        for entry_id, raw in zip(side.image.ids, side.image.raws, strict=True)
        if entry_id is not None and entry_id not in side.moved
    }
    reading = read_image(
        state.data or b"", known, side.reader(state.identity), side.image.taken_ids()
    )
    reading.image.identity = state.identity
    return reading


def take(
    side: FileSide,
    reading: FileReading,
    base: dict[str, bytes],
    *,
    take_deletions: bool | None,
) -> ReloadReport:
    """Merge what was read into RAM, or hold it."""
    gone = missing_ids(base, reading.image)
    spoiled = spoiled_ids(side.image, reading.image, gone)
    own = own_lines(side.writer.uncut)
    taken_out = {entry_id for entry_id in gone if None in own.get(entry_id, ())}
    gone -= spoiled | taken_out
    if take_deletions is None:
        reason = reason_to_hold(side, reading, base, gone)
        if reason is not None:
            if side.held is None:
                log.warning("edit held", extra={"project": side.project, "reason": reason})
            side.held = Held(reason, reading.image.identity)
            return ReloadReport(held=True, problems=len(reading.image.problems))
    copy_before_migration(side, reading)
    with side.writer.lock:
        stays = gone if take_deletions is False else set()
        plan = merge(base, reading.fresh, gone - stays, side.writer.view, own)
        report = _adopt(side, plan, reading)
        reading.image.kept = {entry_id: base[entry_id] for entry_id in spoiled}
        settle(side, reading, back_into_file=stays | taken_out)
    return report


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
    pending = dict.fromkeys([*side.writer.pending, *rewritten, *sorted(back_into_file)])
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
    side.held = None
    side.failure = None
    _freeze_if_newer(side, reading)
    side.writer.set_pending(pending)


def _adopt(side: FileSide, plan: Merge, reading: FileReading) -> ReloadReport:
    ours = side.writer.view
    added = sum(entry_id not in ours.records for entry_id in plan.put)
    report = ReloadReport(
        added=added,
        changed=len(plan.put) - added,
        removed=len(plan.removed),
        conflicts=len(plan.lost),
        problems=len(reading.image.problems),
    )
    if not plan.put and not plan.removed:
        return report
    if plan.lost:
        side.conflicts.extend(
            [
                conflict_line(entry_id, record, _why_lost(plan, entry_id), reading.image.identity)
                for entry_id, record in plan.lost.items()
            ]
        )
    changes: list[Change] = []
    records: dict[str, Record] = {}
    for entry_id, good in plan.put.items():
        before = ours.get(entry_id)
        records[entry_id] = _record(side, good, before, reading.image.identity)
        version = version_of(decode_line(good.line))
        changes.append(Put(entry_id, msgspec.Raw(good.line), version, before is None))
    changes += [
        Remove(entry_id, msgspec.Raw(ours.records[entry_id].line), "deleted by hand")
        for entry_id in plan.removed
    ]
    origin = Origin(command="handEdit", user=HAND_EDITOR.user, at_utc=side.clock())
    side.writer.adopt(origin, changes, records)
    log.info(
        "hand edit taken",
        extra={"project": side.project, "changed": len(plan.put), "removed": len(plan.removed)},
    )
    return report


def _record(
    side: FileSide, good: GoodLine, before: Record | None, identity: FileIdentity | None
) -> Record:
    """Return the entry as read; an unchanged time of change is taken as the file's."""
    header = good.header
    times = header.timestamps
    if before is not None and before.header.timestamps.updated_utc == times.updated_utc:
        instant = side.reader(identity).instant
        header = msgspec.structs.replace(
            header, timestamps=msgspec.structs.replace(times, updated_utc=instant)
        )
    return Record(header, good.line)


def _why_lost(plan: Merge, entry_id: str) -> str:
    return "edited by hand" if entry_id in plan.put else "deleted by hand"


def conflict_line(
    entry_id: str, record: Record, reason: str, identity: FileIdentity | None
) -> bytes:
    """Return the copy of a version that gave way; the same conflict gives the same bytes."""
    return msgspec.json.encode(
        {
            "id": entry_id,
            "reason": reason,
            "sequence": record.order,
            "writtenUtc": instant_text(record.header.timestamps.updated_utc),
            "fileTimeNs": identity.mtime_ns if identity else 0,
            "entry": msgspec.Raw(record.line),
        }
    )


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


def _freeze_if_newer(side: FileSide, reading: FileReading) -> None:
    newer = [entry_id for entry_id, good in reading.fresh.items() if good.newer]
    still = [one for one in side.newer if one in reading.image.ids and one not in reading.fresh]
    side.newer = [*still, *newer]
    if not side.newer:
        side.writer.freeze(None)
        return
    side.writer.freeze(
        UnavailableError(
            f"store {side.project} is read-only: entry {side.newer[0]} has a schemaVersion above"
            f" {SCHEMA_VERSION}: install the version of the server that wrote it",
            project=side.project,
            id=side.newer[0],
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


def _take_late_writes(side: FileSide) -> None:
    """Take what an editor wrote into the file that the last fold replaced."""
    if side.previous is None:
        return
    data = side.entries.changed_previous()
    if data is None:
        if time.monotonic() - side.previous_since > side.writer.options.keep_previous_s:
            side.previous = None
            side.entries.forget_previous()
        return
    before = side.previous
    known = {
        raw: entry_id
        for entry_id, raw in zip(before.ids, before.raws, strict=True)
        if entry_id is not None
    }
    base = before.lines_by_id()
    reading = read_image(data, known, side.reader(side.entries.identity()), before.taken_ids())
    gone = missing_ids(base, reading.image)
    gone -= spoiled_ids(before, reading.image, gone)
    if must_hold(len(base), len(gone)) or not any(reading.image.ids):
        return  # most likely an editor in the middle of writing: look again
    with side.writer.lock:
        plan = merge(base, reading.fresh, gone, side.writer.view, own={})
        _adopt(side, plan, reading)
