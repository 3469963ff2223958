"""Admission: who asks for which command, where and with which access; found once, at the door.

Default deny: a command outside the table, or not open to the caller, does not exist. A project that
the caller's key does not open gives exactly the answer of an absent project.
"""

from collections.abc import Sequence
from typing import NamedTuple

from qms.commands.command import Command
from qms.commands.context import Context
from qms.commands.rights import Rights
from qms.config.api_keys import KeyMatch
from qms.config.settings import SHARED_SLUG, Endpoint, Settings
from qms.config.toolsets import bounded_toolsets, choose_toolsets
from qms.memory.access import AccessTier, Caller
from qms.memory.deadline import Deadline
from qms.memory.errors import NotAllowedError, NotFoundError

COMPLETE = "complete"
"""The name under which completions run: a read, and no row of the table."""


class Admission(NamedTuple):
    """One request of one caller; it answers every question about it without another look-up.

    It is made for projects that are closed to the caller, too: `check` refuses those when the
    request is run, so that they cannot be told from absent ones by the time of the answer.
    """

    context: Context
    settings: Settings
    who: KeyMatch | Caller
    rights: Rights
    project: str | None
    """The project as the caller spelled it; None for a call on the server as a whole."""
    endpoint: Endpoint | None
    """The project, if there is one and the caller opens it."""
    access: AccessTier
    """The tier in the project; without one, the caller's own."""
    shared: str | None
    """The slug of the shared store, if a call may read it beside the project's own."""
    command: str
    row: Command | None
    """The row of the command, if the table has it for a project or for none, as asked."""
    by_tier: bool
    """Whether the tier alone decides, and not the toolsets of the project."""
    toolsets: frozenset[str] | None
    """The toolsets that the caller gets; None for all."""
    version: str
    """The version of the settings for a call without a project; read before them."""

    def with_command(self, command: str, *, by_tier: bool = False) -> "Admission":
        """Return the admission of the same caller to another command in the same place."""
        row = self.context.row(command, in_project=self.project is not None)
        return self._replace(command=command, row=row, by_tier=by_tier)

    def in_project(self, slug: str) -> "Admission":
        """Return the admission of the same call to one of the projects that its caller opens.

        Raises:
            NotFoundError: there is no such project, or it is closed to the caller.
        """
        endpoint, access = self.rights.find(slug)
        if endpoint is None or access < AccessTier.READER:
            raise NotFoundError(
                f"there is no project {slug[:64]!r}, or it is closed", project=slug[:64]
            )
        return self._replace(
            project=endpoint.slug,
            endpoint=endpoint,
            access=access,
            shared=_shared_beside(endpoint, self.rights),
        )

    @property
    def is_local(self) -> bool:
        """Say whether the machine's owner asks, on the files."""
        return isinstance(self.who, Caller)

    @property
    def label(self) -> str:
        """Return the name of the command for metrics: any name that is not known is one."""
        return self.command if self.context.knows(self.command) else "unknown"

    @property
    def stores(self) -> list[str]:
        """Return the stores that the call may read: none in a project closed to the caller."""
        if self.endpoint is None:
            return []
        return [self.endpoint.slug] if self.shared is None else [self.endpoint.slug, self.shared]

    @property
    def runs_inline(self) -> bool:
        """Say whether the call needs only data that is already in RAM."""
        is_inline = self.row is not None and self.row.inline and self.endpoint is not None
        return is_inline and not self._is_loading

    @property
    def is_brief(self) -> bool:
        """Say whether the call is short, reports no progress and waits for no store."""
        return self.row is not None and self.row.brief and not self.waits_for_store

    @property
    def waits_for_store(self) -> bool:
        """Say whether the call will have to wait until a store is loaded or indexed."""
        if self._is_loading or self.row is None or not self.row.searches:
            return self._is_loading
        return not all(map(self.context.indexer.is_made, self.stores))

    @property
    def is_read(self) -> bool:
        """Say whether the command changes nothing."""
        return self.command == COMPLETE or (self.row is not None and self.row.read_only)

    @property
    def reads_memory(self) -> bool:
        """Say whether the call waits for no disk; reads of the administration open files."""
        return self.is_read and self.project is not None

    def deadline(self) -> Deadline | None:
        """Return the deadline of a call that arrives now; only reads have one."""
        return Deadline(self.settings.global_.limits.read_seconds) if self.is_read else None

    @property
    def offered(self) -> tuple[Command, ...]:
        """Return the commands that the caller may use in the project, of the toolsets it gets."""
        return tuple(
            row
            for row in self.context.commands
            if self.toolsets is not None
            and not row.toolsets.isdisjoint(self.toolsets)
            and row.least <= self.access
        )

    def check_open(self) -> Endpoint:
        """Return the project.

        Raises:
            NotFoundError: there is no such project, or it is closed to the caller.
        """
        if self.endpoint is None:
            raise NotFoundError("there is no such project, or this key does not open it")
        return self.endpoint

    def check(self) -> Command:
        """Return the row of the command if the caller may run it here.

        Raises:
            NotFoundError: no such project or command, or the command's toolset is not allowed.
            NotAllowedError: the caller's tier is too low.
        """
        if self.project is not None:
            self._check_offered(self.check_open())
        if self.row is None:
            raise NotFoundError(
                f"there is no command {self.command[:64]!r}", command=self.command[:64]
            )
        where = "of its own" if self.project is None else "here"
        check_tier(self.row.name, self.row.least, self.access, where)
        return self.row

    def _check_offered(self, endpoint: Endpoint) -> None:
        if self.by_tier or self.is_local or self.row is None or self.toolsets is None:
            return
        if self.row.toolsets.isdisjoint(self.toolsets):
            raise NotFoundError(
                f"{endpoint.slug} does not offer {self.row.name} to keys: its toolset"
                f" {self.row.toolset} is not in use here; the project allows"
                f" {', '.join(endpoint.toolsets) or 'none'}",
                command=self.row.name,
                toolset=self.row.toolset,
            )

    @property
    def _is_loading(self) -> bool:
        return any(self.context.catalog.loaded(slug) is None for slug in self.stores)


