"""What a person should look at in the stores: problems, conflict copies, held deletions."""

from enum import StrEnum
from typing import Any

from qms.service import health
from qms.service.admin.calls import AdminCall
from qms.service.requests import NoArguments, Request, Response
from qms.store.memory_store import MemoryStore
from qms.store.options import ReloadReport

MAX_LINE_CHARS = 4096
"""So much of a bad line is shown."""


class ProjectQuery(Request, frozen=True):
    """Of which project; without one, of all that the caller opens."""

    project: str | None = None


class ProblemItem(Response, frozen=True):
    """Something a person should look at; a bad line comes with the beginning of its text."""

    code: str
    project: str | None
    file: str | None
    line: int | None
    reason: str
    text: str | None


class ProblemItems(Response, frozen=True):
    """Problems of the server and of the stores in reach."""

    items: list[ProblemItem]
    version: str


class ConflictItem(Response, frozen=True):
    """A conflict copy: the version that lost, beside what lives."""

    project: str
    conflict: dict[str, Any]
    current: dict[str, Any] | None


class ConflictItems(Response, frozen=True):
    """Conflict copies, oldest first."""

    items: list[ConflictItem]
    version: str


class HeldItem(Response, frozen=True):
    """A deletion that waits for a decision."""

    project: str
    reason: str


class HeldItems(Response, frozen=True):
    """Held deletions."""

    items: list[HeldItem]
    version: str


class Decision(StrEnum):
    """What becomes of a held deletion."""

    ACCEPT = "accept"
    REJECT = "reject"


class HeldDecision(Request, frozen=True):
    """`accept` takes the file as it is; `reject` writes back what is missing there."""

    project: str
    decision: Decision


def list_problems(call: AdminCall, request: ProjectQuery) -> ProblemItems:
    """Return the problems of the server and of its stores."""
    slugs = _slugs(call, request)
    found = health.report(call.house, slugs, is_administrator=True).problems
    items = [
        ProblemItem(
            code=one.code,
            project=one.project,
            file=one.file,
            line=one.line,
            reason=one.reason,
            text=_line_text(call, one),
        )
        for one in found
        if request.project is None or one.project is not None
    ]
    return ProblemItems(items=items, version=call.version)


def list_conflicts(call: AdminCall, request: ProjectQuery) -> ConflictItems:
    """Return the conflict copies, each with the entry that lives."""
    items = [
        ConflictItem(project=slug, conflict=copy, current=_current(store, copy))
        for slug, store in _loaded(call, request).items()
        for copy in store.conflicts()
    ]
    return ConflictItems(items=items, version=call.version)


def list_held(call: AdminCall, _request: NoArguments) -> HeldItems:
    """Return the deletions that wait for a decision."""
    items = [
        HeldItem(project=slug, reason=problem.reason)
        for slug, store in _loaded(call, ProjectQuery()).items()
        for problem in store.problems()
        if problem.code == "held"
    ]
    return HeldItems(items=items, version=call.version)


def decide_held(call: AdminCall, request: HeldDecision) -> ReloadReport:
    """Accept or reject a held deletion, with admin rights in that project."""
    project = call.administered(request.project)
    is_accepted = request.decision is Decision.ACCEPT
    report = project.store.accept_held() if is_accepted else project.store.reject_held()
    project.record(request.decision.value, f"held/{project.project}")
    return report


def _slugs(call: AdminCall, request: ProjectQuery) -> list[str]:
    wanted = request.project
    return call.opened if wanted is None else [call.in_project(wanted).project]


def _loaded(call: AdminCall, request: ProjectQuery) -> dict[str, MemoryStore]:
    stores = {slug: call.house.catalog.loaded(slug) for slug in _slugs(call, request)}
    return {slug: store for slug, store in stores.items() if store is not None}


def _line_text(call: AdminCall, problem: health.ReportedProblem) -> str | None:
    if problem.project is None or problem.line is None:
        return None
    store = call.house.catalog.loaded(problem.project)
    line = store.line(problem.line) if store else None
    return None if line is None else line[:MAX_LINE_CHARS].decode("utf-8", "replace")


def _current(store: MemoryStore, copy: dict[str, Any]) -> dict[str, Any] | None:
    record = store.view.get(str(copy.get("id")))
    return record.document() if record else None
