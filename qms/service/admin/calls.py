"""One call of the administration: who asks, and how a change is made, kept and written down."""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType

import msgspec

from qms.config.convert import Place
from qms.config.settings import Endpoint, Settings
from qms.config.toml_file import field_name
from qms.domain.access import AccessTier, Caller
from qms.domain.errors import InvalidInputError, NotFoundError, invalid
from qms.files.audit_chain import AuditedChange, AuditEvent
from qms.service.calls import Call, House, check_tier
from qms.service.requests import Request, Response

TextChange = Callable[[str], str]
"""From the text of the configuration to the one that is asked for."""


NO_NAMES: Mapping[Place, str] = MappingProxyType({})


class Change(Request, frozen=True):
    """What every change of the configuration takes."""

    if_version: str | None = None
    """The version that the caller has seen: a file changed meanwhile is a conflict."""


class Changed(Response, frozen=True):
    """What every change of the configuration answers."""

    version: str


class AdminCall:
    """What a handler of the administration works with."""

    def __init__(
        self,
        house: House,
        settings: Settings,
        *,
        version: str,
        caller: Caller,
        command: str,
        access_to: Callable[[str], AccessTier],
        last_used: Callable[[str], datetime | None],
        is_local: bool,
    ) -> None:
        self.house = house
        self.settings = settings
        self.version = version
        self.caller = caller
        self.command = command
        self.access_to = access_to
        self.last_used = last_used
        self.now = house.clock()
        self.is_local = is_local

    @property
    def opened(self) -> list[str]:
        """Return the projects whose entries the caller may see."""
        return [slug for slug in self.settings.endpoints if self.opens(slug)]

    def opens(self, slug: str) -> bool:
        """Say whether the caller may see the entries of a project."""
        return self.access_to(slug) >= AccessTier.READER

    def in_project(self, slug: str) -> Call:
        """Return this call as one of a project's commands.

        Raises:
            NotFoundError: there is no such project, or it is closed to the caller.
        """
        endpoint = self.settings.find_endpoint(slug)
        if endpoint is None or not self.opens(endpoint.slug):
            raise NotFoundError(
                f"there is no project {slug[:64]!r}, or it is closed", project=slug[:64]
            )
        return Call(
            self.house,
            self.settings,
            endpoint=endpoint,
            caller=msgspec.structs.replace(self.caller, access=self.access_to(endpoint.slug)),
            command=self.command,
            access_to=self.access_to,
            is_administrator=self.caller.access is AccessTier.ADMIN,
        )

    def administered(self, slug: str) -> Call:
        """Return this call as one of a project's commands that only its admins may use.

        Raises:
            NotFoundError: there is no such project, or it is closed to the caller.
            NotAllowedError: the project lists the caller with a lower tier.
        """
        project = self.in_project(slug)
        check_tier(self.command, AccessTier.ADMIN, project.caller.access, "in this project")
        return project

    def endpoint(self, slug: str) -> Endpoint:
        """Return a project's settings.

        Raises:
            NotFoundError: there is no such project.
        """
        found = self.settings.find_endpoint(slug)
        if found is None:
            raise NotFoundError(f"there is no project {slug[:64]!r}", project=slug[:64])
        return found

    def edit(
        self,
        change: TextChange,
        if_version: str | None,
        *,
        op: str,
        target: str,
        names: Mapping[Place, str] = NO_NAMES,
    ) -> str:
        """Change the configuration, write down who did it, and return the new version.

        `names` are what the request calls places of the file, the narrower ones first.

        Raises:
            ConflictError: it was changed meanwhile, or nobody would be left to administer.
            InvalidInputError: the change is not valid, or a path leaves the root.
        """
        confined = not self.is_local
        try:
            version = self.house.configuration.change(change, if_version, confined=confined)
        except InvalidInputError as error:
            raise _as_asked(error, names) from None
        self.record(op, target, version)
        return version

    def record(self, op: str, target: str, version: str | None = None) -> None:
        """Write into the audit log what was done to which thing of the server."""
        self.house.audit.note(
            AuditEvent(
                at_utc=self.now,
                user=self.caller.user,
                key_id=self.caller.key_id,
                command=self.command,
                changes=(AuditedChange(op, target, version),),
            )
        )


def _as_asked(error: InvalidInputError, names: Mapping[Place, str]) -> InvalidInputError:
    """Return what is wrong in the words of the request: its caller wrote no line of the file."""
    field = str(error.details.get("field", ""))
    for place, name in names.items():
        known = field_name(place)
        if field == known or field.startswith(f"{known}."):
            line = error.details.get("line")
            reason = error.message.removeprefix(f"line {line}: ").removeprefix(f"{field}: ")
            return invalid((name + field.removeprefix(known)).removeprefix("."), reason)
    return error
