"""The import formats: the file names of each, and its reader."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from functools import partial

import msgspec

from qms.disk.export_files import Export
from qms.features.transfer.importers.ai_memory import read_ai_memory
from qms.features.transfer.importers.items import Broken, Found, Item, Opener, renamed
from qms.features.transfer.importers.jsonl import moved, read_json_export, read_jsonl
from qms.features.transfer.importers.markdown import read_markdown
from qms.features.transfer.importers.server_memory import read_server_memory
from qms.features.transfer.importers.table import read_table
from qms.features.transfer.meter import Meter
from qms.memory.bodies import Kind
from qms.memory.entry import FIELD_ORDER
from qms.memory.errors import invalid

_TEXT = "text"
_NAMEABLE = frozenset({*FIELD_ORDER, _TEXT, "createdUtc"})


class ImportFormat(StrEnum):
    """The format of a file to import."""

    JSONL = "jsonl"
    JSON = "json"
    MARKDOWN = "markdown"
    CSV = "csv"
    AI_MEMORY = "aiMemory"
    SERVER_MEMORY = "serverMemory"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The target project, the time and the field names of an import."""

    project: str
    now: datetime
    names: Mapping[str, str] = {}
    """The name of each field in the file, by field."""

    meter: Meter = msgspec.field(default_factory=Meter)
    """Counts the rows that readers keep in memory."""

    taken: dict[str, str] = msgspec.field(default_factory=dict)
    """The field that each name of the file was read as; filled by the readers."""


ReadFile = Callable[[Opener, Wanted], Iterator[Item]]


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """The reader of one format."""

    files: re.Pattern[str]
    """The names of its files in a folder or an archive."""

    read: Callable[[Export, Wanted], Iterator[Item]]
    passes: int = 1
    """How often each file is read: twice where relations may follow their source."""

    takes_names: bool = True
    is_exact: bool = False
    """Whether it holds entries in the stored form."""


def _each_file(read: ReadFile) -> Callable[[Export, Wanted], Iterator[Item]]:
    """Return a reader of all files; with several files, a place includes the file's name."""

    def read_all(export: Export, wanted: Wanted) -> Iterator[Item]:
        for member in export.members:
            for item in read(partial(export.open, member), wanted):
                if export.is_one_file:
                    yield item
                else:
                    yield msgspec.structs.replace(item, place=f"{member.name}: {item.place}")

    return read_all


def _renamed(items: Iterable[Item], wanted: Wanted) -> Iterator[Item]:
    """Yield entries with their fields renamed; the kind is note unless given."""
    names = {"body" if field == _TEXT else field: name for field, name in wanted.names.items()}
    for item in items:
        if isinstance(item, Broken) or not names:
            yield item
        else:
            document = {"kind": Kind.NOTE.value, **renamed(item.document, names)}
            yield Found(item.place, moved(document, wanted.project))


def _markdown(export: Export, wanted: Wanted) -> Iterator[Item]:
    return read_markdown(export, wanted.project, wanted.names)


def read_items(form: str, export: Export, wanted: Wanted) -> Iterator[Item]:
    """Yield the items of an export, up to the meter's bounds."""
    return wanted.meter.measured(FORMATS[form].read(export, wanted))


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
        read=_each_file(
            lambda file, wanted: read_ai_memory(file, wanted.project, wanted.now, wanted.meter)
        ),
        passes=2,
        takes_names=False,
    ),
    ImportFormat.SERVER_MEMORY: Format(
        files=re.compile(r".*\.jsonl?", re.IGNORECASE),
        read=_each_file(
            lambda file, wanted: read_server_memory(file, wanted.project, wanted.meter)
        ),
        passes=2,
        takes_names=False,
    ),
}


def check_names(form: str, names: Mapping[str, str]) -> None:
    """Raise `InvalidInputError` unless a format accepts these field names."""
    if names and not FORMATS[form].takes_names:
        raise invalid("map", f"cannot be used with {form}, whose field names are fixed")
    for field in names if form != "csv" else ():  # a table knows its own fields
        if field not in _NAMEABLE:
            raise invalid("map", f"{field} is not one of {', '.join(sorted(_NAMEABLE))}")
