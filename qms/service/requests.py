"""Requests and responses: their base types, and reading one with errors that name the field."""

import re
from typing import Any, TypeVar

import msgspec

from qms.domain.errors import InvalidInputError, invalid

_QUOTED = re.compile(r"`([^`]*)`")
_PATH = re.compile(r" - at `(?:key in )?\$?\.?(.*)`$")


class Request(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """What a command takes; a key that it does not name is refused."""


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a command answers."""


class NoArguments(Request, frozen=True):
    """The request of a command that needs nothing but its project."""


RequestType = TypeVar("RequestType", bound=Request)


def read_request(
    given: dict[str, Any], wanted: type[RequestType], *, is_text: bool = False
) -> RequestType:
    """Return the typed reading of a request; `is_text` takes numbers written as texts.

    Raises:
        InvalidInputError: names the unknown key, or the field and what it should be.
    """
    try:
        return msgspec.convert(given, wanted, strict=not is_text)
    except msgspec.ValidationError as error:
        raise _translated(str(error)) from None


def _translated(message: str) -> InvalidInputError:
    found = _PATH.search(message)
    path = found.group(1) if found else ""
    reason = _PATH.sub("", message)
    is_unknown = reason.startswith("Object contains unknown field")
    if is_unknown or reason.startswith("Object missing required field"):
        # A key may hold backticks itself, and then the text cannot be taken apart for certain.
        name = next(iter(_QUOTED.findall(reason)), "")
        field = ".".join(part for part in (path, name) if part)
        return invalid(field or "request", "is not known" if is_unknown else "is required")
    return invalid(path or "request", reason[0].lower() + reason[1:])
