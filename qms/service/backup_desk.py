"""The desk where backups are ordered: what waits, what runs, what is due by the clock.

In the background one thread calls `work` again and again; without it, as for a command on files,
a backup is made by whoever orders it.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from qms.config.cron import find_zone, parse_cron
from qms.domain.errors import ConflictError, QmsError, UnavailableError
from qms.files.audit import AuditLog
from qms.files.audit_chain import AuditedChange, AuditEvent
from qms.files.backup import Shelf
from qms.files.backup_manifest import BackupKind, Manifest
from qms.fsio.disk import Disk
from qms.service.backup_taking import Order, stamp, take
from qms.service.configuration import Configuration
from qms.service.masking import masked, masks_of
from qms.store.catalog import Catalog
from qms.upkeep.backups import prunable, scheduled_mode, timeline

log = logging.getLogger(__name__)

REMEMBERED_JOBS = 100
"""How many that have ended are told of; what is under way is never forgotten."""
LONGEST_WAIT_S = 30.0
"""How late the clock may be looked at: it can be set, and a laptop sleeps."""
SYSTEM_USER = "system"

_STEP = timedelta(microseconds=1)


class JobState(StrEnum):
    """How far an ordered backup is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


_UNDER_WAY = (JobState.QUEUED, JobState.RUNNING)


class Job(msgspec.Struct, rename="camel"):
    """One ordered backup."""

    id: str
    project: str
    mode: BackupKind
    user: str
    state: JobState = JobState.QUEUED
    done: int = 0
    """Of `total` lines, how many are written."""
    total: int = 0
    reason: str | None = None


class Orderer(msgspec.Struct, frozen=True):
    """Who orders a backup, as the audit log names it."""

    user: str = SYSTEM_USER
    key_id: str | None = None
    command: str = "scheduledBackup"


