"""One call of a command: who asks, in which project, and which stores it may reach.

A handler sees the house through its `Call` only. What the caller's key does not open is not to be
found there, so that no handler can forget to ask.
"""

import secrets
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import msgspec

from qms.config.settings import SHARED_SLUG, Endpoint, Settings
from qms.domain.access import AccessTier, Caller
from qms.domain.entry import split_id
from qms.domain.errors import NotAllowedError, NotFoundError, UnavailableError, invalid
from qms.domain.ids import RANDOM_BYTES, make_local_id, whole_id
from qms.domain.lifecycle import is_expired
from qms.files.audit import AuditLog
from qms.files.audit_chain import AuditedChange, AuditEvent
from qms.fsio.disk import Disk
from qms.ingest.entries import EntryRules
from qms.service.backup_desk import BackupDesk
from qms.service.configuration import Configuration
from qms.service.library import Library
from qms.service.peers import SILENT, Peer
from qms.service.requests import Request
from qms.store.catalog import Catalog
from qms.store.draft import Draft
from qms.store.memory_store import MemoryStore
from qms.store.options import Origin
from qms.store.ordering import Orderings
from qms.store.view import Record, StoreView
from qms.telemetry.logs import LOG_PLACE
from qms.telemetry.series import Series

T = TypeVar("T")


class Route(msgspec.Struct, frozen=True):
    """Where a row of the administration is reached; `{name}` in the path is an argument."""

    method: str
    path: str


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the command table.

    A row with a route is one of the administration: `least` is then compared with the user's own
    tier, and its handler gets an `AdminCall`.
    """

    name: str
    toolset: str
    least: AccessTier
    request: type[Request]
    response: type[Any]
    handler: Callable[[Any, Any], Any]
    help: str
    example: dict[str, Any]
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    inline: bool = False
    route: Route | None = None
    searches: bool = False
    """Whether it needs the indexes, and waits until they are made."""
    brief: bool = False
    """Whether it is soon done however large the store is, and tells nothing before its answer."""


class House:
    """What all calls share: the configuration, the stores, the clock and chance."""

    def __init__(
        self,
        configuration: Configuration,
        catalog: Catalog,
        library: Library,
        *,
        audit: AuditLog,
        series: Series,
        clock: Callable[[], datetime],
        commands: tuple[Command, ...],
        desk: BackupDesk | None = None,
        randomness: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self.configuration = configuration
        self.desk = desk or BackupDesk(
            configuration, catalog, configuration.disk, audit=audit, clock=clock
        )
        self.catalog = catalog
        self.library = library
        self.audit = audit
        self.series = series
        self.clock = clock
        self.randomness = randomness
        self.cursor_secret = randomness(32)
        self.commands = commands
        self._orderings: WeakKeyDictionary[MemoryStore, Orderings] = WeakKeyDictionary()
        self._orderings_lock = threading.Lock()

    @property
    def disk(self) -> Disk:
        """Return the disk that the root lies on."""
        return self.configuration.disk

    @property
    def log_path(self) -> Path:
        """Return where the server's log is."""
        return self.configuration.root / LOG_PLACE

    def orderings(self, store: MemoryStore) -> Orderings:
        """Return the sorted orders of a store."""
        with self._orderings_lock:
            if store not in self._orderings:
                self._orderings[store] = Orderings(store)
            return self._orderings[store]


