"""Administration of backups: list, make, verify, restore, prune and schedule."""

from datetime import datetime
from typing import Annotated, Any

import msgspec

from qms.commands.call import Call
from qms.commands.command import EXAMPLE_VERSION, command
from qms.commands.configuration_edit import Change, Changed, ProjectQuery, edit_configuration
from qms.commands.requests import Conditions, Request, Response
from qms.config import toml_file
from qms.config.settings import BackupMode, BackupSettings
from qms.features.backups.backup_manifest import BackupKind, BrokenBackupError, Manifest
from qms.features.backups.files import Broken
from qms.features.backups.plan import prunable
from qms.features.backups.queue import BackupQueue, Job, Requester
from qms.features.backups.restore import SAMPLES, Restored, Target, restore
from qms.features.backups.verify import verify
from qms.memory.access import AccessTier
from qms.memory.errors import NotFoundError, QmsError, StorageFullError, invalid
from qms.memory.lines import decode_line
from qms.memory.relations import AwareTime
from qms.memory.validation import instant_text
from qms.store.options import StoreOptions

_EXAMPLE_BACKUP = "20260301T030000000000Z"

Keep = Annotated[int, msgspec.Meta(ge=1, le=10_000)]


class BackupItem(Response, frozen=True):
    """One backup; a broken one has its problem and few other fields."""

    project: str
    id: str
    mode: BackupKind | None
    created_utc: str | None
    entries: int | None
    bytes: int | None
    parent: str | None
    problem: str | None


class BackupItems(Response, frozen=True):
    """Backups, oldest first, recent jobs, and the time of the next scheduled backup."""

    items: list[BackupItem]
    jobs: list[Job]
    next_run_utc: str | None
    schedule: BackupSettings
    version: str


class BackupOrder(Request, frozen=True):
    """The project to back up; without one, all projects that the caller administers."""

    project: str | None = None
    mode: BackupKind = BackupKind.DIFFERENTIAL


class BackupsOrdered(Response, frozen=True):
    """The queued jobs, and by project the errors."""

    jobs: list[Job]
    failures: dict[str, str]


class BackupName(Request, frozen=True):
    """The project and id of a backup."""

    project: str
    id: str


class BackupCheck(Response, frozen=True):
    """Whether the store can be rebuilt from a backup."""

    project: str
    id: str
    good: bool
    entries: int | None
    problem: str | None


class RestoreOrder(Conditions, frozen=True):
    """The state to restore: a backup by its id, or a moment.

    `ifVersion` is the version of a dry run: a store that was written since is a conflict.
    """

    project: str
    id: str | None = None
    at: AwareTime | None = None
    dry_run: bool = False
    if_version: str | None = None


class EntryDifference(Response, frozen=True):
    """An entry before and after a restore; None where it does not exist."""

    id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class RestoreReport(Response, frozen=True):
    """The changes of a restore or of its dry run; the ids are samples."""

    project: str
    dry_run: bool
    added: int
    changed: int
    removed: int
    added_ids: list[str]
    changed_ids: list[str]
    removed_ids: list[str]
    samples: list[EntryDifference]
    """The named entries before and after; in a dry run only."""
    unreadable: int
    """Lines in the backup that are no entries; they are not restored."""
    exact: bool
    """Whether all writes up to the moment are known."""
    kept_as: str | None
    """The backup of the state before the restore."""
    version: str
    """The version of the store when it was compared."""


class PruneOrder(Conditions, frozen=True):
    """The project, or all; and how many backups to keep, by default as configured."""

    project: str | None = None
    keep: Keep | None = None
    dry_run: bool = False


class Pruned(Response, frozen=True):
    """The removed backups, by project; in a dry run, those that would be removed."""

    pruned: dict[str, list[str]]
    dry_run: bool


