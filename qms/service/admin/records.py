"""What the server wrote down: the audit log, its own log, and an hour of figures."""

from typing import Annotated, Any

import msgspec

from qms.config.settings import LogLevel
from qms.domain.relations import AwareTime
from qms.files.audit_chain import NO_PROJECT, AuditRecord, BadRecord
from qms.files.audit_reading import AuditFilter, newest_records
from qms.service.admin.calls import AdminCall
from qms.service.requests import NoArguments, Request, Response
from qms.telemetry.log_tail import tail
from qms.telemetry.series import SAMPLE_S, Moment

DEFAULT_SIZE = 50
MAX_SIZE = 500

Size = Annotated[int, msgspec.Meta(ge=1, le=MAX_SIZE)]


class AuditQuery(Request, frozen=True):
    """Which records, the newest first; `before` is where the page before ended."""

    size: Size = DEFAULT_SIZE
    before: int | None = None
    project: str | None = None
    user: str | None = None
    command: str | None = None
    since_utc: AwareTime | None = None
    until_utc: AwareTime | None = None


class AuditPage(Response, frozen=True):
    """Records, the newest first; `nextBefore` is None when there are no older ones."""

    items: list[AuditRecord]
    next_before: int | None
    version: str


class AuditVerification(Response, frozen=True):
    """Whether every record of the chain is as it was written."""

    intact: bool
    records: int
    bad: BadRecord | None


class LogQuery(Request, frozen=True):
    """How many of the latest lines, from which level on."""

    size: Size = 200
    level: LogLevel = LogLevel.DEBUG
    text: str | None = None


class LogPage(Response, frozen=True):
    """Lines of the log, the oldest first."""

    items: list[dict[str, Any]]
    version: str


class SeriesAnswer(Response, frozen=True):
    """The last hour, the oldest moment first."""

    items: list[Moment]
    interval_seconds: float
    version: str


def list_audit(call: AdminCall, request: AuditQuery) -> AuditPage:
    """Return a page of the audit log, without what concerns projects closed to the caller."""
    closed = frozenset(slug for slug in call.settings.endpoints if not call.opens(slug))
    wanted = AuditFilter(
        hidden_projects=closed,
        project=request.project,
        user=request.user,
        command=request.command,
        since_utc=request.since_utc,
        until_utc=request.until_utc,
    )
    page = newest_records(call.house.audit.path, wanted, size=request.size, before=request.before)
    items = [_seen_by(call, record) for record in page.records]
    return AuditPage(items=items, next_before=page.next_before, version=call.version)


def verify_audit(call: AdminCall, _request: NoArguments) -> AuditVerification:
    """Walk the whole chain and return the first bad record, if any."""
    bad = call.house.audit.verify()
    return AuditVerification(intact=bad is None, records=call.house.audit.count, bad=bad)


def list_logs(call: AdminCall, request: LogQuery) -> LogPage:
    """Return the latest lines of the log, without those of projects closed to the caller."""
    path, seen = call.house.log_path, {NO_PROJECT, *call.opened}

    def is_seen(line: dict[str, Any]) -> bool:
        return call.is_local or str(line.get("project") or NO_PROJECT) in seen

    lines = tail(path, size=request.size, level=request.level, text=request.text, takes=is_seen)
    return LogPage(items=lines, version=call.version)


def get_series(call: AdminCall, _request: NoArguments) -> SeriesAnswer:
    """Return the figures of the last hour, without stores closed to the caller."""
    opened = set(call.opened)
    moments = [
        msgspec.structs.replace(
            moment,
            stores={slug: one for slug, one in moment.stores.items() if slug in opened},
        )
        for moment in call.house.series.moments()
    ]
    return SeriesAnswer(items=moments, interval_seconds=SAMPLE_S, version=call.version)


def _seen_by(call: AdminCall, record: AuditRecord) -> AuditRecord:
    """Return a record without its ids when its project is gone: it may have been a private one."""
    if call.is_local or record.project == NO_PROJECT or record.project in call.settings.endpoints:
        return record
    return msgspec.structs.replace(record, changes=())
