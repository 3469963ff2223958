"""Applies a merged hand edit: conflict copies, journal, RAM."""

import logging

import msgspec

from qms.disk.disk import FileIdentity
from qms.memory.access import HAND_EDIT_USER, SystemRight
from qms.memory.changes import HAND_EDIT, Change, Put, Remove
from qms.memory.hand_lines import GoodLine
from qms.memory.lines import decode_line
from qms.memory.validation import version_of
from qms.store.conflicts import conflict_line
from qms.store.file_image import FileReading
from qms.store.file_state import StoreFiles
from qms.store.merge import Merge
from qms.store.options import Origin, ReloadReport
from qms.store.secret_lines import suspects_in
from qms.store.view import Record, StoreView

log = logging.getLogger(__name__)


def adopt(
    files: StoreFiles, plan: Merge, reading: FileReading, outdated: tuple[Change, ...] = ()
) -> ReloadReport:
    """Apply a merged edit to journal and RAM; versions that lose are copied first.

    `outdated` is what the file shows of entries that its author saw in an older version.
    """
    ours = files.writer.view
    added = sum(entry_id not in ours.records for entry_id in plan.put)
    report = ReloadReport(
        added=added,
        changed=len(plan.put) - added,
        removed=len(plan.removed),
        conflicts=len(plan.lost),
        problems=len(reading.image.problems),
    )
    if not plan.put and not plan.removed and not plan.agreed:
        return report
    if plan.lost:
        files.conflicts.extend(
            [
                conflict_line(
                    entry_id, record, _why_lost(plan, ours, entry_id), reading.image.identity
                )
                for entry_id, record in plan.lost.items()
            ]
        )
    changes: list[Change] = []
    records: dict[str, Record] = {}
    for entry_id, good in plan.put.items():
        before = ours.get(entry_id)
        records[entry_id] = _record(files, good, before, reading.image.identity)
        version = version_of(decode_line(good.line))
        changes.append(Put(entry_id, msgspec.Raw(good.line), version, before is None))
    changes += [
        Remove(entry_id, msgspec.Raw(ours.records[entry_id].line), "deleted by hand")
        for entry_id in plan.removed
    ]
    # These go to the journal too. If such an entry is stored again and a crash comes before the
    # fold, it is missing from the file again, and the next start could not tell which removal
    # that was.
    changes += [
        Remove(entry_id, msgspec.Raw(line), "deleted by hand", kept=False)
        for entry_id, line in plan.agreed.items()
    ]
    origin = Origin(
        command=HAND_EDIT,
        user=HAND_EDIT_USER,
        at_utc=files.clock(),
        right=SystemRight.HAND_EDIT,
    )
    files.writer.adopt(origin, changes, records, outdated)
    files.secret_lines = files.secret_lines | suspects_in(records.values())
    log.info(
        "hand edit applied",
        extra={"project": files.project, "changed": len(plan.put), "removed": len(plan.removed)},
    )
    return report


def _record(
    files: StoreFiles, good: GoodLine, before: Record | None, identity: FileIdentity | None
) -> Record:
    """Return the entry as read; if the edit left `updatedUtc` alone, the file's time counts."""
    header = good.header
    times = header.timestamps
    if before is not None and before.header.timestamps.updated_utc == times.updated_utc:
        instant = files.reader(identity).instant
        header = msgspec.structs.replace(
            header, timestamps=msgspec.structs.replace(times, updated_utc=instant)
        )
    return Record(header, good.line)


def _why_lost(plan: Merge, ours: StoreView, entry_id: str) -> str:
    if entry_id not in ours.records:
        return "deleted here, brought back by hand"
    return "edited by hand" if entry_id in plan.put else "deleted by hand"