class Call:
    """What a handler works with."""

    def __init__(
        self,
        house: House,
        settings: Settings,
        *,
        endpoint: Endpoint,
        caller: Caller,
        command: str,
        access_to: Callable[[str], AccessTier],
        is_administrator: bool,
        peer: Peer = SILENT,
        toolsets: frozenset[str] | None = None,
    ) -> None:
        self.house = house
        self.settings = settings
        self.endpoint = endpoint
        self.caller = caller
        self.command = command
        self.access_to = access_to
        self.is_administrator = is_administrator
        self.peer = peer
        self.toolsets = toolsets
        self.now = house.clock()

    @property
    def project(self) -> str:
        """Return the slug of the endpoint as the configuration spells it."""
        return self.endpoint.slug

    @property
    def store(self) -> MemoryStore:
        """Return the project's own store, waiting until it is loaded.

        Raises:
            UnavailableError: it cannot be opened.
        """
        # No `cached_property`: up to Python 3.11 all of its objects share one lock, and whoever
        # waits here for one store would keep the callers of every other one waiting.
        return self.house.catalog.get(self.project)

    @property
    def rules(self) -> EntryRules:
        """Return what the project asks of its entries."""
        values = self.settings.global_
        return EntryRules(project=self.project, limits=values.limits, lengths=values.retention)

    @property
    def shared(self) -> str | None:
        """Return the slug of the shared store if this call may read it beside its own."""
        endpoint = self.settings.find_endpoint(SHARED_SLUG)
        if endpoint is None or endpoint == self.endpoint or not self.endpoint.include_shared:
            return None
        return endpoint.slug if self.access_to(endpoint.slug) >= AccessTier.READER else None

    def views(self, *, include_shared: bool = True) -> dict[str, StoreView]:
        """Return the stores in reach at this moment, by project; a broken shared one is left out.

        Raises:
            UnavailableError: the project's own store cannot be opened.
        """
        views = {self.project: self.store.view}
        shared = self.shared if include_shared else None
        if shared is not None:
            with suppress(UnavailableError):
                views[shared] = self.house.catalog.get(shared).view
        return views

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
            NotFoundError: there is none, or not for this caller: nothing tells which.
        """
        entry_id = self.full_id(given_id)
        project = split_id(entry_id)[0]
        record = None
        if project == self.project:
            record = self.store.view.get(entry_id)
        elif project == self.shared:
            record = self.house.catalog.get(project).view.get(entry_id)
        if record is None or is_expired(record.header, self.now):
            raise no_entry(given_id)
        return record

    def touch(self, entry_ids: Iterable[str]) -> None:
        """Count that entries, of stores in reach, were read; bookkeeping, not a change."""
        by_project: dict[str, list[str]] = {}
        for entry_id in entry_ids:
            by_project.setdefault(split_id(entry_id)[0], []).append(entry_id)
        for project, read in by_project.items():
            self.house.catalog.get(project).usage.touch(read, self.now)

    def own_id(self, given_id: str) -> str:
        """Return the full id of an entry that this endpoint may write.

        Raises:
            InvalidInputError: it is one of the shared store, which has its own endpoint.
            NotFoundError: it is one of another project, whether or not that exists.
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
        """Return fresh local ids: the system is asked for chance once, not for each of them."""
        chance = self.house.randomness(RANDOM_BYTES * count)
        starts = range(0, len(chance), RANDOM_BYTES)
        return [make_local_id(self.now, chance[start : start + RANDOM_BYTES]) for start in starts]

    def commit(self, plan: Callable[[Draft], T]) -> T:
        """Run a plan inside the writer of the project's store and return what it returns."""
        return self.store.commit(self.origin, plan)

    def record(self, op: str, target: str) -> None:
        """Write into the audit log what no ChangeSet tells: what was done to which thing."""
        self.house.audit.note(
            AuditEvent(
                at_utc=self.now,
                user=self.caller.user,
                key_id=self.caller.key_id,
                command=self.command,
                changes=(AuditedChange(op, target),),
                project=self.project,
                agent_id=self.caller.agent_id,
            )
        )

    @property
    def origin(self) -> Origin:
        """Return who asks for a change, when and with which command."""
        return Origin(
            command=self.command,
            user=self.caller.user,
            at_utc=self.now,
            agent_id=self.caller.agent_id,
            key_id=self.caller.key_id,
        )


def check_tier(command: str, least: AccessTier, access: AccessTier, where: str) -> None:
    """Raise `NotAllowedError` unless `access`, which the caller has `where`, allows the command."""
    if access < least:
        raise NotAllowedError(
            f"{command} needs tier {least.label}; this key has {access.label} {where}",
            command=command,
            needs=least.label,
            has=access.label,
        )


def living_in(views: Mapping[str, StoreView], entry_id: str, now: datetime) -> Record | None:
    """Return an entry of one of these stores, by project, unless it is expired."""
    view = views.get(split_id(entry_id)[0])
    record = view.get(entry_id) if view else None
    return None if record is None or is_expired(record.header, now) else record


def no_entry(given_id: str) -> NotFoundError:
    """Return the one answer for an id that is not there or not to be seen."""
    return NotFoundError(f"there is no entry {given_id[:200]!r}", id=given_id[:200])
