"""Call: one call of a command, with its caller, its project and the stores that it may read.

A handler reaches settings and stores through its `Call` only. A store that the caller's key does
not open cannot be reached there, so that no handler can forget the check.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import TypeVar

import msgspec

from qms.commands.admission import Admission, check_tier
from qms.commands.progress import NO_PROGRESS, Progress
from qms.commands.visible import Visible, visible_record
from qms.config.settings import Endpoint
from qms.memory.access import AccessTier, Caller
from qms.memory.deadline import NO_DEADLINE, Deadline
from qms.memory.entry import split_id
from qms.memory.entry_input import EntryRules
from qms.memory.errors import NotFoundError, UnavailableError, invalid
from qms.memory.ids import RANDOM_BYTES, make_local_id, whole_id
from qms.memory.retention import is_expired
from qms.store.draft import Draft
from qms.store.memory_store import MemoryStore
from qms.store.options import Origin
from qms.store.view import Record, StoreView
from qms.telemetry.audit_chain import NO_PROJECT, AuditedChange, AuditEvent

T = TypeVar("T")

IMPORT_COMMANDS = frozenset({"bulkImport", "syncApply", "syncBase", "readImport", "storeDocument"})
"""Commands whose request may be as large as the limit `importBytes`."""


class Call:
    """The caller, the settings and the stores that a handler uses.

    With a project, the caller's tier there has been checked; without one, the caller's own.
    """

    def __init__(
        self,
        admission: Admission,
        caller: Caller,
        *,
        progress: Progress = NO_PROGRESS,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        self.admission = admission
        self.context = admission.context
        self.settings = admission.settings
        self.version = admission.version
        self.caller = caller
        self.command = admission.command
        self.access_to = admission.rights.access_to
        self.visibility = admission.rights.visibility
        self.progress = progress
        self.toolsets = admission.toolsets
        self.deadline = deadline
        self.now = admission.context.clock()

    @property
    def endpoint(self) -> Endpoint:
        """Return the project of the call, with its settings."""
        assert self.admission.endpoint is not None, f"{self.command} was called without a project"
        return self.admission.endpoint

    @property
    def has_project(self) -> bool:
        """Say whether it is a call in a project, and not on the server as a whole."""
        return self.admission.project is not None

    @property
    def project(self) -> str:
        """Return the slug of the project as the configuration spells it."""
        return self.endpoint.slug

    @property
    def shared(self) -> str | None:
        """Return the slug of the shared store if this call may read it beside its own."""
        return self.admission.shared

    @property
    def is_administrator(self) -> bool:
        """Say whether the caller administers the server, and not only a project."""
        return self.admission.rights.is_administrator

    @property
    def is_local(self) -> bool:
        """Say whether the machine's owner asks, on the files."""
        return self.admission.is_local

    @property
    def opened(self) -> list[str]:
        """Return the projects whose entries the caller may see."""
        return self.admission.rights.opened

    def opens(self, slug: str) -> bool:
        """Say whether the caller may see the entries of a project."""
        return self.admission.rights.opens(slug)

    def in_project(self, slug: str) -> "Call":
        """Return this call in one of the projects that the caller opens.

        Raises:
            NotFoundError: there is no such project, or it is closed to the caller.
        """
        admission = self.admission.in_project(slug)
        caller = msgspec.structs.replace(self.caller, access=admission.access)
        return Call(admission, caller, progress=self.progress, deadline=self.deadline)

    def administered(self, slug: str) -> "Call":
        """Return this call in a project that the caller administers.

        Raises:
            NotFoundError: there is no such project, or it is closed to the caller.
            NotAllowedError: the project lists the caller with a lower tier.
        """
        project = self.in_project(slug)
        check_tier(self.command, AccessTier.ADMIN, project.caller.access, "in this project")
        return project

    def find_project(self, slug: str) -> Endpoint:
        """Return a project's settings, open to the caller or not.

        Raises:
            NotFoundError: there is no such project.
        """
        found = self.settings.find_endpoint(slug)
        if found is None:
            raise NotFoundError(f"there is no project {slug[:64]!r}", project=slug[:64])
        return found

    @property
    def store(self) -> MemoryStore:
        """Return the project's own store, waiting until it is loaded.

        Raises:
            UnavailableError: it cannot be opened.
        """
        # No `cached_property`: up to Python 3.11 all of its objects share one lock, so that a
        # caller that waits for one store would block the callers of every other store.
        return self.store_of(self.project)

    @property
    def rules(self) -> EntryRules:
        """Return the rules of the project's entries."""
        values = self.settings.global_
        return EntryRules(project=self.project, limits=values.limits, lengths=values.retention)

    def views(self, *, include_shared: bool = True) -> dict[str, StoreView]:
        """Return the current views of the stores in reach, by project, without a broken shared one.

        Raises:
            UnavailableError: the project's own store cannot be opened.
        """
        views = {self.project: self.store.view}
        shared = self.shared if include_shared else None
        if shared is not None:
            with suppress(UnavailableError):
                views[shared] = self.store_of(shared).view
        return views

    def store_of(self, project: str) -> MemoryStore:
        """Return the store of a project in reach, waiting until it is loaded.

        Raises:
            UnavailableError: it cannot be opened.
        """
        found = self.context.catalog.loaded(project)
        if found is not None:
            return found
        with self.deadline.pause():
            return self.context.catalog.get(project)

    def full_id(self, given: str) -> str:
        """Return an id with its project as the configuration spells it, the own one if none."""
        project, local = split_id(whole_id(given))
        if not project:
            return f"{self.project}:{local}"
        for slug in (self.project, self.shared):
            if slug is not None and project.casefold() == slug.casefold():
                return f"{slug}:{local}"
        return f"{project}:{local}"

    def find(self, given_id: str) -> Record:
        """Return the living entry with this id, from a store in reach.

        Raises:
            NotFoundError: there is none, or none that this caller may see; both read the same.
        """
        entry_id = self.full_id(given_id)
        project = split_id(entry_id)[0]
        record = None
        if project == self.project:
            record = self.store.view.get(entry_id)
        elif project == self.shared:
            record = self.store_of(project).view.get(entry_id)
        if record is None or is_expired(record.header, self.now):
            raise no_entry(given_id)
        return record

    def visible(self, record: Record) -> Visible:
        """Return an entry as the caller may see it; every answer with entries uses this."""
        return visible_record(record, self.visibility)

    def touch(self, entry_ids: Iterable[str]) -> None:
        """Count reads of entries of stores in reach; usage is not a change of the entry."""
        by_project: dict[str, list[str]] = {}
        for entry_id in entry_ids:
            by_project.setdefault(split_id(entry_id)[0], []).append(entry_id)
        for project, read in by_project.items():
            self.context.catalog.get(project).usage.touch(read, self.now)

    def own_id(self, given_id: str) -> str:
        """Return the full id of an entry that this endpoint may write.

        Raises:
            InvalidInputError: it belongs to the shared store, which has its own endpoint.
            NotFoundError: it belongs to another project, whether or not that exists.
        """
        entry_id = self.full_id(given_id)
        project = split_id(entry_id)[0]
        if project == self.project:
            return entry_id
        if project == self.shared:
            raise invalid("id", f"entries of {project} are written through its own endpoint")
        raise no_entry(given_id)

    def new_local_id(self) -> str:
        """Return a fresh local id."""
        return self.new_local_ids(1)[0]

    def new_local_ids(self, count: int) -> list[str]:
        """Return fresh local ids; random bytes for all of them are read in one call."""
        random = self.context.randomness(RANDOM_BYTES * count)
        starts = range(0, len(random), RANDOM_BYTES)
        return [make_local_id(self.now, random[start : start + RANDOM_BYTES]) for start in starts]

    def commit(self, plan: Callable[[Draft], T]) -> T:
        """Run a plan inside the writer of the project's store and return what it returns.

        An entry that the plan replaces keeps the parts that are hidden from the caller.
        """
        return self.store.commit(self.origin, lambda draft: plan(draft.written_by(self.visibility)))

    def attempt(self, plan: Callable[[Draft], T]) -> T:
        """Run a plan as `commit` does, discard its changes, and return what it returns."""
        return self.store.attempt(
            self.origin, lambda draft: plan(draft.written_by(self.visibility))
        )

    def record(self, op: str, target: str, version: str | None = None) -> None:
        """Add an event that no ChangeSet records to the audit log: operation and target."""
        endpoint = self.admission.endpoint
        self.context.audit.note(
            AuditEvent(
                at_utc=self.now,
                user=self.caller.user,
                key_id=self.caller.key_id,
                command=self.command,
                changes=(AuditedChange(op, target, version),),
                project=NO_PROJECT if endpoint is None else endpoint.slug,
                agent_id=self.caller.agent_id,
            )
        )

    @property
    def origin(self) -> Origin:
        """Return the origin of a change: user, time, command and tier."""
        return Origin(
            command=self.command,
            user=self.caller.user,
            at_utc=self.now,
            right=self.caller.access,
            agent_id=self.caller.agent_id,
            key_id=self.caller.key_id,
        )


def living_in(views: Mapping[str, StoreView], entry_id: str, now: datetime) -> Record | None:
    """Return an entry of one of these stores, by project, unless it is expired."""
    view = views.get(split_id(entry_id)[0])
    record = view.get(entry_id) if view else None
    return None if record is None or is_expired(record.header, now) else record


def no_entry(given_id: str) -> NotFoundError:
    """Return the error for an id that does not exist or is hidden from the caller."""
    return NotFoundError(f"there is no entry {given_id[:200]!r}", id=given_id[:200])
