"""Backups of all projects: listed, made, verified, restored, pruned."""

from datetime import datetime
from typing import Annotated, Any

import msgspec

from qms.codec.documents import instant_text
from qms.codec.lines import decode_line
from qms.config.settings import BackupSettings
from qms.domain.access import AccessTier
from qms.domain.errors import NotFoundError, QmsError, StorageFullError, invalid
from qms.domain.relations import AwareTime
from qms.files.backup import Broken
from qms.files.backup_manifest import BackupKind, BrokenBackupError, Manifest
from qms.service.admin.calls import AdminCall
from qms.service.admin.stores import ProjectQuery
from qms.service.backup_desk import Job, Orderer
from qms.service.backup_verifying import verify
from qms.service.requests import Request, Response
from qms.service.restoring import SAMPLES, Restored, Target, restore
from qms.store.memory_store import MemoryStore
from qms.store.options import StoreOptions
from qms.upkeep.backups import prunable

Keep = Annotated[int, msgspec.Meta(ge=1, le=10_000)]


class BackupItem(Response, frozen=True):
    """One backup; a broken one says why and little else."""

    project: str
    id: str
    mode: BackupKind | None
    created_utc: str | None
    entries: int | None
    bytes: int | None
    parent: str | None
    problem: str | None


class BackupItems(Response, frozen=True):
    """Backups, oldest first, what was ordered of late, and when the next are due."""

    items: list[BackupItem]
    jobs: list[Job]
    next_run_utc: str | None
    schedule: BackupSettings
    version: str


class BackupOrder(Request, frozen=True):
    """Of which project to make a backup; without one, of all that the caller administers."""

    project: str | None = None
    mode: BackupKind = BackupKind.DIFFERENTIAL


class BackupsOrdered(Response, frozen=True):
    """What was ordered, and what could not be."""

    jobs: list[Job]
    failures: dict[str, str]


class BackupName(Request, frozen=True):
    """Which backup."""

    project: str
    id: str


class BackupCheck(Response, frozen=True):
    """Whether a backup gives back the store that it was made of."""

    project: str
    id: str
    good: bool
    entries: int | None
    problem: str | None


class RestoreOrder(Request, frozen=True):
    """What to go back to: a backup by its id, or a moment.

    `ifVersion` is that of a dry run: a store written meanwhile is a conflict.
    """

    project: str
    id: str | None = None
    at: AwareTime | None = None
    dry_run: bool = False
    if_version: str | None = None


class EntryDifference(Response, frozen=True):
    """An entry as it is, and as a restore would leave it; None where it is not there."""

    id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class RestoreReport(Response, frozen=True):
    """What a restore changed, or would; the ids are samples."""

    project: str
    dry_run: bool
    added: int
    changed: int
    removed: int
    added_ids: list[str]
    changed_ids: list[str]
    removed_ids: list[str]
    samples: list[EntryDifference]
    """What would become of the entries that are named, line by line; of a dry run only."""
    unreadable: int
    """Lines in the backup that are no entries; they stay there."""
    exact: bool
    """Whether all writes up to the moment are known."""
    kept_as: str | None
    """The backup that the state before it is kept as."""
    version: str
    """The store's, when it was compared."""


class PruneOrder(Request, frozen=True):
    """Of which project, or of all; how many to keep, or as many as the configuration says."""

    project: str | None = None
    keep: Keep | None = None
    dry_run: bool = False


class Pruned(Response, frozen=True):
    """The backups that are gone, or would be, by project."""

    pruned: dict[str, list[str]]
    dry_run: bool


def list_backups(call: AdminCall, request: ProjectQuery) -> BackupItems:
    """Return the backups of one project or of all."""
    projects, desk = _projects(call, request.project), call.house.desk
    items = [_item(slug, one) for slug in projects for one in desk.shelf.all(slug)]
    due = desk.next_run_utc()
    return BackupItems(
        items=items,
        jobs=desk.jobs(projects),
        next_run_utc=instant_text(due) if due else None,
        schedule=call.settings.global_.backup,
        version=call.version,
    )


