"""Gate: says whose key it is, and admits callers to commands; every door runs them through it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from qms.commands.admission import Admission, admit
from qms.commands.answers import with_warnings
from qms.commands.call import Call
from qms.commands.command import Command
from qms.commands.context import Context
from qms.commands.corrections import taught
from qms.commands.progress import NO_PROGRESS, Progress
from qms.commands.requests import read_sent
from qms.commands.rights import Rights
from qms.config.api_keys import KeyMatch
from qms.config.settings import Endpoint, Settings
from qms.memory.access import Caller
from qms.memory.deadline import NO_DEADLINE, Deadline
from qms.memory.entry import AGENT_ID
from qms.memory.errors import NotAllowedError, invalid
from qms.store.catalog import ChangeListener


class Gate:
    """Says whose key it is, and admits callers to commands."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._keyring = context.keyring

    @property
    def now(self) -> datetime:
        """Return the current time."""
        return self.context.clock()

    @property
    def commands(self) -> tuple[Command, ...]:
        """Return every row of the table."""
        return self.context.commands

    @property
    def settings(self) -> Settings:
        """Return the configuration in force."""
        return self.context.configuration.settings

    def authenticate(self, key: str | None, source: str = "") -> KeyMatch:
        """Return whose key it is; `source` is where the request comes from.

        Raises:
            NotAuthenticatedError: the key is missing or unknown; both get the same answer.
            RateLimitedError: the source failed too often, or the key sends too many requests.
        """
        return self._keyring.authenticate(self.settings, key, source)

    def count_use(self, who: KeyMatch) -> None:
        """Count a request with a session that this key opened.

        Raises:
            RateLimitedError: the key sends too many requests.
        """
        self._keyring.count_use(self.settings, who.key_id)

    def still_holds(self, who: KeyMatch) -> bool:
        """Say whether a key that matched before still belongs to its user and is not expired."""
        if self._keyring.is_local(who):
            return True
        user = self.settings.users.get(who.user)
        keys = user.keys if user else ()
        return any(key.id == who.key_id and not key.is_expired(self.now) for key in keys)

    def still_opens(self, who: KeyMatch, project: str) -> bool:
        """Say whether a key that matched before is still valid and still opens the project."""
        return self.rights(who).opens(project) and self.still_holds(who)

    def rights(self, who: KeyMatch | Caller) -> Rights:
        """Return what `who` may do under the settings in force."""
        return Rights(self.settings, who)

    def check_administrator(self, who: KeyMatch | Caller) -> None:
        """Raise `NotAllowedError` unless `who` administers the server, not only a project."""
        if not self.rights(who).is_administrator:
            raise NotAllowedError("this needs a user whose own tier is admin", needs="admin")

    def admit(
        self,
        who: KeyMatch | Caller,
        project: str | None,
        command: str,
        *,
        by_tier: bool = False,
    ) -> Admission:
        """Return the admission of a caller to a command; `by_tier` leaves toolsets aside.

        Without a project it is a command of the server, and the caller's own tier decides.
        """
        return admit(self.context, who, project, command, by_tier=by_tier)

    def admit_client(self, who: KeyMatch, project: str, asked: Sequence[str] | None) -> Admission:
        """Return the admission of a client to a project, with the toolsets that it asks for.

        Raises:
            NotFoundError: there is no such project, or it is closed to the caller.
            InvalidInputError: the project does not allow one of the requested toolsets.
        """
        admission = admit(self.context, who, project, is_client=True, asked=asked)
        admission.check_open()
        return admission

    def call(
        self,
        who: KeyMatch | Caller,
        project: str | None,
        command: str,
        request: Mapping[str, Any],
        *,
        agent_id: str | None = None,
        deadline: Deadline = NO_DEADLINE,
    ) -> Any:
        """Admit a caller, run one command and return its response.

        Raises:
            QmsError: the caller is not allowed, the request is invalid, or the command failed.
        """
        admission = self.admit(who, project, command)
        return run_command(admission, request, agent_id=agent_id, deadline=deadline)

    def follow_settings(self, listener: Callable[[Settings], None]) -> None:
        """Call `listener` with every new settings value, from any thread."""
        self.context.configuration.subscribe(listener)

    def follow_changes(self, listener: ChangeListener) -> None:
        """Call `listener` inside the writer with every commit of every project."""
        self.context.catalog.subscribe(listener)

    def reaches(self, who: KeyMatch | Caller, project: str, other: str) -> bool:
        """Say whether `who` may read the store of `other` through the endpoint of a project."""
        return other in self.admit(who, project, "").stores


def run_command(
    admission: Admission,
    request: Mapping[str, Any],
    *,
    agent_id: str | None = None,
    progress: Progress = NO_PROGRESS,
    deadline: Deadline = NO_DEADLINE,
    is_text: bool = False,
) -> Any:
    """Run the command of an admission and return its response; report its progress to `progress`.

    A read ends at its `deadline`; `is_text` reads numbers from texts of a query.

    Raises:
        NotFoundError: no such project or command, or the command's toolset is not allowed.
        QmsError: the caller is not allowed, the request is invalid, or the command failed.
    """
    row, endpoint = admission.check(), admission.endpoint
    given = dict(request) if endpoint is None else _without_project(request, endpoint)
    limits = admission.settings.global_.limits
    with taught(row, given, limits):
        arguments, remarks = read_sent(given, row.request, limits, is_text=is_text)
    call = begin(admission, agent_id=agent_id, progress=progress, deadline=deadline)
    deadline.check()
    with taught(row, given, limits):
        return with_warnings(row.handler(call, arguments), remarks)


def begin(
    admission: Admission,
    *,
    agent_id: str | None = None,
    progress: Progress = NO_PROGRESS,
    deadline: Deadline = NO_DEADLINE,
) -> Call:
    """Return the call of an admission that has been checked."""
    caller = Caller(
        user=admission.who.user,
        access=admission.access,
        key_id=admission.who.key_id,
        agent_id=_agent(admission.who, agent_id),
    )
    return Call(admission, caller, progress=progress, deadline=deadline)


def _without_project(request: Mapping[str, Any], endpoint: Endpoint) -> dict[str, Any]:
    arguments = dict(request)
    named = arguments.pop("project", endpoint.slug)
    if not isinstance(named, str) or named.casefold() != endpoint.slug.casefold():
        raise invalid("project", f"must be {endpoint.slug}, the project of this endpoint")
    return arguments


def _agent(who: KeyMatch | Caller, given: str | None) -> str | None:
    if given is None:
        return who.agent_id if isinstance(who, Caller) else None
    if not AGENT_ID.fullmatch(given):
        raise invalid("agentId", "must be 1 to 128 of A-Z a-z 0-9 _ - : @ . /")
    return given
