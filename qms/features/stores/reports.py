"""Reports over all stores: problems, conflict copies and held deletions."""

from enum import StrEnum
from typing import Any

from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.configuration_edit import ProjectQuery
from qms.commands.requests import NoArguments, Request, Response
from qms.features.health import health
from qms.features.stores.stores import shown_conflict
from qms.store.memory_store import MemoryStore
from qms.store.options import ReloadReport

MAX_LINE_CHARS = 4096
"""A longer bad line is cut off."""


class ProblemItem(Response, frozen=True):
    """A problem to look at; a bad line includes the beginning of its text."""

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
    """A conflict copy, the version that lost, beside the current entry."""

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


class HeldChoice(StrEnum):
    """The decision on a held deletion."""

    ACCEPT = "accept"
    REJECT = "reject"


class HeldDecision(Request, frozen=True):
    """`accept` takes the file as it is; `reject` writes the missing entries back."""

    project: str
    decision: HeldChoice


@command(
    route="GET /admin/problems",
    name="listAllProblems",
    help="List what a person should look at, bad lines with their text",
)
def list_problems(call: Call, request: ProjectQuery) -> ProblemItems:
    """Return the problems of the server and of its stores."""
    slugs = _slugs(call, request)
    found = health.report(call.context, slugs, is_administrator=True).problems
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


@command(
    route="GET /admin/conflicts",
    name="listAllConflicts",
    help="List conflict copies beside the entries that live",
)
def list_conflicts(call: Call, request: ProjectQuery) -> ConflictItems:
    """Return the conflict copies, each with the current entry."""
    items = [
        _conflict_item(call, slug, store, copy)
        for slug, store in _loaded(call, request).items()
        for copy in store.conflicts()
    ]
    return ConflictItems(items=items, version=call.version)


@command(
    route="GET /admin/held",
    help="List deletions by hand that wait for a decision",
)
def list_held(call: Call, _request: NoArguments) -> HeldItems:
    """Return the deletions that wait for a decision."""
    items = [
        HeldItem(project=slug, reason=problem.reason)
        for slug, store in _loaded(call, ProjectQuery()).items()
        for problem in store.problems()
        if problem.code == "held"
    ]
    return HeldItems(items=items, version=call.version)


@command(
    route="POST /admin/held/{project}",
    help="Accept or reject a held deletion",
    example={"project": "projA", "decision": "reject"},
    destructive=True,
)
def decide_held(call: Call, request: HeldDecision) -> ReloadReport:
    """Accept or reject a held deletion, with admin rights in that project."""
    project = call.administered(request.project)
    is_accepted = request.decision is HeldChoice.ACCEPT
    report = project.store.accept_held() if is_accepted else project.store.reject_held()
    project.record(request.decision.value, f"held/{project.project}")
    return report


def _slugs(call: Call, request: ProjectQuery) -> list[str]:
    wanted = request.project
    return call.opened if wanted is None else [call.in_project(wanted).project]


def _loaded(call: Call, request: ProjectQuery) -> dict[str, MemoryStore]:
    stores = {slug: call.context.catalog.loaded(slug) for slug in _slugs(call, request)}
    return {slug: store for slug, store in stores.items() if store is not None}


def _line_text(call: Call, problem: health.ReportedProblem) -> str | None:
    if problem.project is None or problem.line is None or problem.file != "entries.jsonl":
        return None
    store = call.context.catalog.loaded(problem.project)
    line = store.line(problem.line) if store else None
    return None if line is None else line[:MAX_LINE_CHARS].decode("utf-8", "replace")


def _conflict_item(call: Call, slug: str, store: MemoryStore, copy: dict[str, Any]) -> ConflictItem:
    record = store.view.get(str(copy.get("id")))
    return ConflictItem(
        project=slug,
        conflict=shown_conflict(copy, call.visibility),
        current=call.visibility.shown(record.document()) if record else None,
    )
