"""Taking a merged hand edit: conflict copies, journal, RAM."""

import logging

import msgspec

from qms.codec.documents import version_of
from qms.codec.hand_lines import GoodLine
from qms.codec.lines import decode_line
from qms.domain.access import HAND_EDITOR
from qms.domain.changes import HAND_EDIT, Change, Put, Remove
from qms.fsio.disk import FileIdentity
from qms.store.conflicts import conflict_line
from qms.store.file_side import FileSide
from qms.store.image import FileReading
from qms.store.merge import Merge
from qms.store.options import Origin, ReloadReport
from qms.store.suspects import suspects_in
from qms.store.view import Record, StoreView

log = logging.getLogger(__name__)


def adopt(side: FileSide, plan: Merge, reading: FileReading) -> ReloadReport:
    """Take a merged edit into journal and RAM; what loses is copied first."""
    ours = side.writer.view
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
        side.conflicts.extend(
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
        records[entry_id] = _record(side, good, before, reading.image.identity)
        version = version_of(decode_line(good.line))
        changes.append(Put(entry_id, msgspec.Raw(good.line), version, before is None))
    changes += [
        Remove(entry_id, msgspec.Raw(ours.records[entry_id].line), "deleted by hand")
        for entry_id in plan.removed
    ]
    # The journal has to know: stored here again and not folded before a crash, the entry would
    # be missing from the file once more, and a start could not tell for whose removal.
    changes += [
        Remove(entry_id, msgspec.Raw(line), "deleted by hand", kept=False)
        for entry_id, line in plan.agreed.items()
    ]
    origin = Origin(command=HAND_EDIT, user=HAND_EDITOR.user, at_utc=side.clock())
    side.writer.adopt(origin, changes, records)
    side.suspects = side.suspects | suspects_in(records.values())
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


def _why_lost(plan: Merge, ours: StoreView, entry_id: str) -> str:
    if entry_id not in ours.records:
        return "deleted here, brought back by hand"
    return "edited by hand" if entry_id in plan.put else "deleted by hand"
