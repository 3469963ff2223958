"""How entries look in answers: whole, as a summary, or by id alone."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.codec.documents import instant_text
from qms.codec.lines import encode_line
from qms.domain.entry import split_id
from qms.domain.flags import Flag, flags_of
from qms.domain.queries import Include
from qms.service.requests import Response
from qms.store.view import Record

Flags = dict[str, tuple[Flag, ...]] | UnsetType
"""The flags of several entries, by id."""


class EntryId(Response, frozen=True):
    """An entry by its id alone."""

    id: str


class Summary(Response, frozen=True):
    """What a list shows of an entry (`MemoryEntrySummary`)."""

    id: str
    kind: str
    title: str
    tags: tuple[str, ...]
    curation_tier: str
    pinned: bool
    updated_utc: str


class Rendered(msgspec.Struct, frozen=True, kw_only=True):
    """An answer as rows of text, in the format asked for, and how many entries it holds."""

    format: str
    text: str
    count: int


class Spoken(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that is told to the reader of a tool in other words than to a program."""

    text: str
    content: Response


class EntryAnswer(Response, frozen=True):
    """An entry as stored, its version, and what a reader or its writer should know of it."""

    entry: msgspec.Raw
    version: str
    flags: tuple[Flag, ...] | UnsetType = UNSET
    warnings: tuple[str, ...] | UnsetType = UNSET


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


def whole_entry(record: Record) -> msgspec.Raw:
    """Return the entry as stored, with its project, without encoding it again if possible."""
    entry_id = record.header.id
    project = split_id(entry_id)[0]
    head = f'{{"schemaVersion":{record.header.schema_version},"id":"{entry_id}"'.encode()
    line = record.line
    if line.startswith(head) and b'"project"' not in line:
        return msgspec.Raw(b'%b,"project":"%b"%b' % (head, project.encode(), line[len(head) :]))
    document = record.document()
    fields = {"schemaVersion": document.get("schemaVersion"), "id": entry_id, "project": project}
    return msgspec.Raw(encode_line({**fields, **document, **fields}))


def entry_answer(record: Record, warnings: tuple[str, ...] = ()) -> EntryAnswer:
    """Return the entry and its version, with flags and warnings where there are any."""
    return EntryAnswer(
        entry=whole_entry(record),
        version=record.version(),
        flags=flags_of(record.line) or UNSET,
        warnings=warnings or UNSET,
    )


def flags_by_id(records: Iterable[Record], include: Include) -> Flags:
    """Return the flags of entries that are shown whole, by id; entries without any are left out."""
    if include is not Include.FULL:
        return UNSET
    found = {record.header.id: flags_of(record.line) for record in records}
    return {entry_id: flags for entry_id, flags in found.items() if flags} or UNSET


def list_item(record: Record, include: Include) -> EntryId | Summary | msgspec.Raw:
    """Return as much of an entry as a list was asked to carry."""
    match include:
        case Include.IDS:
            return EntryId(id=record.header.id)
        case Include.SUMMARY:
            return Summary(**summary_fields(record))
        case Include.FULL:
            return whole_entry(record)
