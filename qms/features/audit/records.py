"""Audit log, server log and metrics of the last hour, without closed projects."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.requests import NoArguments, Request, Response
from qms.config.settings import LogLevel
from qms.memory.entry import split_id
from qms.memory.relations import AwareTime
from qms.telemetry.audit_chain import NO_PROJECT, AuditRecord, BadRecord
from qms.telemetry.audit_pages import AuditFilter, newest_records
from qms.telemetry.log_tail import tail
from qms.telemetry.series import SAMPLE_S, Moment, Recall

DEFAULT_SIZE = 50
MAX_SIZE = 500

Size = Annotated[int, msgspec.Meta(ge=1, le=MAX_SIZE)]


class AuditQuery(Request, frozen=True):
    """A filter of records, the newest first; `before` is the `nextBefore` of the page before."""

    size: Size = DEFAULT_SIZE
    before: int | None = None
    project: str | None = None
    user: str | None = None
    command: str | None = None
    since_utc: AwareTime | None = None
    until_utc: AwareTime | None = None
    recalls: bool = False
    """Whether to return recent recalls, too."""


class AuditPage(Response, frozen=True):
    """Records, the newest first; `nextBefore` is None when there are no older ones."""

    items: list[AuditRecord]
    next_before: int | None
    version: str
    recalls: list[Recall] | UnsetType = UNSET
    """What searches and recalls returned lately, the newest first; it is in no file."""


class AuditVerification(Response, frozen=True):
    """Whether every record of the chain is unchanged."""

    intact: bool
    records: int
    bad: BadRecord | None


class LogQuery(Request, frozen=True):
    """The number of the latest lines, and their lowest level."""

    size: Size = 200
    level: LogLevel = LogLevel.DEBUG
    text: str | None = None


class LogPage(Response, frozen=True):
    """Lines of the log, the oldest first."""

    items: list[dict[str, Any]]
    version: str


class SeriesAnswer(Response, frozen=True):
    """Metrics of the last hour, the oldest sample first."""

    items: list[Moment]
    interval_seconds: float
    version: str


@command(
    route="GET /admin/audit",
    help="List who changed what, the newest first",
    example={"size": 50, "user": "alice"},
)
def list_audit(call: Call, request: AuditQuery) -> AuditPage:
    """Return a page of the audit log, without records of projects closed to the caller."""
    closed = frozenset(slug for slug in call.settings.endpoints if not call.opens(slug))
    wanted = AuditFilter(
        hidden_projects=closed,
        project=request.project,
        user=request.user,
        command=request.command,
        since_utc=request.since_utc,
        until_utc=request.until_utc,
    )
    page = newest_records(call.context.audit.path, wanted, size=request.size, before=request.before)
    items = [_seen_by(call, record) for record in page.records]
    recalls = _recalls(call, request) if request.recalls else UNSET
    return AuditPage(
        items=items, next_before=page.next_before, version=call.version, recalls=recalls
    )


def _recalls(call: Call, request: AuditQuery) -> list[Recall]:
    """Return the recent recalls that match the filter, with ids of projects open to the caller."""
    opened = set(call.opened)
    return [
        msgspec.structs.replace(one, ids=tuple(i for i in one.ids if split_id(i)[0] in opened))
        for one in call.context.series.recalls()
        if one.project in opened
        and request.project in (None, one.project)
        and request.user in (None, one.user)
        and request.command in (None, one.command)
    ]


@command(
    route="GET /admin/audit/verify",
    help="Check the chain of the audit log and name the first bad record",
)
def verify_audit(call: Call, _request: NoArguments) -> AuditVerification:
    """Verify the whole chain and return the first bad record, if any."""
    bad = call.context.audit.verify()
    return AuditVerification(intact=bad is None, records=call.context.audit.count, bad=bad)


@command(
    route="GET /admin/logs",
    help="Show the latest lines of the log",
    example={"size": 200, "level": "warning"},
)
def list_logs(call: Call, request: LogQuery) -> LogPage:
    """Return the latest lines of the log, without those of projects closed to the caller."""
    path, seen = call.context.log_path, {NO_PROJECT, *call.opened}

    def is_seen(line: dict[str, Any]) -> bool:
        return call.is_local or str(line.get("project") or NO_PROJECT) in seen

    lines = tail(path, size=request.size, level=request.level, text=request.text, takes=is_seen)
    return LogPage(items=lines, version=call.version)


@command(
    route="GET /admin/series",
    help="Return an hour of figures for charts",
)
def get_series(call: Call, _request: NoArguments) -> SeriesAnswer:
    """Return the metrics of the last hour, without stores closed to the caller."""
    opened = set(call.opened)
    moments = [
        msgspec.structs.replace(
            moment,
            stores={slug: one for slug, one in moment.stores.items() if slug in opened},
        )
        for moment in call.context.series.moments()
    ]
    return SeriesAnswer(items=moments, interval_seconds=SAMPLE_S, version=call.version)


def _seen_by(call: Call, record: AuditRecord) -> AuditRecord:
    """Return a record, without its ids if its project was removed: it may have been private."""
    if call.is_local or record.project == NO_PROJECT or record.project in call.settings.endpoints:
        return record
    return msgspec.structs.replace(record, changes=())
