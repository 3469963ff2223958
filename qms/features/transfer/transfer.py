"""Exports entries of a project part by part, and reads files to import."""

import io
from enum import StrEnum
from typing import Any

import msgspec

from qms.commands.admission import check_tier
from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.requests import Request, Response
from qms.disk.archives import Member
from qms.disk.export_files import Export
from qms.features.lists.list_entries import ListAnswer, ListRequest, list_entries
from qms.features.transfer.export_forms import FORMS
from qms.features.transfer.importers.import_formats import (
    ImportFormat,
    Wanted,
    check_names,
    read_items,
)
from qms.features.transfer.importers.items import Broken, Found, Item, restamped
from qms.features.transfer.meter import Bounds, Meter
from qms.memory.access import AccessTier
from qms.memory.bodies import Kind
from qms.memory.entry import CurationTier, Document
from qms.memory.errors import InvalidInputError
from qms.memory.filters import Filter, Include, Page
from qms.memory.limits import Limits
from qms.memory.validation import check_texts

EXPORT_PAGE = 200


class ExportFormat(StrEnum):
    """The format of an export."""

    JSONL = "jsonl"
    JSON = "json"
    MARKDOWN = "markdown"
    CSV = "csv"


class ExportQuery(Request, frozen=True):
    """The filter and format of an export; `cursor` is the end of the previous part."""

    project: str
    format: ExportFormat = ExportFormat.JSONL
    kind: Kind | None = None
    tier: CurationTier | None = None
    tag: str | None = None
    cursor: str | None = None


class ExportPart(Response, frozen=True):
    """A part of an export; the texts of all parts, joined, are the file."""

    text: str
    count: int
    total: int
    """The number of entries in the project, without the filter."""
    next_cursor: str | None


class ImportText(Request, frozen=True):
    """The text of a file to import, and its format."""

    project: str
    format: ImportFormat
    content: str
    name: str = "file"
    columns: dict[str, str] = msgspec.field(default_factory=dict)
    """The name of each field in the file, by field."""
    trust_source: bool = False
    """Whether the authors that the file names are kept."""


class FoundMemory(Response, frozen=True):
    """An entry as `bulkImport` takes it, and its place in the file."""

    place: str
    entry: Document
    is_known: bool
    """Whether the project has an entry with this id."""


class BrokenMemory(Response, frozen=True):
    """A part of the file that cannot be read, and the reason."""

    place: str
    reason: str


class ImportReading(Response, frozen=True):
    """The entries of a file; nothing is stored yet."""

    items: list[FoundMemory]
    broken: list[BrokenMemory]


@command(
    tier=AccessTier.NONE,
    route="GET /admin/export/{project}",
    help="Return a part of an export as text; all parts together are the file",
    example={"project": "projA", "format": "csv"},
)
def export_part(call: Call, request: ExportQuery) -> ExportPart:
    """Return the next part of an export, the oldest entries first."""
    project = call.in_project(request.project)
    size = min(EXPORT_PAGE, call.settings.global_.limits.results)
    kinds = frozenset((request.kind,) if request.kind else Kind)  # chunks, too
    wanted = Filter(kinds=kinds, tier=request.tier, tag=request.tag)
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


@command(
    tier=AccessTier.NONE,
    route="POST /admin/import/{project}",
    help="Read the memories of a file for bulkImport; nothing is stored",
    example={"project": "projA", "format": "jsonl", "content": "{}", "name": "old.jsonl"},
    read_only=True,
    idempotent=True,
)
def read_import(call: Call, request: ImportText) -> ImportReading:
    """Read the entries of a file, and say which of them the project has.

    Raises:
        NotAllowedError: the caller may not store them.
        InvalidInputError: the file exceeds a limit of imports; reading ends there.
    """
    project = call.in_project(request.project)
    check_tier(call.command, AccessTier.WRITER, project.caller.access, "in this project")
    check_names(request.format, request.columns)
    data, view = request.content.encode("utf-8"), project.store.view
    file = Member(request.name, len(data), lambda: io.BytesIO(data))
    limits = call.settings.global_.limits
    meter = Meter(Bounds.of(limits))
    wanted = Wanted(project=project.project, now=call.now, names=request.columns, meter=meter)
    export = Export([file], {}, is_one_file=True, while_reading=meter.check_time)
    found: list[FoundMemory] = []
    broken: list[BrokenMemory] = []
    for read in read_items(request.format, export, wanted):
        item = _checked(read, limits)
        if isinstance(item, Broken):
            reason = f"{item.field}: {item.reason}" if item.field else item.reason
            broken.append(BrokenMemory(place=item.place, reason=reason))
            continue
        known = view.get(f"{project.project}:{item.document.get('id')}")
        # The author of the project's own entry is trusted, also when the file names it.
        is_author = known is not None and known.header.agent_id == item.document.get("agentId")
        trusts = request.trust_source or is_author
        entry = restamped(item.document, trusts_source=trusts)
        found.append(FoundMemory(place=item.place, entry=entry, is_known=known is not None))
    return ImportReading(items=found, broken=broken)


def _checked(item: Item, limits: Limits) -> Item:
    """Return an item, or Broken if one of its texts is over its limit."""
    try:
        if isinstance(item, Found):
            check_texts(item.document, limits)
    except InvalidInputError as error:
        return Broken(item.place, "", error.message)  # which names the field
    return item
