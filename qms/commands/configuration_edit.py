"""Edits of the configuration by commands: their common types, versions and audit events."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from qms.commands.call import Call
from qms.commands.requests import Request, Response
from qms.config.convert import Place
from qms.config.toml_file import field_name
from qms.memory.errors import InvalidInputError, invalid

TextChange = Callable[[str], str]
"""Takes the text of the configuration and returns the changed text."""


NO_NAMES: Mapping[Place, str] = MappingProxyType({})


class Change(Request, frozen=True):
    """The request fields that every change of the configuration shares."""

    if_version: str | None = None
    """The version that the caller has seen; if the file has another one, it is a conflict."""


class Changed(Response, frozen=True):
    """The response fields that every change of the configuration shares."""

    version: str


class ProjectQuery(Request, frozen=True):
    """The project to report on; without one, every project that the caller opens."""

    project: str | None = None


def edit_configuration(
    call: Call,
    change: TextChange,
    if_version: str | None,
    *,
    op: str,
    target: str,
    names: Mapping[Place, str] = NO_NAMES,
) -> str:
    """Change the configuration, add an audit event, and return the new version.

    `names` maps places of the file to the names that the request uses, narrower ones first.

    Raises:
        ConflictError: the file has another version, or no admin would be left.
        InvalidInputError: the change is not valid, or a path leaves the root.
    """
    confined = not call.is_local
    try:
        version = call.context.configuration.change(change, if_version, confined=confined)
    except InvalidInputError as error:
        raise _in_request_terms(error, names) from None
    call.record(op, target, version)
    return version


def _in_request_terms(error: InvalidInputError, names: Mapping[Place, str]) -> InvalidInputError:
    """Return the error with the request's field names instead of the file's places and lines."""
    field = str(error.details.get("field", ""))
    for place, name in names.items():
        known = field_name(place)
        if field == known or field.startswith(f"{known}."):
            line = error.details.get("line")
            reason = error.message.removeprefix(f"line {line}: ").removeprefix(f"{field}: ")
            return invalid((name + field.removeprefix(known)).removeprefix("."), reason)
    return error
