"""Who wrote which entries, by the audit log: for taking back what should not have been written."""

from datetime import datetime

import msgspec

from qms.files.audit_chain import AuditRecord
from qms.files.audit_reading import MAX_SCANNED, AuditFilter, newest_records
from qms.service.calls import Call


class Authored(msgspec.Struct, frozen=True):
    """The entries that a user or an agent made, and those of others that it changed."""

    created: frozenset[str]
    changed: frozenset[str]


def written_by(call: Call, author: str, since: datetime | None) -> Authored:
    """Return what a user or an agent wrote into the project since a moment."""
    wanted = AuditFilter(project=call.project, since_utc=since)
    created: set[str] = set()
    changed: set[str] = set()
    before: int | None = None
    while True:
        page = newest_records(call.house.audit.path, wanted, size=MAX_SCANNED, before=before)
        for record in page.records:
            if _is_by(record, author):
                created.update(one.id for one in record.changes if one.op == "create")
                changed.update(one.id for one in record.changes if one.op == "update")
        before = page.next_before
        if before is None:
            return Authored(frozenset(created), frozenset(changed - created))


def _is_by(record: AuditRecord, author: str) -> bool:
    return author in (record.user, record.agent_id)