@command(
    route="GET /admin/backups",
    help="List backups, what is being made, and when the next are due",
)
def list_backups(call: Call, request: ProjectQuery) -> BackupItems:
    """Return the backups of one project or of all."""
    projects, queue = _projects(call, request.project), call.context.part(BackupQueue)
    items = [_item(slug, one) for slug in projects for one in queue.backup_folder.all(slug)]
    due = queue.next_run_utc()
    return BackupItems(
        items=items,
        jobs=queue.jobs(projects),
        next_run_utc=instant_text(due) if due else None,
        schedule=call.settings.global_.backup,
        version=call.version,
    )


@command(
    route="POST /admin/backups",
    help="Have backups made, of one project or of all",
    example={"project": "projA", "mode": "full"},
)
def order_backups(call: Call, request: BackupOrder) -> BackupsOrdered:
    """Queue backups; an error of one project does not stop the others."""
    requester = Requester(call.caller.user, call.caller.key_id, call.command)
    jobs: list[Job] = []
    failures: dict[str, str] = {}
    for slug in _administered(call, request.project):
        try:
            jobs.append(call.context.part(BackupQueue).order(slug, request.mode, requester))
        except QmsError as error:
            if request.project is not None:
                raise
            failures[slug] = error.message
    return BackupsOrdered(jobs=jobs, failures=failures)


@command(
    route="POST /admin/backups/{project}/{id}/verify",
    help="Rebuild a store from a backup in a scratch folder and compare",
    example={"project": "projA", "id": _EXAMPLE_BACKUP},
    idempotent=True,
)
def verify_backup(call: Call, request: BackupName) -> BackupCheck:
    """Read every link of a backup's chain, rebuild the store in a scratch folder, compare."""
    (slug,) = _projects(call, request.project)
    backup_folder = call.context.part(BackupQueue).backup_folder
    if backup_folder.find(slug, request.id) is None:
        raise NotFoundError(f"there is no backup {request.id[:64]!r} of {slug}")
    options = StoreOptions(limits=call.settings.global_.limits)
    try:
        with call.context.part(BackupQueue).busy:
            manifest = verify(backup_folder, slug, request.id, options, call.context.clock)
    except BrokenBackupError as error:
        return BackupCheck(
            project=slug, id=request.id, good=False, entries=None, problem=str(error)
        )
    except OSError as error:
        raise _full(error) from error
    return BackupCheck(
        project=slug, id=request.id, good=True, entries=manifest.entries, problem=None
    )


@command(
    route="POST /admin/backups/{project}/restore",
    help="Bring a project back to a backup or a moment; what is there is kept",
    example={"project": "projA", "id": _EXAMPLE_BACKUP, "dryRun": True},
    destructive=True,
)
def restore_backup(call: Call, request: RestoreOrder) -> RestoreReport:
    """Restore a project to a backup or a moment, or report what that would change."""
    project = call.administered(request.project)
    if (request.id is None) == (request.at is None):
        raise invalid("id", "exactly one of id and at is required")
    slug, store = project.project, project.store
    if not request.dry_run:
        project.record("restore", f"backups/{slug}/{_name(request)}")
    done = restore(
        store,
        call.context.part(BackupQueue),
        Target(backup_id=request.id, at_utc=request.at),
        project.origin,
        dry_run=request.dry_run,
        if_sequence=_sequence(request.if_version),
    )
    found = done.difference
    return RestoreReport(
        project=slug,
        dry_run=request.dry_run,
        added=len(found.added),
        changed=len(found.changed),
        removed=len(found.removed),
        added_ids=found.added[:SAMPLES],
        changed_ids=found.changed[:SAMPLES],
        removed_ids=found.removed[:SAMPLES],
        samples=_samples(project, done) if request.dry_run else [],
        unreadable=len(done.past.unreadable),
        exact=done.past.is_exact,
        kept_as=done.kept_as,
        version=str(done.sequence),
    )


