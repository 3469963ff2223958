"""Short ids: shows the beginning of a generated id, and finds the memory that a beginning means."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from qms.cli import output
from qms.memory.entry import split_id
from qms.memory.errors import InvalidInputError, NotFoundError
from qms.memory.filters import Include
from qms.memory.ids import whole_id

Call = Callable[[str, str, Mapping[str, Any]], Any]
"""Sends a command with a request to a project and returns the answer."""

LEAST_CHARACTERS = 4
"""A shorter text is no prefix: it is more likely an id that does not exist."""

_SHOWN_CHARACTERS = 13
"""The part of a UUIDv7 that is its time, to the millisecond."""

_TIME_DIGITS = 12
_LEAST_TIME_DIGITS = 6
_CLOCKS_DIFFER = timedelta(minutes=1)
_NAMED = 5
_PAGE = 200
_ARCHIVED = frozenset({"restoreEntry", "history", "eraseEntry"})
"""Commands that also take ids of the archive."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HEX = re.compile(r"[0-9a-f]+")


def shown_ids(ids: Sequence[str], project: str) -> list[str]:
    """Return ids for a person: without the own project, and a UUID no longer than needed here."""
    named = [one.removeprefix(f"{project}:") for one in ids]
    if not output.is_terminal():
        return named
    return [_shortened(one, named) for one in named]


def with_whole_ids(
    call: Call, project: str, command: str, request: Mapping[str, Any], error: NotFoundError
) -> dict[str, Any] | None:
    """Return the request with the id that was not found completed; None if it is no prefix.

    Raises:
        InvalidInputError: several memories have an id that begins so.
    """
    missing = error.details.get("id")
    if not isinstance(missing, str):
        return None
    local = split_id(missing)[1]
    places = [name for name, value in request.items() if _has(value, local)]
    found = find_whole_id(call, project, command, local) if places else None
    if found is None or split_id(found)[1] == local:
        return None
    output.note(f"{local} is {found}")
    return {
        name: _completed(value, local, found) if name in places else value
        for name, value in request.items()
    }


def find_whole_id(call: Call, project: str, command: str, prefix: str) -> str | None:
    """Return the only id of a project that begins with a prefix, or None.

    Raises:
        InvalidInputError: several do.
    """
    if len(prefix) < LEAST_CHARACTERS or whole_id(prefix) != prefix:
        return None
    for wanted in filter(None, (_filter_of_time(prefix), {"filter": {}})):
        ids = {one for one in _ids(call, project, command, wanted) if _begins(one, prefix)}
        if len(ids) == 1:
            return ids.pop()
        if ids:
            shown = ", ".join(sorted(ids)[:_NAMED]) + (", …" if len(ids) > _NAMED else "")
            several = InvalidInputError(f"{len(ids)} ids begin with {prefix!r}: {shown}")
            several.add_note("type more characters of the id")
            raise several
    return None


def _shortened(shown: str, others: Sequence[str]) -> str:
    project, local = split_id(shown)
    if not _UUID.fullmatch(local):
        return shown
    length = _SHOWN_CHARACTERS
    while any(_begins(one, local[:length]) and one != shown for one in others):
        length += 1
    return f"{project}:{local[:length]}" if project else local[:length]


def _begins(entry_id: str, prefix: str) -> bool:
    return split_id(entry_id)[1].startswith(prefix)


def _has(value: Any, local: str) -> bool:
    if isinstance(value, list | tuple):
        return any(_has(one, local) for one in value)
    return isinstance(value, str) and split_id(value)[1] == local


def _completed(value: Any, local: str, whole: str) -> Any:
    if isinstance(value, list | tuple):
        return [_completed(one, local, whole) for one in value]
    return whole if _has(value, local) else value


def _ids(call: Call, project: str, command: str, wanted: Mapping[str, Any]) -> Iterator[str]:
    lists = [("listEntries", {**wanted, "include": Include.IDS.value, "sort": "created"})]
    if command in _ARCHIVED:
        lists.append(("listArchive", {}))
    for name, request in lists:
        cursor = None
        while True:
            page = {"size": _PAGE} | ({"cursor": cursor} if cursor else {})
            answer = call(project, name, {**request, "page": page})
            yield from (item["id"] for item in answer["items"])
            if (cursor := answer["nextCursor"]) is None:
                break


def _filter_of_time(prefix: str) -> dict[str, Any] | None:
    """Return the filter of when a memory was made whose id begins so; None if that says nothing."""
    digits = prefix.replace("-", "")[:_TIME_DIGITS]
    if len(digits) < _LEAST_TIME_DIGITS or not _HEX.fullmatch(digits):
        return None
    first, last = (int(digits.ljust(_TIME_DIGITS, fill), 16) / 1000 for fill in "0f")
    try:
        after = datetime.fromtimestamp(first, UTC) - _CLOCKS_DIFFER
        before = datetime.fromtimestamp(last, UTC) + _CLOCKS_DIFFER
    except (OverflowError, ValueError):
        return None  # no UUIDv7
    return {"filter": {"createdAfter": after.isoformat(), "createdBefore": before.isoformat()}}
