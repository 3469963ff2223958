"""Requests and responses: their base types, and decoding with errors that name every problem."""

from typing import Any, TypeVar

import msgspec

from qms.commands.list_limits import check_lists
from qms.commands.unread_fields import unread_fields
from qms.memory.empty_fields import (
    check_conditions,
    empty_condition,
    fields_of,
    without_empty_fields,
)
from qms.memory.field_types import forms_of
from qms.memory.forms import Remarks, read_forms
from qms.memory.limits import Limits
from qms.memory.problems import problem_of, problems_of, told


class Request(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """The arguments of a command; an unknown key is refused."""


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer of a command."""

    def remark(self, text: str) -> Any:
        """Return a remark on the request in the form that `warnings` has in this response."""
        return text


class Conditions(Request, frozen=True):
    """A request that selects entries to remove: none of its conditions may be empty."""


class NoArguments(Request, frozen=True):
    """The request of a command that needs nothing but its project."""


RequestType = TypeVar("RequestType", bound=Request)


def read_request(
    given: dict[str, Any], wanted: type[RequestType], limits: Limits, *, is_text: bool = False
) -> RequestType:
    """Return the decoded request; `is_text` accepts numbers written as texts.

    Raises:
        InvalidInputError: names every unknown key and every field that is missing or wrong, or the
            list that is too long and its limit.
    """
    check_lists(given, wanted, limits)
    try:
        return msgspec.convert(given, wanted, strict=not is_text)
    except msgspec.ValidationError as error:
        problems = problems_of(given, wanted, strict=not is_text)
        raise told(problems or [problem_of(error)]) from None


def read_sent(
    sent: dict[str, Any], wanted: type[RequestType], limits: Limits, *, is_text: bool = False
) -> tuple[RequestType, list[str]]:
    """Return a request in the forms of its type without empty fields, and remarks on both.

    Raises:
        InvalidInputError: as `read_request` does, or for an empty condition of a removal.
    """
    given, remarks = in_known_forms(sent, wanted, limits, is_text=is_text)
    request = read_request(given, wanted, limits, is_text=is_text)
    return request, [*remarks, *unread_fields(given, wanted)]


def in_known_forms(
    sent: dict[str, Any], wanted: type[Request], limits: Limits, *, is_text: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """Return what was sent in the forms of its type without empty fields, and remarks on both.

    Raises:
        InvalidInputError: a list is over its limit, or a condition of a removal is empty.
    """
    check_lists(sent, wanted, limits)
    is_removal = issubclass(wanted, Conditions)
    understood = Remarks(is_text=is_text)
    # A removal guesses no names: a condition that is read wrongly removes the wrong entries.
    read = read_forms(sent, forms_of(wanted), understood, by_type=is_removal)
    fields, empty = fields_of(wanted), list[str]()
    if is_removal:
        check_conditions(read, fields)
    given = without_empty_fields(read, fields, empty)
    if empty and is_removal:
        raise empty_condition(empty[0].partition(":")[0])
    return given, [*understood.texts, *empty]
