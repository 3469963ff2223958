"""Memories on their way out of a project and into it: pages of an export, files to import."""

import io
from enum import StrEnum
from typing import Any

import msgspec

from qms.domain.bodies import Kind
from qms.domain.entry import CurationTier, Document
from qms.domain.queries import Filter, Include, Page
from qms.ingest.archives import Member
from qms.ingest.exports import Export
from qms.ingest.importers.formats import FORMATS, ImportFormat, Wanted, check_names
from qms.ingest.importers.items import Broken, restamped
from qms.service.admin.calls import AdminCall
from qms.service.export_forms import FORMS
from qms.service.listing import ListAnswer, ListRequest, list_entries
from qms.service.requests import Request, Response

EXPORT_PAGE = 200


class ExportFormat(StrEnum):
    """How exported memories are written."""

    JSONL = "jsonl"
    JSON = "json"
    MARKDOWN = "markdown"
    CSV = "csv"


class ExportQuery(Request, frozen=True):
    """Which entries of a project, in which form; `cursor` is where the part before ended."""

    project: str
    format: ExportFormat = ExportFormat.JSONL
    kind: Kind | None = None
    tier: CurationTier | None = None
    tag: str | None = None
    cursor: str | None = None


class ExportPart(Response, frozen=True):
    """A part of an export: the texts of all parts, one after the other, are the file."""

    text: str
    count: int
    total: int
    """How many entries the project has, whatever the filter."""
    next_cursor: str | None


class ImportText(Request, frozen=True):
    """The text of a file of memories, and what wrote it."""

    project: str
    format: ImportFormat
    content: str
    name: str = "file"
    columns: dict[str, str] = msgspec.field(default_factory=dict)
    """What the file calls a field, by field."""
    trust_source: bool = False
    """Whether the authors that the file names are kept."""


class FoundMemory(Response, frozen=True):
    """An entry as `bulkImport` takes it, and where it stood."""

    place: str
    entry: Document
    is_known: bool
    """Whether the project has an entry of this id."""


class BrokenMemory(Response, frozen=True):
    """What cannot be read, and why."""

    place: str
    reason: str


class ImportReading(Response, frozen=True):
    """What a file holds; nothing of it is stored yet."""

    items: list[FoundMemory]
    broken: list[BrokenMemory]


def export_part(call: AdminCall, request: ExportQuery) -> ExportPart:
    """Return the next part of an export, the oldest entries first."""
    project = call.in_project(request.project)
    size = min(EXPORT_PAGE, call.settings.global_.limits.results)
    wanted = Filter(kind=request.kind, tier=request.tier, tag=request.tag)
    found = list_entries(
        project,
        ListRequest(
            filter=wanted,
            page=Page(size=size, cursor=request.cursor),
            sort="created",
            include=Include.FULL,
        ),
    )
    assert isinstance(found, ListAnswer)
    entries = [msgspec.json.decode(item, type=dict[str, Any]) for item in found.items]
    is_last = found.next_cursor is None
    form = FORMS[request.format]
    return ExportPart(
        text=form.page(entries, is_first=request.cursor is None, is_last=is_last),
        count=len(entries),
        total=len(project.store.view),
        next_cursor=found.next_cursor,
    )


def read_import(call: AdminCall, request: ImportText) -> ImportReading:
    """Read the memories of a file, and say which the project has already."""
    project = call.in_project(request.project)
    check_names(request.format, request.columns)
    data, view = request.content.encode("utf-8"), project.store.view
    file = Member(request.name, len(data), lambda: io.BytesIO(data))
    wanted = Wanted(project=project.project, now=call.now, names=request.columns)
    found: list[FoundMemory] = []
    broken: list[BrokenMemory] = []
    for item in FORMATS[request.format].read(Export([file], {}, is_one_file=True), wanted):
        if isinstance(item, Broken):
            reason = f"{item.field}: {item.reason}" if item.field else item.reason
            broken.append(BrokenMemory(place=item.place, reason=reason))
            continue
        local = item.document.get("id")
        found.append(
            FoundMemory(
                place=item.place,
                entry=restamped(item.document, trusts_source=request.trust_source),
                is_known=local is not None and f"{project.project}:{local}" in view.records,
            )
        )
    return ImportReading(items=found, broken=broken)
