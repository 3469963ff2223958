"""Converts the memories of a set to entries, in the same way in process and over HTTP.

Ids are numbers, since the ids of a set may tell which memories answer a question.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import msgspec

from tools.benchmarks.retrieval_sets import Item, MemorySet

_FORMS = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M")


class Times(StrEnum):
    """Which field of an entry gets the time of a memory without a title."""

    TITLE = "title"
    SOURCE = "source"
    """`timestamps.sourceUtc`; the title is then the beginning of the text."""
    CREATED = "created"
    """`timestamps.createdUtc`, likewise."""
    NONE = "none"


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """How memories are imported."""

    plain: bool = False
    """Without conversation and role."""
    times: Times = Times.TITLE


def entries_of(given: MemorySet, project: str, form: Form) -> Iterator[dict[str, Any]]:
    """Yield the entries of a set, in order, as a client sends them."""
    for number, item in enumerate(given.docs):
        yield {"id": entry_id(project, number), **_content(item, form), **_time(item, form.times)}


def entry_id(project: str, number: int) -> str:
    """Return the id of a memory in the store, by its position in the set."""
    return f"{project}:memory-{number}"


def names_of(given: MemorySet, project: str, found: Sequence[str]) -> list[str]:
    """Return the ids in the set of the entries with these ids."""
    names = {entry_id(project, number): item.id for number, item in enumerate(given.docs)}
    return [names[one] for one in found]


def _content(item: Item, form: Form) -> dict[str, Any]:
    if item.conversation_id is None:
        return {"kind": "note", "body": {"text": item.kept_text}}
    body = {"content": item.kept_text}
    if not form.plain:
        body |= {"conversationId": item.conversation_id, "role": item.role or ""}
    return {"kind": "conversationTurn", "body": body}


def _time(item: Item, times: Times) -> dict[str, Any]:
    if item.title or (item.when and times is Times.TITLE):
        return {"title": item.title or item.when}
    instant = _instant(item.when) if item.when else None
    if instant is None or times is Times.NONE:
        return {}
    field = "sourceUtc" if times is Times.SOURCE else "createdUtc"
    return {"timestamps": {field: instant.isoformat().replace("+00:00", "Z")}}


def _instant(when: str) -> datetime | None:
    for form in _FORMS:
        try:
            return datetime.strptime(when, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    try:
        return datetime.fromisoformat(when).astimezone(UTC)
    except ValueError:
        return None