def admit(
    context: Context,
    who: KeyMatch | Caller,
    project: str | None,
    command: str = "",
    *,
    by_tier: bool = False,
    asked: Sequence[str] | None = None,
    is_client: bool = False,
) -> Admission:
    """Return the admission of a caller to a command, in a project or without one.

    `by_tier` leaves the toolsets of the project aside, as for the owner of the machine. A client
    (`is_client`) gets the toolsets that it `asked` for, or the default ones.

    Raises:
        InvalidInputError: the project does not allow one of the requested toolsets.
    """
    # The version is read first: a change made after this is a conflict, and is not lost.
    version = context.configuration.version if project is None else ""
    settings = context.configuration.settings
    rights = Rights(settings, who)
    endpoint, access = (None, rights.own) if project is None else rights.find(project)
    if access < AccessTier.READER:
        endpoint = None
    toolsets = None
    if endpoint is not None and is_client:
        toolsets = choose_toolsets(endpoint, asked)
    elif endpoint is not None and not by_tier and not isinstance(who, Caller):
        toolsets = bounded_toolsets(endpoint, None)
    return Admission(
        context=context,
        settings=settings,
        who=who,
        rights=rights,
        project=project,
        endpoint=endpoint,
        access=access,
        shared=_shared_beside(endpoint, rights),
        command=command,
        row=context.row(command, in_project=project is not None),
        by_tier=by_tier,
        toolsets=toolsets,
        version=version,
    )


def check_tier(command: str, least: AccessTier, access: AccessTier, where: str) -> None:
    """Raise `NotAllowedError` when the caller's tier is too low; `where` completes the message."""
    if access < least:
        raise NotAllowedError(
            f"{command} needs tier {least.label}; this key has {access.label} {where}",
            command=command,
            needs=least.label,
            has=access.label,
        )


def _shared_beside(endpoint: Endpoint | None, rights: Rights) -> str | None:
    """Return the slug of the shared store if a call of this project may read it."""
    if endpoint is None or not endpoint.include_shared:
        return None
    shared, access = rights.find(SHARED_SLUG)
    is_other = shared is not None and shared != endpoint
    return shared.slug if shared and is_other and access >= AccessTier.READER else None
