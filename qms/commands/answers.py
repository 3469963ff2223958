"""Entries in answers: whole, as a summary, or by id alone."""

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.requests import Response
from qms.commands.toon import head_line
from qms.commands.visible import Visible
from qms.memory.bodies import main_text
from qms.memory.entry import split_id
from qms.memory.filters import Include
from qms.memory.lines import encode_line
from qms.memory.validation import instant_text, title_from
from qms.store.view import Record
from qms.text.flags import Flag, flags_of

Flags = dict[str, tuple[Flag, ...]] | UnsetType
"""The flags of several entries, by id."""


class EntryId(Response, frozen=True):
    """An entry by its id alone."""

    id: str


class Summary(Response, frozen=True):
    """The fields of an entry that a list shows (`MemoryEntrySummary`)."""

    id: str
    kind: str
    title: str
    tags: tuple[str, ...]
    curation_tier: str
    pinned: bool
    updated_utc: str


class Excerpt(Summary, frozen=True):
    """A summary with the beginning of the entry's text."""

    snippet: str


class Rendered(msgspec.Struct, frozen=True, kw_only=True):
    """An answer as rows of text, in the requested format, with its number of entries."""

    format: str
    text: str
    count: int


Content = TypeVar("Content", bound=Response)


class Spoken(msgspec.Struct, Generic[Content], frozen=True, kw_only=True):
    """An answer with a text of its own for tool calls, beside the structured content."""

    text: str
    content: Content


class EntryAnswer(Response, frozen=True):
    """An entry as stored, with its version, flags for readers and warnings for its writer."""

    entry: msgspec.Raw
    version: str
    flags: tuple[Flag, ...] | UnsetType = UNSET
    warnings: tuple[str, ...] | UnsetType = UNSET


def with_warnings(answer: Any, remarks: Sequence[str]) -> Any:
    """Return an answer with remarks on the request as warnings, rows of text with them on top."""
    if not remarks:
        return answer
    if isinstance(answer, Rendered):
        first, _, rows = answer.text.partition("\n")
        text = f"{first}|{head_line({'warnings': remarks})}\n{rows}"
        return msgspec.structs.replace(answer, text=text)
    if isinstance(answer, Spoken):
        return msgspec.structs.replace(answer, content=with_warnings(answer.content, remarks))
    if not isinstance(answer, Response):
        return answer
    kind = type(answer)
    names = zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    fields = {shown: getattr(answer, name) for name, shown in names}
    warnings = (*map(answer.remark, remarks), *(fields.get("warnings") or ()))
    known = {name: one for name, one in fields.items() if one is not UNSET}
    return {**known, "warnings": warnings}


def summary_fields(record: Record) -> dict[str, Any]:
    """Return the fields of a record's summary."""
    header = record.header
    return {
        "id": header.id,
        "kind": header.kind,
        "title": header.title,
        "tags": header.tags,
        "curation_tier": header.curation_tier,
        "pinned": header.pinned,
        "updated_utc": instant_text(header.timestamps.updated_utc),
    }


def whole_entry(record: Visible) -> msgspec.Raw:
    """Return a visible entry with its project, without encoding it again if possible."""
    entry_id = record.header.id
    project = split_id(entry_id)[0]
    head = f'{{"schemaVersion":{record.header.schema_version},"id":"{entry_id}"'.encode()
    line = record.line
    if line.startswith(head) and b'"project"' not in line:
        return msgspec.Raw(b'%b,"project":"%b"%b' % (head, project.encode(), line[len(head) :]))
    document = record.document()
    fields = {"schemaVersion": document.get("schemaVersion"), "id": entry_id, "project": project}
    return msgspec.Raw(encode_line({**fields, **document, **fields}))


def beginning_of(record: Record) -> str:
    """Return the beginning of an entry's main text, in one line."""
    return title_from(main_text(record.header.kind, record.document()["body"]))


def entry_answer(record: Visible, warnings: tuple[str, ...] = ()) -> EntryAnswer:
    """Return the entry and its version, with flags and warnings where there are any."""
    return EntryAnswer(
        entry=whole_entry(record),
        version=record.version(),
        flags=flags_of(record.line) or UNSET,
        warnings=warnings or UNSET,
    )


def flags_by_id(records: Iterable[Visible], include: Include) -> Flags:
    """Return the flags of entries that are shown whole, by id; entries without any are left out."""
    if include is not Include.FULL:
        return UNSET
    found = {record.header.id: flags_of(record.line) for record in records}
    return {entry_id: flags for entry_id, flags in found.items() if flags} or UNSET


def list_item(record: Visible, include: Include) -> EntryId | Summary | msgspec.Raw:
    """Return the item of an entry in a list: its id, its summary or the whole entry."""
    match include:
        case Include.IDS:
            return EntryId(id=record.header.id)
        case Include.SUMMARY:
            return Summary(**summary_fields(record))
        case Include.SNIPPET:
            return Excerpt(**summary_fields(record), snippet=beginning_of(record))
        case Include.FULL:
            return whole_entry(record)