class BackupDesk:
    """All backups of a root; any thread may call any method."""

    def __init__(
        self,
        configuration: Configuration,
        catalog: Catalog,
        disk: Disk,
        *,
        audit: AuditLog,
        clock: Callable[[], datetime],
        in_background: bool = False,
    ) -> None:
        self._configuration = configuration
        self._catalog = catalog
        self._disk = disk
        self._audit = audit
        self._clock = clock
        self._in_background = in_background
        self._lock = threading.Lock()
        self._working = threading.Lock()
        self._jobs: list[Job] = []
        self._last_id = ""
        self._looked_at: datetime | None = None
        self._problem: str | None = None
        self._probed: str | None = None
        self.wake: Callable[[], None] = lambda: None

    @property
    def shelf(self) -> Shelf:
        """Return where backups are kept."""
        settings = self._configuration.settings
        return Shelf(self._disk, settings.backup_folder(self._configuration.root))

    @property
    def problem(self) -> str | None:
        """Return why no backups can be made or none are due, as far as it is known."""
        return self._problem or self._schedule_problem()

    @property
    def busy(self) -> threading.Lock:
        """Return what is held while backups are made, taken away or rewritten."""
        return self._working

    def jobs(self, projects: Iterable[str]) -> list[Job]:
        """Return what was ordered of late, oldest first."""
        wanted = set(projects)
        with self._lock:
            return [msgspec.structs.replace(job) for job in self._jobs if job.project in wanted]

    def next_run_utc(self) -> datetime | None:
        """Return when the next backup is due by the clock."""
        return self._due_after(self._looked_at or self._clock())

    def order(self, project: str, mode: BackupKind, orderer: Orderer) -> Job:
        """Have a backup made and return what was ordered.

        Raises:
            ConflictError: one of this project is under way.
            UnavailableError: it was to be made at once, and failed.
        """
        with self._lock:
            for job in self._jobs:
                if job.project == project and job.state in _UNDER_WAY:
                    reason = f"a backup of {project} is under way: {job.id}"
                    raise ConflictError(reason, project=project, backupId=job.id)
            if not timeline(self.shelf.all(project)):
                mode = BackupKind.FULL
            job = Job(self._new_id(), project, mode, orderer.user)
            self._jobs = [*_remembered(self._jobs), job]
        self._note(job, orderer)
        if self._in_background:
            self.wake()
        else:
            self._run(job)
            if job.state is JobState.FAILED:
                raise UnavailableError(job.reason or "the backup failed", project=project)
        return msgspec.structs.replace(job)

    def new_id(self) -> str:
        """Return a name for a backup that no other has."""
        with self._lock:
            return self._new_id()

    def config_text(self) -> str:
        """Return the configuration without its secrets."""
        configuration = self._configuration
        return masked(configuration.text, masks_of(configuration.settings))

    def work(self) -> float:
        """Make what was ordered or is due; return for how many seconds nothing will be."""
        self._probe()
        self._order_what_is_due()
        while (job := self._next_job()) is not None:
            self._run(job)
        due = self.next_run_utc()
        wait = LONGEST_WAIT_S if due is None else (due - self._clock()).total_seconds()
        return min(max(wait, 0.0), LONGEST_WAIT_S)

    def prune(self, project: str, keep: int) -> list[str]:
        """Take the backups away that are beyond retention; return which.

        Raises:
            OSError: the rest is still there.
        """
        with self._working:
            shelf = self.shelf
            gone = prunable(shelf.all(project), keep)
            for backup_id in reversed(gone):  # a child before its parent
                shelf.remove(project, backup_id)
        if gone:
            log.info("backups pruned", extra={"project": project, "count": len(gone)})
        return gone

    def _order_what_is_due(self) -> None:
        now = self._clock()
        if self._looked_at is None or now < self._looked_at:  # the clock may be set back
            self._looked_at = self._last_made_utc(now)
        due = self._due_after(self._looked_at)
        if due is None or now < due:
            return
        self._looked_at = now
        wanted = BackupKind(self._configuration.settings.global_.backup.mode)
        for project in self._catalog.projects:
            mode = scheduled_mode(self.shelf.all(project), wanted)
            try:
                self.order(project, mode, Orderer())
            except QmsError as error:
                # Somebody ordered one a moment ago, or it was made at once and failed.
                log.info("backup not ordered", extra={"project": project, "reason": error.message})

    def _last_made_utc(self, now: datetime) -> datetime:
        """Return when the last backup was made: what was due since then is made up for."""
        made = [
            one.created_utc
            for project in self._catalog.projects
            for one in timeline(self.shelf.all(project))[-1:]
        ]
        return min(now, max(made, default=now))

    def _next_job(self) -> Job | None:
        with self._lock:
            return next((job for job in self._jobs if job.state is JobState.QUEUED), None)

    def _run(self, job: Job) -> None:
        job.state = JobState.RUNNING

        def progress(done: int, total: int) -> None:
            job.done, job.total = done, total

        order = Order(
            id=job.id, mode=job.mode, at_utc=self._clock(), config_text=self.config_text()
        )
        try:
            with self._working:
                store = self._catalog.get(job.project)
                manifest = take(store, self.shelf, order, progress)
            self._finish(job, manifest)
        except (QmsError, OSError) as error:
            job.reason = getattr(error, "message", None) or str(error)
            job.state = JobState.FAILED
            log.error("backup failed", extra={"project": job.project, "reason": job.reason})

    def _finish(self, job: Job, manifest: Manifest) -> None:
        job.mode = manifest.mode
        job.done = job.total = manifest.entries
        if job.user == SYSTEM_USER:
            try:
                self.prune(job.project, self._configuration.settings.global_.backup.keep)
            except OSError as error:
                log.warning("backups not pruned", extra={"reason": error.strerror})
        job.state = JobState.DONE
        self._problem = None
        log.info(
            "backup made",
            extra={"project": job.project, "backup": job.id, "entries": manifest.entries},
        )

    def _new_id(self) -> str:
        """Return the present moment as a name, later than every name before."""
        moment = self._clock()
        while (name := stamp(moment)) <= self._last_id:
            moment += _STEP
        self._last_id = name
        return name

    def _note(self, job: Job, orderer: Orderer) -> None:
        self._audit.note(
            AuditEvent(
                at_utc=self._clock(),
                user=orderer.user,
                key_id=orderer.key_id,
                command=orderer.command,
                changes=(AuditedChange("create", f"backups/{job.project}/{job.id}"),),
                project=job.project,
            )
        )

    def _probe(self) -> None:
        """Test once for each place whether it takes backups, and again while it does not."""
        try:
            shelf = self.shelf
            if self._probed != str(shelf.root) or self._problem:
                shelf.probe()
                self._probed, self._problem = str(shelf.root), None
        except (QmsError, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self._problem = f"the folder of backupRoot takes no backups: {reason}"
            log.warning("backup target not writable", extra={"reason": reason})

    def _due_after(self, moment: datetime) -> datetime | None:
        wanted = self._configuration.settings.global_.backup
        if not wanted.cadence:
            return None
        try:
            return parse_cron(wanted.cadence).next_after(moment, find_zone(wanted.time_zone))
        except ValueError:
            return None

    def _schedule_problem(self) -> str | None:
        wanted = self._configuration.settings.global_.backup
        try:
            find_zone(wanted.time_zone)
        except ValueError as error:
            return f"no backups are made by the clock: {error}"
        return None


def _remembered(jobs: list[Job]) -> list[Job]:
    """Return jobs without those that ended long ago, in their order."""
    ended = [job for job in jobs if job.state not in _UNDER_WAY]
    forgotten = {job.id for job in ended[:-REMEMBERED_JOBS]}
    return [job for job in jobs if job.id not in forgotten]
