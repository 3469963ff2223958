"""The formats that can be imported: which files each lies in, and what reads them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from functools import partial

import msgspec

from qms.domain.bodies import Kind
from qms.domain.entry import FIELD_ORDER
from qms.domain.errors import invalid
from qms.ingest.exports import Export
from qms.ingest.importers.ai_memory import read_ai_memory
from qms.ingest.importers.items import Broken, Found, Item, Opener, renamed
from qms.ingest.importers.json_export import read_json_export
from qms.ingest.importers.jsonl import moved, read_jsonl
from qms.ingest.importers.markdown import read_markdown
from qms.ingest.importers.server_memory import read_server_memory
from qms.ingest.importers.table import read_table

_TEXT = "text"
_NAMEABLE = frozenset({*FIELD_ORDER, _TEXT, "createdUtc"})


class ImportFormat(StrEnum):
    """What wrote the memories."""

    JSONL = "jsonl"
    JSON = "json"
    MARKDOWN = "markdown"
    CSV = "csv"
    AI_MEMORY = "aiMemory"
    SERVER_MEMORY = "serverMemory"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Into which project, under which names, and at which moment."""

    project: str
    now: datetime
    names: Mapping[str, str] = {}
    """What the file calls a field of an entry, by field."""

    taken: dict[str, str] = msgspec.field(default_factory=dict)
    """What each name of the file was taken for; readers write it down."""


ReadFile = Callable[[Opener, Wanted], Iterator[Item]]


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """How one program's export is read."""

    files: re.Pattern[str]
    """Which files of a folder or an archive are part of it."""

    read: Callable[[Export, Wanted], Iterator[Item]]
    passes: int = 1
    """How often each file is read: relations may stand after what they begin at."""

    takes_names: bool = True
    is_exact: bool = False
    """Whether it holds entries as they are stored."""


def _each_file(read: ReadFile) -> Callable[[Export, Wanted], Iterator[Item]]:
    """Return what reads file after file; of several, a place names its file."""

    def read_all(export: Export, wanted: Wanted) -> Iterator[Item]:
        for member in export.members:
            for item in read(partial(export.open, member), wanted):
                if export.is_one_file:
                    yield item
                else:
                    yield msgspec.structs.replace(item, place=f"{member.name}: {item.place}")

    return read_all


def _renamed(items: Iterable[Item], wanted: Wanted) -> Iterator[Item]:
    """Yield entries with the fields that their names stand for, notes unless they say otherwise."""
    names = {"body" if field == _TEXT else field: name for field, name in wanted.names.items()}
    for item in items:
        if isinstance(item, Broken) or not names:
            yield item
        else:
            document = {"kind": Kind.NOTE.value, **renamed(item.document, names)}
            yield Found(item.place, moved(document, wanted.project))


def _markdown(export: Export, wanted: Wanted) -> Iterator[Item]:
    return read_markdown(export, wanted.project, wanted.names)


FORMATS: dict[str, Format] = {
    ImportFormat.JSONL: Format(
        files=re.compile(r".*\.(jsonl|ndjson)", re.IGNORECASE),
        read=_each_file(lambda file, wanted: _renamed(read_jsonl(file, wanted.project), wanted)),
        is_exact=True,
    ),
    ImportFormat.JSON: Format(
        files=re.compile(r".*\.json", re.IGNORECASE),
        read=_each_file(
            lambda file, wanted: _renamed(read_json_export(file, wanted.project), wanted)
        ),
        is_exact=True,
    ),
    ImportFormat.MARKDOWN: Format(
        files=re.compile(r".*\.(md|markdown)", re.IGNORECASE), read=_markdown, passes=2
    ),
    ImportFormat.CSV: Format(
        files=re.compile(r".*\.csv", re.IGNORECASE),
        read=_each_file(lambda file, wanted: read_table(file, wanted.names, wanted.taken)),
    ),
    ImportFormat.AI_MEMORY: Format(
        files=re.compile(r".*\.json", re.IGNORECASE),
        read=_each_file(lambda file, wanted: read_ai_memory(file, wanted.project, wanted.now)),
        passes=2,
        takes_names=False,
    ),
    ImportFormat.SERVER_MEMORY: Format(
        files=re.compile(r".*\.jsonl?", re.IGNORECASE),
        read=_each_file(lambda file, wanted: read_server_memory(file, wanted.project)),
        passes=2,
        takes_names=False,
    ),
}


def check_names(form: str, names: Mapping[str, str]) -> None:
    """Raise `InvalidInputError` unless a format takes these names for fields."""
    if names and not FORMATS[form].takes_names:
        raise invalid("map", f"is of no use with {form}, whose fields have names of their own")
    for field in names if form != "csv" else ():  # a table knows its own fields
        if field not in _NAMEABLE:
            raise invalid("map", f"{field} is not one of {', '.join(sorted(_NAMEABLE))}")