@command(
    route="POST /admin/backups/prune",
    help="Take backups away that are beyond retention and that no other needs",
    example={"keep": 14, "dryRun": True},
    destructive=True,
    idempotent=True,
)
def prune_backups(call: Call, request: PruneOrder) -> Pruned:
    """Remove the backups that are beyond retention and that no other backup needs."""
    keep = request.keep or call.settings.global_.backup.keep
    queue = call.context.part(BackupQueue)
    pruned: dict[str, list[str]] = {}
    for slug in _administered(call, request.project):
        if request.dry_run:
            pruned[slug] = prunable(queue.backup_folder.all(slug), keep)
            continue
        try:
            pruned[slug] = queue.prune(slug, keep)
        except OSError as error:
            raise _full(error) from error
        for backup_id in pruned[slug]:
            call.administered(slug).record("remove", f"backups/{slug}/{backup_id}")
    return Pruned(pruned=pruned, dry_run=request.dry_run)


def _projects(call: Call, wanted: str | None) -> list[str]:
    """Return the requested project, or all projects whose entries the caller may see."""
    return call.opened if wanted is None else [call.in_project(wanted).project]


def _administered(call: Call, wanted: str | None) -> list[str]:
    """Return the requested project, or all projects that the caller administers."""
    if wanted is not None:
        return [call.administered(wanted).project]
    return [slug for slug in call.opened if call.access_to(slug) is AccessTier.ADMIN]


def _samples(call: Call, done: Restored) -> list[EntryDifference]:
    found = done.difference
    named = [*found.changed[:SAMPLES], *found.added[:SAMPLES], *found.removed[:SAMPLES]]
    present, past, shown = call.store.view, done.past.lines, call.visibility.shown
    return [
        EntryDifference(
            id=one,
            before=shown(record.document()) if (record := present.get(one)) else None,
            after=shown(decode_line(line)) if (line := past.get(one)) else None,
        )
        for one in named
    ]


def _item(project: str, one: Manifest | Broken) -> BackupItem:
    if isinstance(one, Broken):
        return BackupItem(
            project=project,
            id=one.id,
            mode=None,
            created_utc=None,
            entries=None,
            bytes=None,
            parent=None,
            problem=one.reason,
        )
    return BackupItem(
        project=project,
        id=one.id,
        mode=one.mode,
        created_utc=instant_text(one.created_utc),
        entries=one.entries,
        bytes=sum(file.bytes for file in one.files.values()),
        parent=one.parent.id if one.parent else None,
        problem=None,
    )


def _name(request: RestoreOrder) -> str:
    at: datetime | None = request.at
    return request.id or (instant_text(at) if at else "")


def _sequence(given: str | None) -> int | None:
    if given is None:
        return None
    if not (given.isascii() and given.isdigit()):
        raise invalid("ifVersion", "must be the version that a dry run answered")
    return int(given)


def _full(error: OSError) -> StorageFullError:
    reason = error.strerror or type(error).__name__
    return StorageFullError(f"the folder of backups cannot be written now: {reason}")


class ScheduleChange(Change, frozen=True, kw_only=True):
    """The new values of `[global.backup]`; an empty cadence turns the schedule off."""

    cadence: str
    time_zone: str
    mode: BackupMode
    keep: Keep


@command(
    route="PUT /admin/backups/schedule",
    name="setBackupSchedule",
    help="Say when backups are made by the clock, which, and how many are kept",
    example={
        "cadence": "0 3 * * *",
        "timeZone": "local",
        "mode": "differential",
        "keep": 14,
        "ifVersion": EXAMPLE_VERSION,
    },
    after="orderBackups",
)
def set_schedule(call: Call, request: ScheduleChange) -> Changed:
    """Change the schedule of backups."""
    wanted = {
        "cadence": request.cadence.strip(),
        "timeZone": request.time_zone,
        "mode": request.mode.value,
        "keep": request.keep,
    }
    version = edit_configuration(
        call,
        lambda text: toml_file.set_backup(text, wanted),
        request.if_version,
        op="update",
        target="backups/schedule",
        names={("global", "backup"): ""},
    )
    return Changed(version=version)
