"""How the server fares: the stores that the caller may open, and what a person should look at."""

from enum import StrEnum

import msgspec

from qms.codec.documents import instant_text
from qms.domain.access import AccessTier
from qms.inference.choose import Chosen, EmbedderReport
from qms.service.calls import Call, House
from qms.service.requests import NoArguments, Response
from qms.store.options import Problem, StoreStatus
from qms.version import __version__

MAX_PROBLEMS = 200
"""How many problems a report spells out; the counts per store are complete."""


class Status(StrEnum):
    """The whole report in one word."""

    HEALTHY = "Healthy"
    DEGRADED = "Degraded"
    UNHEALTHY = "Unhealthy"
    LOADING = "Loading"


class ReportedProblem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Something a person should look at; no project means the server as a whole."""

    code: str
    project: str | None = None
    file: str | None = None
    line: int | None = None
    reason: str


class HealthReport(Response, frozen=True):
    """What the server says of itself."""

    status: Status
    stores: list[StoreStatus]
    embedder: EmbedderReport | None
    """The embedder really in use, or None while it is being opened."""
    version: str
    problems: list[ReportedProblem]
    next_backup_utc: str | None
    """When backups are next made by the clock."""


def health(call: Call, _request: NoArguments) -> HealthReport:
    """Return the report for the stores that the caller may open."""
    opened = [slug for slug in call.settings.endpoints if call.access_to(slug) >= AccessTier.READER]
    return report(call.house, opened, is_administrator=call.is_administrator)


def report(house: House, slugs: list[str], *, is_administrator: bool) -> HealthReport:
    """Return the report for some stores; only an admin reads what is wrong in the TOML."""
    failures = {slug: why for slug, why in house.catalog.failures.items() if slug in slugs}
    statuses = [_status_of(house, slug) for slug in slugs]
    chosen = house.library.chosen
    problems = [
        *_configuration_problems(house, is_administrator=is_administrator),
        *_embedder_problems(chosen),
        *_reranker_problems(house.library.reranker_problem),
        *_backup_problems(house.desk.problem),
        *(
            ReportedProblem(code="storeUnavailable", project=slug, reason=why)
            for slug, why in failures.items()
        ),
    ]
    for slug in slugs:
        store = house.catalog.loaded(slug)
        if store is not None:
            problems += map(_reported, [*store.problems(), *house.library.problems(slug)])
    return HealthReport(
        status=_overall(statuses, failures, problems),
        stores=statuses,
        embedder=chosen.report() if chosen else None,
        version=__version__,
        problems=problems[:MAX_PROBLEMS],
        next_backup_utc=instant_text(due) if (due := house.desk.next_run_utc()) else None,
    )


def _status_of(house: House, slug: str) -> StoreStatus:
    store = house.catalog.loaded(slug)
    if store is not None:
        waiting = house.library.backlog(slug)
        status, unwell = store.status(), house.library.problems(slug)
        return msgspec.structs.replace(
            status,
            embedding_backlog=waiting,
            problems=status.problems + len(unwell),
            indexes=house.library.status(slug),
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


def _configuration_problems(house: House, *, is_administrator: bool) -> list[ReportedProblem]:
    error, name = house.configuration.error, house.configuration.path.name
    if error is None:
        return []
    if not is_administrator:
        # What is wrong may name users and projects that are not open to the caller.
        reason = "the last edit is not valid; the configuration before it stays in force"
        return [ReportedProblem(code="configuration", file=name, reason=reason)]
    return [ReportedProblem(code="configuration", file=name, line=error.line, reason=error.reason)]


def _embedder_problems(chosen: Chosen | None) -> list[ReportedProblem]:
    if chosen is None or chosen.reason is None:
        return []
    return [ReportedProblem(code="embedder", reason=chosen.reason)]


def _reranker_problems(reason: str | None) -> list[ReportedProblem]:
    return [ReportedProblem(code="reranker", reason=reason)] if reason else []


def _backup_problems(reason: str | None) -> list[ReportedProblem]:
    return [ReportedProblem(code="backups", file="backupRoot", reason=reason)] if reason else []


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
