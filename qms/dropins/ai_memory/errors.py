"""Translates errors to ai-memory's field names: an error names only fields of the tool."""

import re
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

import msgspec

from qms.commands.call import Call
from qms.commands.command import types_of
from qms.memory.access import FORCE_HINT
from qms.memory.errors import QmsError

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

_NAMES = {
    "agentId": ("agent_id",),
    "body": ("content", "summary"),
    "entry": ("content", "summary", "metadata"),
    "idA": ("id_a",),
    "idB": ("id_b",),
    "olderThanDays": ("older_than_days",),
    "retention": ("tier",),
    "sourceId": ("source_id",),
    "targetId": ("target_id",),
    "ttlSeconds": ("ttl_secs",),
    "ttlUtc": ("expires_at",),
}
"""The tools' names for a field of an entry or of a command; the first that the tool has."""

_WORD = re.compile(r"\b(?:agentId|idA|idB|olderThanDays|sourceId|targetId|ttlSeconds|ttlUtc)\b")
"""Field names that are translated anywhere in a message, since they are no English words."""

_HEAD = re.compile(r"(?:query\.)?(?:filter\.)?([^.\[]*)")

_FORCE = "force"


def in_its_words(handler: Callable[[Call, Asked], Answer]) -> Callable[[Call, Asked], Answer]:
    """Return a handler of this toolset whose errors use the field names of its request."""
    request, _answer = types_of(handler)
    fields = tuple(field.encode_name for field in msgspec.structs.fields(request))

    @wraps(handler)
    def called(call: Call, request: Asked) -> Answer:
        try:
            return handler(call, request)
        except QmsError as error:
            raise _translated(error, fields) from None

    return called


def _translated(error: QmsError, fields: tuple[str, ...]) -> QmsError:
    given = error.details.get("field")
    details = {key: value for key, value in error.details.items() if key != "field"}
    message = error.message
    if isinstance(given, str):
        name = _name(given, fields)
        if name is not None:
            details["field"] = name
            message = f"{name}: {message.removeprefix(f'{given}: ')}"
        elif given == _FORCE:
            message = message.replace(FORCE_HINT, "delete it with deleteEntry and force")
    message = _WORD.sub(lambda found: _name(found[0], fields) or found[0], message)
    return type(error)(message, **details)


def _name(given: str, fields: tuple[str, ...]) -> str | None:
    """Return the tool's name for a field, or None when the tool has no such field."""
    found = _HEAD.match(given)
    head = found[1] if found else given
    if given.startswith("query.text") and "query" in fields:
        return "query"
    names = _NAMES.get(head, (head,))
    return next((name for name in names if name in fields), None)
