"""health: the status of the stores that the caller may open, and their problems."""

from enum import StrEnum

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.context import Context
from qms.commands.gate import Gate
from qms.commands.requests import NoArguments, Response
from qms.config.api_keys import KeyMatch
from qms.config.convert import Standing
from qms.config.settings import Toolset
from qms.disk.damage import Damage, find_set_aside
from qms.features.backups.queue import BackupQueue
from qms.features.health.exposed_root import why_exposed
from qms.memory.access import AccessTier, Caller
from qms.memory.validation import instant_text
from qms.models.choose import Chosen, EmbedderReport
from qms.sandbox.worker import known_walls
from qms.store.options import Problem, StoreStatus
from qms.version import __version__

MAX_PROBLEMS = 200
"""A report lists at most this many problems; the counts per store are complete."""


class Status(StrEnum):
    """The overall status."""

    HEALTHY = "Healthy"
    DEGRADED = "Degraded"
    UNHEALTHY = "Unhealthy"
    LOADING = "Loading"


class ReportedProblem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A problem to look at; without a project it concerns the whole server."""

    code: str
    project: str | None = None
    file: str | None = None
    line: int | None = None
    reason: str


class HealthReport(Response, frozen=True):
    """The status of the server and of its stores."""

    status: Status
    stores: list[StoreStatus]
    embedder: EmbedderReport | None
    """The embedder in use, or None while it is being opened."""
    version: str
    problems: list[ReportedProblem]
    next_backup_utc: str | None
    """The time of the next scheduled backup."""
    sandbox: tuple[str, ...] | UnsetType | None = UNSET
    """The walls around workers that read documents; null until they are known."""


@command(
    tier=AccessTier.READER,
    toolset="core",
    help="Report the state of the server and your stores. Use it when calls fail or seem slow",
    read_only=True,
    idempotent=True,
    brief=True,
)
def health(call: Call, _request: NoArguments) -> HealthReport:
    """Return the report for the stores that the caller may open."""
    return report(call.context, call.opened, is_administrator=call.is_administrator)


def report_for(gate: Gate, who: KeyMatch | Caller | None) -> HealthReport:
    """Return the report for the stores that `who` may open; None means all stores."""
    if who is None:
        return report(gate.context, list(gate.settings.endpoints), is_administrator=False)
    rights = gate.rights(who)
    return report(gate.context, rights.opened, is_administrator=rights.is_administrator)


def report(context: Context, slugs: list[str], *, is_administrator: bool) -> HealthReport:
    """Return the report for these stores; only an admin sees the errors of the TOML."""
    failures = {slug: why for slug, why in context.catalog.failures.items() if slug in slugs}
    statuses = [_status_of(context, slug) for slug in slugs]
    chosen, backups = context.indexer.chosen, context.part(BackupQueue)
    problems = [
        *_configuration_problems(context, is_administrator=is_administrator),
        *(_exposure_problems(context) if is_administrator else ()),
        *_embedder_problems(chosen),
        *_reranker_problems(context.indexer.reranker_problem),
        *_backup_problems(backups.problem),
        *_root_problems(context),
        *(
            ReportedProblem(code="storeUnavailable", project=slug, reason=why)
            for slug, why in failures.items()
        ),
    ]
    for slug in slugs:
        store = context.catalog.loaded(slug)
        if store is not None:
            problems += map(_reported, [*store.problems(), *context.indexer.problems(slug)])
    return HealthReport(
        status=_overall(statuses, failures, problems),
        stores=statuses,
        embedder=chosen.report() if chosen else None,
        version=__version__,
        problems=problems[:MAX_PROBLEMS],
        next_backup_utc=instant_text(due) if (due := backups.next_run_utc()) else None,
        sandbox=known_walls() if _reads_documents(context, slugs) else UNSET,
    )


def _reads_documents(context: Context, slugs: list[str]) -> bool:
    endpoints = context.configuration.settings.endpoints
    return any(Toolset.DOCUMENTS in endpoints[slug].toolsets for slug in slugs if slug in endpoints)


def _status_of(context: Context, slug: str) -> StoreStatus:
    store = context.catalog.loaded(slug)
    if store is not None:
        waiting = context.indexer.backlog(slug)
        status, unwell = store.status(), context.indexer.problems(slug)
        return msgspec.structs.replace(
            status,
            embedding_backlog=waiting,
            vectors=context.indexer.vectors(slug),
            problems=status.problems + len(unwell),
            indexes=context.indexer.status(slug),
        )
    return StoreStatus(
        name=slug,
        entries=0,
        bytes=0,
        loaded=False,
        problems=0,
        conflicts=0,
        held=False,
        read_only=False,
        read_only_reason=None,
        pending_journal=0,
        sequence=0,
        last_write_utc=None,
        last_fold_utc=None,
    )


def _configuration_problems(context: Context, *, is_administrator: bool) -> list[ReportedProblem]:
    error, name = context.configuration.error, context.configuration.path.name
    if error is None:
        return _void_settings(context) if is_administrator else []
    if not is_administrator:
        # The error may name users and projects that are closed to the caller.
        reason = "the last edit is not valid; the configuration before it stays in force"
        return [ReportedProblem(code="configuration", file=name, reason=reason)]
    return [ReportedProblem(code="configuration", file=name, line=error.line, reason=error.reason)]


def _void_settings(context: Context) -> list[ReportedProblem]:
    name, warnings = context.configuration.path.name, context.configuration.warnings
    return [
        ReportedProblem(
            code="configuration", file=name, line=one.line, reason=f"{one.field}: {one.reason}"
        )
        for one in warnings
        if one.standing is Standing.VOID
    ]


def _exposure_problems(context: Context) -> list[ReportedProblem]:
    reason = why_exposed(context.configuration.path.parent, context.configuration.settings)
    return [ReportedProblem(code="rootRights", reason=reason)] if reason else []


def _embedder_problems(chosen: Chosen | None) -> list[ReportedProblem]:
    if chosen is None or chosen.reason is None:
        return []
    return [ReportedProblem(code="embedder", reason=chosen.reason)]


def _reranker_problems(reason: str | None) -> list[ReportedProblem]:
    return [ReportedProblem(code="reranker", reason=reason)] if reason else []


def _backup_problems(reason: str | None) -> list[ReportedProblem]:
    return [ReportedProblem(code="backups", file="backupRoot", reason=reason)] if reason else []


def _root_problems(context: Context) -> list[ReportedProblem]:
    root = context.configuration.path.parent
    found = find_set_aside([root / ".qms", context.audit.path.parent])
    if context.audit.fault is not None:
        found.append(Damage(context.audit.path.name, context.audit.fault))
    return [ReportedProblem(code="damagedFile", file=one.file, reason=one.reason) for one in found]


def _reported(problem: Problem) -> ReportedProblem:
    return ReportedProblem(
        code=problem.code,
        project=problem.project,
        file=problem.file,
        line=problem.line,
        reason=problem.reason,
    )


def _overall(
    statuses: list[StoreStatus], failures: dict[str, str], problems: list[ReportedProblem]
) -> Status:
    if statuses and len(failures) == len(statuses):
        return Status.UNHEALTHY
    if any(not status.loaded and status.name not in failures for status in statuses):
        return Status.LOADING
    troubled = any(
        status.held or status.read_only or status.conflicts or status.problems
        for status in statuses
    )
    return Status.DEGRADED if troubled or problems else Status.HEALTHY
