"""Aliases: second names of commands, each with a route or an answer of its own, until 1.0.

An alias asks the command that does the work, and tells its answer in the form that it always had.
"""

from typing import Any

from qms.commands.call import Call
from qms.commands.command import EXAMPLE_ID, command
from qms.commands.configuration_edit import ProjectQuery
from qms.commands.requests import NoArguments, Request, Response
from qms.features.backups.administration import BackupOrder, order_backups
from qms.features.backups.backup_manifest import BackupKind
from qms.features.backups.history import Most, VersionItem, told_versions
from qms.features.stores.held import HeldChoice, HeldDecision, decide_held
from qms.features.stores.stores import (
    ListedProblem,
    loaded_stores,
    problems_in,
    shown_conflict,
)
from qms.memory.access import AccessTier
from qms.memory.entry import split_id
from qms.store.memory_store import MemoryStore
from qms.store.options import ReloadReport


@command(
    tier=AccessTier.ADMIN,
    toolset="system",
    help="Accept a held mass deletion: what is missing in the file goes to the archive",
    destructive=True,
    care=True,
    after="reloadStore",
    alias_of="decideHeld",
)
def accept_held(call: Call, _request: NoArguments) -> ReloadReport:
    """Accept the file as it is, with its missing entries deleted."""
    return decide_held(call, HeldDecision(project=call.project, decision=HeldChoice.ACCEPT))


@command(
    tier=AccessTier.ADMIN,
    toolset="system",
    help="Reject a held mass deletion: the file is written again from memory",
    destructive=True,
    care=True,
    after="acceptHeld",
    alias_of="decideHeld",
)
def reject_held(call: Call, _request: NoArguments) -> ReloadReport:
    """Keep the entries in memory and write the file again."""
    return decide_held(call, HeldDecision(project=call.project, decision=HeldChoice.REJECT))


class BackupRequest(Request, frozen=True):
    """The kind of backup: the changes since the last one, or everything."""

    mode: BackupKind = BackupKind.DIFFERENTIAL


class BackupAnswer(Response, frozen=True):
    """The queued backup; the first one of a project is full, whichever mode was requested."""

    queued: bool
    mode: BackupKind
    backup_id: str


@command(
    tier=AccessTier.ADMIN,
    toolset="core",
    help="Make a backup in the background. Use it before large changes",
    example={"mode": "full"},
    after="bulkImport",
    alias_of="orderBackups",
)
def backup_store(call: Call, request: BackupRequest) -> BackupAnswer:
    """Queue a backup of the project."""
    ordered = order_backups(call, BackupOrder(project=call.store.project, mode=request.mode))
    (job,) = ordered.jobs
    return BackupAnswer(queued=True, mode=job.mode, backup_id=job.id)


class VersionQuery(Request, frozen=True):
    """The entry and its project; `full` includes the entry of every version."""

    project: str
    id: str
    limit: Most = 50
    full: bool = False


class VersionPage(Response, frozen=True):
    """Versions, the newest first; `omitted` older ones are left out."""

    items: list[VersionItem]
    omitted: int
    version: str


@command(
    route="GET /admin/history",
    help="List the versions of an entry that store, archive and backups hold",
    example={"project": "projA", "id": split_id(EXAMPLE_ID)[1]},
    after="pruneBackups",
    alias_of="history",
)
def list_versions(call: Call, request: VersionQuery) -> VersionPage:
    """Return the known versions of an entry."""
    project = call.in_project(request.project)
    local = request.id.partition(":")[2] or request.id
    entry_id = f"{project.project}:{local}"
    items, omitted = told_versions(
        project, entry_id, limit=request.limit, full=request.full, deadline=call.deadline
    )
    return VersionPage(items=items, omitted=omitted, version=call.version)


MAX_LINE_CHARS = 4096
"""A longer bad line is cut off in `listAllProblems`."""


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


@command(
    route="GET /admin/problems",
    help="List what a person should look at, bad lines with their text",
    after="saveConfig",
    alias_of="listProblems",
)
def list_all_problems(call: Call, request: ProjectQuery) -> ProblemItems:
    """Return the problems of the server and of its stores."""
    items = [
        ProblemItem(
            code=one.code,
            project=one.project,
            file=one.file,
            line=one.line,
            reason=one.reason,
            text=_line_text(call, one),
        )
        for one in problems_in(call, _slugs(call, request))
        if request.project is None or one.project is not None
    ]
    return ProblemItems(items=items, version=call.version)


@command(
    route="GET /admin/conflicts",
    help="List conflict copies beside the entries that live",
    after="listAllProblems",
    alias_of="listConflicts",
)
def list_all_conflicts(call: Call, request: ProjectQuery) -> ConflictItems:
    """Return the conflict copies, each with the current entry."""
    items = [
        _conflict_item(call, slug, store, copy)
        for slug, store in loaded_stores(call, _slugs(call, request)).items()
        for copy in store.conflicts()
    ]
    return ConflictItems(items=items, version=call.version)


def _slugs(call: Call, request: ProjectQuery) -> list[str]:
    wanted = request.project
    return call.opened if wanted is None else [call.in_project(wanted).project]


def _line_text(call: Call, problem: ListedProblem) -> str | None:
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
