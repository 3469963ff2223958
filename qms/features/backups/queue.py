"""The queue of backups: jobs that wait, jobs that run, and the schedule.

On a server one background thread calls `work` in a loop. Without it, as for a command on files,
the caller of `order` makes the backup itself.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from qms.config.configuration import Configuration
from qms.config.cron import find_zone, parse_cron
from qms.config.masked import masked, masks_of
from qms.disk.disk import Disk
from qms.features.backups.backup_manifest import BackupKind, Manifest
from qms.features.backups.files import BackupFolder
from qms.features.backups.plan import prunable, scheduled_mode, timeline
from qms.features.backups.take import Order, stamp, take
from qms.memory.access import SYSTEM_USER
from qms.memory.errors import QmsError, UnavailableError
from qms.store.catalog import Catalog
from qms.telemetry.audit_chain import AuditedChange, AuditEvent
from qms.telemetry.audit_log import AuditLog

log = logging.getLogger(__name__)

REMEMBERED_JOBS = 100
"""How many finished jobs are listed; jobs that wait or run are always listed."""
LONGEST_WAIT_S = 30.0
"""The longest time between two looks at the clock: it can be set, and a laptop sleeps."""

_STEP = timedelta(microseconds=1)


class JobState(StrEnum):
    """The state of a backup job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


_ACTIVE = (JobState.QUEUED, JobState.RUNNING)


class Job(msgspec.Struct, rename="camel"):
    """One backup in the queue."""

    id: str
    project: str
    mode: BackupKind
    user: str
    state: JobState = JobState.QUEUED
    done: int = 0
    """How many of `total` lines are written."""
    total: int = 0
    reason: str | None = None


class Requester(msgspec.Struct, frozen=True):
    """Who requests a backup, for the audit log."""

    user: str = SYSTEM_USER
    key_id: str | None = None
    command: str = "scheduledBackup"


class BackupQueue:
    """Makes and prunes all backups of a root; any thread may call any method."""

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
    def backup_folder(self) -> BackupFolder:
        """Return the folder of all backups."""
        settings = self._configuration.settings
        return BackupFolder(self._disk, settings.backup_folder(self._configuration.root))

    @property
    def problem(self) -> str | None:
        """Return why backups cannot be made or scheduled, or None if no reason is known."""
        return self._problem or self._schedule_problem()

    @property
    def busy(self) -> threading.Lock:
        """Return the lock that is held while backups are made, removed or rewritten."""
        return self._working

    def jobs(self, projects: Iterable[str]) -> list[Job]:
        """Return the recent jobs of these projects, oldest first."""
        wanted = set(projects)
        with self._lock:
            return [msgspec.structs.replace(job) for job in self._jobs if job.project in wanted]

    def next_run_utc(self) -> datetime | None:
        """Return when the next scheduled backup is due."""
        return self._due_after(self._looked_at or self._clock())

    def order(self, project: str, mode: BackupKind, orderer: Requester) -> Job:
        """Queue a backup and return its job.

        A job waits for the running backup of its project. While it waits, further orders join it.

        Raises:
            UnavailableError: without a background thread, the backup failed.
        """
        with self._lock:
            active = [one for one in self._jobs if _is_active(one, project)]
            if not active and not timeline(self.backup_folder.all(project)):
                mode = BackupKind.FULL
            waiting = [one for one in active if one.state is JobState.QUEUED]
            job = waiting[0] if waiting else Job(self._new_id(), project, mode, orderer.user)
            if not waiting:
                self._jobs = [*_remembered(self._jobs), job]
            elif mode is BackupKind.FULL:
                job.mode = mode
        self._note(job, orderer)
        if self._in_background:
            self.wake()
        else:
            self._run(job)
            if job.state is JobState.FAILED:
                raise UnavailableError(job.reason or "the backup failed", project=project)
        return msgspec.structs.replace(job)

    def new_id(self) -> str:
        """Return a new unique id for a backup."""
        with self._lock:
            return self._new_id()

    def config_text(self) -> str:
        """Return the configuration without its secrets."""
        configuration = self._configuration
        return masked(configuration.text, masks_of(configuration.settings))

    def work(self) -> float:
        """Make every queued and due backup; return the seconds until the next call is needed."""
        self._probe()
        self._order_due()
        while (job := self._next_job()) is not None:
            self._run(job)
        due = self.next_run_utc()
        wait = LONGEST_WAIT_S if due is None else (due - self._clock()).total_seconds()
        return min(max(wait, 0.0), LONGEST_WAIT_S)

    def prune(self, project: str, keep: int) -> list[str]:
        """Remove the backups that are beyond retention, and return their ids.

        Raises:
            OSError: a backup cannot be removed; the rest remains.
        """
        with self._working:
            backup_folder = self.backup_folder
            gone = prunable(backup_folder.all(project), keep)
            for backup_id in reversed(gone):  # a child before its parent
                backup_folder.remove(project, backup_id)
        if gone:
            log.info("backups pruned", extra={"project": project, "count": len(gone)})
        return gone

    def _order_due(self) -> None:
        now = self._clock()
        if self._looked_at is None or now < self._looked_at:  # the clock may be set back
            self._looked_at = self._last_made_utc(now)
        due = self._due_after(self._looked_at)
        if due is None or now < due:
            return
        self._looked_at = now
        wanted = BackupKind(self._configuration.settings.global_.backup.mode)
        for project in self._catalog.projects:
            mode = scheduled_mode(self.backup_folder.all(project), wanted)
            try:
                self.order(project, mode, Requester())
            except QmsError as error:
                # Without a background thread: the backup was made at once, and failed.
                log.info("backup not ordered", extra={"project": project, "reason": error.message})

    def _last_made_utc(self, now: datetime) -> datetime:
        """Return when the last backup was made; a backup missed since then is made now."""
        made = [
            one.created_utc
            for project in self._catalog.projects
            for one in timeline(self.backup_folder.all(project))[-1:]
        ]
        return min(now, max(made, default=now))

    def _next_job(self) -> Job | None:
        """Return the job that has waited longest, and mark it as running."""
        with self._lock:
            job = next((one for one in self._jobs if one.state is JobState.QUEUED), None)
            if job is not None:
                job.state = JobState.RUNNING
            return job

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
                manifest = take(store, self.backup_folder, order, progress)
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
        """Return an id made of the current time that sorts after every earlier id."""
        moment = self._clock()
        while (name := stamp(moment)) <= self._last_id:
            moment += _STEP
        self._last_id = name
        return name

    def _note(self, job: Job, orderer: Requester) -> None:
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
        """Test once for each folder whether it is writable, and again while it is not."""
        try:
            backup_folder = self.backup_folder
            if self._probed != str(backup_folder.root) or self._problem:
                backup_folder.probe()
                self._probed, self._problem = str(backup_folder.root), None
        except (QmsError, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self._problem = f"the folder of backupRoot is not writable: {reason}"
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
            return f"scheduled backups are off: {error}"
        return None


def _is_active(job: Job, project: str) -> bool:
    return job.project == project and job.state in _ACTIVE


def _remembered(jobs: list[Job]) -> list[Job]:
    """Return jobs in their order, without the oldest finished ones."""
    ended = [job for job in jobs if job.state not in _ACTIVE]
    forgotten = {job.id for job in ended[:-REMEMBERED_JOBS]}
    return [job for job in jobs if job.id not in forgotten]