def order_backups(call: AdminCall, request: BackupOrder) -> BackupsOrdered:
    """Have backups made in the background; one project that cannot does not stop the others."""
    orderer = Orderer(call.caller.user, call.caller.key_id, call.command)
    jobs: list[Job] = []
    failures: dict[str, str] = {}
    for slug in _administered(call, request.project):
        try:
            jobs.append(call.house.desk.order(slug, request.mode, orderer))
        except QmsError as error:
            if request.project is not None:
                raise
            failures[slug] = error.message
    return BackupsOrdered(jobs=jobs, failures=failures)


def verify_backup(call: AdminCall, request: BackupName) -> BackupCheck:
    """Read every link of a backup's chain, rebuild the store in a scratch folder, compare."""
    (slug,) = _projects(call, request.project)
    shelf = call.house.desk.shelf
    if shelf.find(slug, request.id) is None:
        raise NotFoundError(f"there is no backup {request.id[:64]!r} of {slug}")
    options = StoreOptions(limits=call.settings.global_.limits)
    try:
        with call.house.desk.busy:
            manifest = verify(shelf, slug, request.id, options, call.house.clock)
    except BrokenBackupError as error:
        return BackupCheck(
            project=slug, id=request.id, good=False, entries=None, problem=str(error)
        )
    except OSError as error:
        raise _full(error) from error
    return BackupCheck(
        project=slug, id=request.id, good=True, entries=manifest.entries, problem=None
    )


def restore_backup(call: AdminCall, request: RestoreOrder) -> RestoreReport:
    """Bring a project back to a backup or a moment, or say what that would change."""
    project = call.administered(request.project)
    if (request.id is None) == (request.at is None):
        raise invalid("id", "is required, or at: a moment in its place")
    slug, store = project.project, project.store
    project.record("dryRun" if request.dry_run else "restore", f"backups/{slug}/{_name(request)}")
    done = restore(
        store,
        call.house.desk,
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
        samples=_samples(store, done) if request.dry_run else [],
        unreadable=len(done.past.unreadable),
        exact=done.past.is_exact,
        kept_as=done.kept_as,
        version=str(done.sequence),
    )


def prune_backups(call: AdminCall, request: PruneOrder) -> Pruned:
    """Take backups away that are beyond retention and that no other needs."""
    keep = request.keep or call.settings.global_.backup.keep
    desk = call.house.desk
    pruned: dict[str, list[str]] = {}
    for slug in _administered(call, request.project):
        if request.dry_run:
            pruned[slug] = prunable(desk.shelf.all(slug), keep)
            continue
        try:
            pruned[slug] = desk.prune(slug, keep)
        except OSError as error:
            raise _full(error) from error
        for backup_id in pruned[slug]:
            call.administered(slug).record("remove", f"backups/{slug}/{backup_id}")
    return Pruned(pruned=pruned, dry_run=request.dry_run)


def _projects(call: AdminCall, wanted: str | None) -> list[str]:
    """Return the projects that are meant, of those whose entries the caller may see."""
    return call.opened if wanted is None else [call.in_project(wanted).project]


def _administered(call: AdminCall, wanted: str | None) -> list[str]:
    """Return the projects that are meant, of those that the caller administers."""
    if wanted is not None:
        return [call.administered(wanted).project]
    return [slug for slug in call.opened if call.access_to(slug) is AccessTier.ADMIN]


def _samples(store: MemoryStore, done: Restored) -> list[EntryDifference]:
    found = done.difference
    named = [*found.changed[:SAMPLES], *found.added[:SAMPLES], *found.removed[:SAMPLES]]
    present, past = store.view, done.past.lines
    return [
        EntryDifference(
            id=one,
            before=record.document() if (record := present.get(one)) else None,
            after=decode_line(line) if (line := past.get(one)) else None,
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
        raise invalid("ifVersion", "is the version that a dry run answered")
    return int(given)


def _full(error: OSError) -> StorageFullError:
    reason = error.strerror or type(error).__name__
    return StorageFullError(f"the folder of backups cannot be written now: {reason}")
