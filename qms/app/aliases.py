"""Aliases: second names of commands, each with a route or an answer of its own, until 1.0.

An alias asks the command that does the work, and tells its answer in the form that it always had.
"""

from qms.commands.call import Call
from qms.commands.command import EXAMPLE_ID, command
from qms.commands.requests import NoArguments, Request, Response
from qms.features.backups.administration import BackupOrder, order_backups
from qms.features.backups.backup_manifest import BackupKind
from qms.features.backups.history import Most, VersionItem, told_versions
from qms.features.stores.reports import HeldChoice, HeldDecision, decide_held
from qms.memory.access import AccessTier
from qms.memory.entry import split_id
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
