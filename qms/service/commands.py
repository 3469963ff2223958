"""The one gate before the command table: who asks, for which project, for what.

Default deny: what is not in the table, or not open to the caller, does not exist. A project that
the caller's key does not open gives the very answer of one that is not there.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from qms.config.keys import KeyMatch
from qms.config.settings import SHARED_SLUG, Endpoint, Settings
from qms.domain.access import AccessTier, Caller
from qms.domain.entry import AGENT_ID
from qms.domain.errors import NotAllowedError, NotFoundError, invalid
from qms.files.audit import AuditLog
from qms.service import completing, health
from qms.service.admin.calls import AdminCall
from qms.service.admin.table import ADMIN_TABLE
from qms.service.backup_desk import BackupDesk
from qms.service.calls import Call, Command, House, check_tier
from qms.service.configuration import Configuration
from qms.service.keyring import Keyring
from qms.service.library import Library
from qms.service.peers import SILENT, Peer
from qms.service.requests import read_request
from qms.service.table import TABLE
from qms.service.toolsets import choose_toolsets
from qms.store.catalog import Catalog, ChangeListener
from qms.telemetry.series import Series


class Services:
    """The one gate: whoever wants something of the house asks here."""

    def __init__(
        self,
        configuration: Configuration,
        catalog: Catalog,
        library: Library,
        *,
        audit: AuditLog,
        series: Series,
        clock: Callable[[], datetime],
        commands: tuple[Command, ...] = TABLE,
        keyring: Keyring | None = None,
        desk: BackupDesk | None = None,
    ) -> None:
        self._house = House(
            configuration,
            catalog,
            library,
            audit=audit,
            series=series,
            clock=clock,
            commands=commands,
            desk=desk,
        )
        self._commands = {command.name: command for command in commands}
        self._administration = {command.name: command for command in ADMIN_TABLE}
        self._keyring = keyring or Keyring(clock=clock)

    @property
    def now(self) -> datetime:
        """Return the present moment."""
        return self._house.clock()

    @property
    def desk(self) -> BackupDesk:
        """Return where backups are ordered."""
        return self._house.desk

    @property
    def commands(self) -> tuple[Command, ...]:
        """Return every row of the table."""
        return self._house.commands

    @property
    def settings(self) -> Settings:
        """Return the configuration in force."""
        return self._house.configuration.settings

    def authenticate(self, key: str | None, source: str = "") -> KeyMatch:
        """Return whose key it is; `source` is where the request comes from.

        Raises:
            NotAuthenticatedError: there is none, or nobody holds it: one answer for all.
            RateLimitedError: the source has failed too often, or the key asks too often.
        """
        return self._keyring.authenticate(self.settings, key, source)

    def count_use(self, who: KeyMatch) -> None:
        """Count a request with a session that this key opened.

        Raises:
            RateLimitedError: the key asks too often.
        """
        self._keyring.count_use(self.settings, who.key_id)

    def last_used(self, key_id: str) -> datetime | None:
        """Return when a key was last used, or None when nobody knows."""
        return self._keyring.last_used(key_id)

    def admits(self, who: KeyMatch, project: str) -> bool:
        """Say whether a key that was good before still is, and still opens the project."""
        is_open = self.settings.access(who.user, project) >= AccessTier.READER
        return is_open and self.still_holds(who)

    def call(
        self,
        who: KeyMatch | Caller,
        project: str,
        command: str,
        request: Mapping[str, Any],
        *,
        agent_id: str | None = None,
        peer: Peer = SILENT,
        toolsets: frozenset[str] | None = None,
    ) -> Any:
        """Run one command and return its response; `peer` hears of it meanwhile.

        `toolsets` are those that a client has chosen; None where nobody chooses.

        Raises:
            QmsError: the caller may not, the request is wrong, or the command failed.
        """
        settings = self.settings
        endpoint, access = _open(settings, who, project)
        row = self._admitted(command, access)
        arguments = read_request(_without_project(request, endpoint), row.request)
        call = self._begin(
            settings,
            endpoint,
            who,
            command=row.name,
            agent_id=agent_id,
            peer=peer,
            toolsets=toolsets,
        )
        return row.handler(call, arguments)

    def knows(self, command: str) -> bool:
        """Say whether the table has such a command, whoever may call it."""
        return command in self._commands or command in self._administration

    def check_administrator(self, who: KeyMatch | Caller) -> None:
        """Raise `NotAllowedError` unless `who` looks after the server, not only after a project."""
        if not _is_administrator(self.settings, who):
            raise NotAllowedError("this needs a user whose own tier is admin", needs="admin")

    def administer(
        self,
        who: KeyMatch | Caller,
        command: str,
        request: Mapping[str, Any],
        *,
        is_text: bool = False,
    ) -> Any:
        """Run one command of the administration; `is_text` reads numbers from texts of a query.

        Raises:
            QmsError: the caller may not, the request is wrong, or the command failed.
        """
        # The version first: what is changed meanwhile ends as a conflict, and is not lost.
        version, settings = self._house.configuration.version, self.settings
        row = self._administration.get(command)
        if row is None:
            raise NotFoundError(f"there is no command {command[:64]!r}", command=command[:64])
        access = _own_access(settings, who)
        check_tier(row.name, row.least, access, "of its own")
        call = AdminCall(
            self._house,
            settings,
            version=version,
            caller=Caller(user=who.user, access=access, key_id=who.key_id),
            command=row.name,
            access_to=lambda slug: _access(settings, who, slug),
            last_used=self.last_used,
            is_local=isinstance(who, Caller),
        )
        return row.handler(call, read_request(dict(request), row.request, is_text=is_text))

    def still_holds(self, who: KeyMatch) -> bool:
        """Say whether a key that was matched before still belongs to its user and has not ended."""
        if self._keyring.is_local(who):
            return True
        user = self.settings.users.get(who.user)
        keys = user.keys if user else ()
        return any(key.id == who.key_id and not key.is_expired(self.now) for key in keys)

    def complete(self, who: KeyMatch | Caller, project: str, field: str, start: str) -> list[str]:
        """Return what a half-typed value of a field can become in a project.

        Raises:
            NotFoundError: there is no such project, or not for this caller.
        """
        settings = self.settings
        endpoint, _ = _open(settings, who, project)
        call = self._begin(settings, endpoint, who, command="complete")
        return completing.complete(call, field, start)

    def toolsets(
        self, who: KeyMatch | Caller, project: str, asked: Sequence[str] | None
    ) -> tuple[str, frozenset[str]]:
        """Return the project's slug as it is spelled, and the toolsets that a client gets there.

        Raises:
            NotFoundError: there is no such project, or not for this caller.
            InvalidInputError: the project does not allow one of the toolsets asked for.
        """
        endpoint, _ = _open(self.settings, who, project)
        return endpoint.slug, choose_toolsets(endpoint, asked)

    def offered(
        self, who: KeyMatch | Caller, project: str, toolsets: Collection[str]
    ) -> tuple[Command, ...]:
        """Return the commands of these toolsets that the caller may use in a project.

        Raises:
            NotFoundError: there is no such project, or not for this caller.
        """
        _, access = _open(self.settings, who, project)
        return tuple(
            row for row in self._house.commands if row.toolset in toolsets and row.least <= access
        )

    def row(self, command: str) -> Command | None:
        """Return the row of the table with this name."""
        return self._commands.get(command)

    def follow_settings(self, listener: Callable[[Settings], None]) -> None:
        """Have `listener` called, by whichever thread, with every new settings value."""
        self._house.configuration.subscribe(listener)

    def follow_changes(self, listener: ChangeListener) -> None:
        """Have `listener` called inside the writer with every commit of every project."""
        self._house.catalog.subscribe(listener)

    def runs_inline(self, who: KeyMatch | Caller, project: str, command: str) -> bool:
        """Say whether a call needs nothing but RAM that is there already.

        A project that is closed to the caller counts like an absent one here too, so that not
        even the time of the answer tells them apart.
        """
        row = self._commands.get(command)
        needed = self._stores_needed(who, project)
        return row is not None and row.inline and bool(needed) and not self._missing(needed)

    def is_brief(self, who: KeyMatch | Caller, project: str, command: Any) -> bool:
        """Say whether a call is soon done, and tells nothing before its answer."""
        row = self._commands.get(command) if isinstance(command, str) else None
        return row is not None and row.brief and not self.waits_for_store(who, project, row.name)

    def only_reads(self, command: str) -> bool:
        """Say whether a command changes nothing, and so waits for no disk."""
        row = self._commands.get(command)
        return row is not None and row.read_only

    def waits_for_store(self, who: KeyMatch | Caller, project: str, command: str) -> bool:
        """Say whether a call will have to wait until a store is loaded, or its indexes are made."""
        needed, row = self._stores_needed(who, project), self._commands.get(command)
        if row is None or not row.searches:
            return bool(self._missing(needed))
        return bool(self._missing(needed)) or not all(map(self._house.library.is_made, needed))

    def report(self, who: KeyMatch | Caller | None) -> health.HealthReport:
        """Return how the server fares, with the stores that `who` may open; None sees them all."""
        settings = self.settings
        opened = [
            slug
            for slug in settings.endpoints
            if who is None or _access(settings, who, slug) >= AccessTier.READER
        ]
        return health.report(self._house, opened, is_administrator=_is_administrator(settings, who))

    def reaches(self, who: KeyMatch | Caller, project: str, other: str) -> bool:
        """Say whether `who` may read the store of `other` through the endpoint of a project."""
        is_needed = other in self._stores_needed(who, project)
        return is_needed and _access(self.settings, who, other) >= AccessTier.READER

    def _begin(
        self,
        settings: Settings,
        endpoint: Endpoint,
        who: KeyMatch | Caller,
        *,
        command: str,
        agent_id: str | None = None,
        peer: Peer = SILENT,
        toolsets: frozenset[str] | None = None,
    ) -> Call:
        caller = Caller(
            user=who.user,
            access=_access(settings, who, endpoint.slug),
            key_id=who.key_id,
            agent_id=_agent(who, agent_id),
        )
        return Call(
            self._house,
            settings,
            endpoint=endpoint,
            caller=caller,
            command=command,
            access_to=lambda slug: _access(settings, who, slug),
            is_administrator=_is_administrator(settings, who),
            peer=peer,
            toolsets=toolsets,
        )

    def _stores_needed(self, who: KeyMatch | Caller, project: str) -> list[str]:
        """Return the stores that a call may read: none in a project closed to the caller."""
        settings = self.settings
        endpoint = settings.find_endpoint(project)
        if endpoint is None or _access(settings, who, project) < AccessTier.READER:
            return []
        shared = settings.find_endpoint(SHARED_SLUG) if endpoint.include_shared else None
        return [endpoint.slug] if shared is None else [endpoint.slug, shared.slug]

    def _missing(self, slugs: list[str]) -> list[str]:
        return [slug for slug in slugs if self._house.catalog.loaded(slug) is None]

    def _admitted(self, command: str, access: AccessTier) -> Command:
        row = self._commands.get(command)
        if row is None:
            raise NotFoundError(f"there is no command {command[:64]!r}", command=command[:64])
        check_tier(row.name, row.least, access, "here")
        return row


def _open(settings: Settings, who: KeyMatch | Caller, project: str) -> tuple[Endpoint, AccessTier]:
    endpoint = settings.find_endpoint(project)
    access = _access(settings, who, project)
    if endpoint is None or access < AccessTier.READER:
        raise NotFoundError("there is no such project, or this key does not open it")
    return endpoint, access


def _access(settings: Settings, who: KeyMatch | Caller, slug: str) -> AccessTier:
    """Return what `who` may do in a project; the machine's owner needs no configuration."""
    if isinstance(who, Caller):
        return who.access if settings.find_endpoint(slug) else AccessTier.NONE
    return settings.access(who.user, slug)


def _own_access(settings: Settings, who: KeyMatch | Caller) -> AccessTier:
    """Return the tier of a user itself, whatever projects say."""
    if isinstance(who, Caller):
        return who.access
    user = settings.users.get(who.user)
    return user.access if user else AccessTier.NONE


def _is_administrator(settings: Settings, who: KeyMatch | Caller | None) -> bool:
    """Say whether `who` looks after the server, and not only after a project."""
    return who is not None and _own_access(settings, who) is AccessTier.ADMIN


def _without_project(request: Mapping[str, Any], endpoint: Endpoint) -> dict[str, Any]:
    arguments = dict(request)
    named = arguments.pop("project", endpoint.slug)
    if not isinstance(named, str) or named.casefold() != endpoint.slug.casefold():
        raise invalid("project", f"is not {endpoint.slug}, whose endpoint this is")
    return arguments


def _agent(who: KeyMatch | Caller, given: str | None) -> str | None:
    if given is None:
        return who.agent_id if isinstance(who, Caller) else None
    if not AGENT_ID.fullmatch(given):
        raise invalid("agentId", "must be 1 to 128 of A-Z a-z 0-9 _ - : @ . /")
    return given
