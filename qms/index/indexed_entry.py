"""The indexed form of an entry.

`Facets` is what filters and conversations need and is cheap to decode; `IndexDocument` adds the
texts for keyword and vector search.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from qms.memory.bodies import BODY_TYPES, MAIN_FIELDS, Kind, main_text
from qms.memory.entry import Document, Header
from qms.memory.validation import title_from

_SPACES = 64
"""How many extra characters of a text are compared with a title, which has fewer spaces."""

_CHOSEN_WORDS = 4
"""A title of at most this many words may be chosen by a person, though the text begins with it."""

_OWN_FIELDS = frozenset({"conversationId", "role"})
"""Body strings that have their own field and are not part of the text."""


class Facets(msgspec.Struct, frozen=True, kw_only=True):
    """The header of an entry and the other values that filters and conversations need."""

    header: Header
    conversation_id: str | None = None
    source_type: str | None = None
    role: str | None = None
    ordinal: int | None = None
    metadata: dict[str, Any] = {}

    @property
    def id(self) -> str:
        """The entry's id."""
        return self.header.id


class IndexDocument(Facets, frozen=True, kw_only=True):
    """An entry as the indexes see it."""

    text: str
    """The main text, then every other string of the body, each on a line of its own."""
    keywords: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    """The names of the entry's source: its path, address or symbol."""

    @property
    def title(self) -> str:
        """The entry's title."""
        return self.header.title

    @property
    def own_title(self) -> str:
        """The entry's title, or empty if it only repeats the beginning of the text."""
        title = " ".join(self.title.removesuffix("…").removesuffix("...").split())
        beginning = " ".join(self.text[: len(title) + _SPACES].split())
        is_long = title.count(" ") >= _CHOSEN_WORDS or self.title == title_from(self.text)
        return "" if is_long and beginning.startswith(title) else self.title

    @property
    def instant(self) -> datetime:
        """The time of its source, else the time of its creation."""
        times = self.header.timestamps
        return times.source_utc or times.created_utc

    @property
    def tags(self) -> tuple[str, ...]:
        """The entry's tags."""
        return self.header.tags


class _FacetBody(msgspec.Struct, rename="camel"):
    conversation_id: Any = None
    role: Any = None
    ordinal: Any = None


class _FacetLine(msgspec.Struct):
    body: _FacetBody
    source: Any = None
    metadata: dict[str, Any] | None = None


_line_decoder = msgspec.json.Decoder(_FacetLine)


def index_document(header: Header, document: Document) -> IndexDocument:
    """Return what is indexed of an entry."""
    body = document["body"]
    return IndexDocument(
        header=header,
        text=indexed_text(header.kind, body),
        keywords=tuple(document.get("keywords") or ()),
        conversation_id=_string(body.get("conversationId")),
        source=tuple(_source_names(document.get("source"))),
        source_type=_source_type(document.get("source")),
        role=_string(body.get("role")),
        ordinal=_whole(body.get("ordinal")),
        metadata=document.get("metadata") or {},
    )


def indexed_text(kind: Kind, body: dict[str, Any]) -> str:
    """Return the text of a body: the main text, then its other strings, each on its own line."""
    return "\n".join(_texts(kind, body))


def line_facets(header: Header, line: bytes) -> Facets:
    """Return the facets of a line that this server wrote or checked, without its texts."""
    found = _line_decoder.decode(line)
    return Facets(
        header=header,
        conversation_id=_string(found.body.conversation_id),
        source_type=_source_type(found.source),
        role=_string(found.body.role),
        ordinal=_whole(found.body.ordinal),
        metadata=found.metadata or {},
    )


def _texts(kind: Kind, body: dict[str, Any]) -> Iterator[str]:
    """Yield the main text, then the other known fields in declared order, then unknown fields."""
    main = main_text(kind, body)
    if main:
        yield main
    main_field = _main_field(kind, body)
    known = BODY_TYPES[kind].__struct_encode_fields__
    for field in dict.fromkeys((*known, *body)):
        if field != main_field and field not in _OWN_FIELDS and field in body:
            yield from _strings(body[field])


def _main_field(kind: Kind, body: dict[str, Any]) -> str | None:
    return next((field for field in MAIN_FIELDS[kind] if body.get(field)), None)


def _strings(value: Any) -> Iterator[str]:
    """Yield the strings inside a JSON value, in order, without object keys."""
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)


def _source_names(source: Any) -> Iterator[str]:
    if isinstance(source, dict):
        for field, value in source.items():
            if field != "type":
                yield from _strings(value)


def _source_type(source: Any) -> str | None:
    return _string(source.get("type")) if isinstance(source, dict) else None


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
