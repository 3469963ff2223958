"""getDocument and analyzeDocument: what a document says, and what stands near it."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.call import Call, no_entry
from qms.commands.command import EXAMPLE_ID, command
from qms.commands.cursors import CursorSigner
from qms.commands.requests import Request, Response
from qms.features.documents.store_document import ordinal_of, parts_in_order
from qms.features.lists.list_entries import check_count
from qms.features.recall.search import ScoredEntry, SearchRequest, search_entries
from qms.memory.access import AccessTier
from qms.memory.bodies import Kind
from qms.memory.entry import split_id
from qms.memory.filters import Page
from qms.memory.parts import document_id_of
from qms.search.query import SearchQuery
from qms.store.view import Record

_RELATED = 5
_NEAR = 3 * _RELATED


class GetDocumentRequest(Request, frozen=True):
    """The document, how much of it, and which page of its chunks."""

    id: str
    include: Literal["meta", "text", "chunks"] = "meta"
    page: Page | None = None


class ChunkView(Response, frozen=True):
    """A chunk with its place in the document."""

    id: str
    ordinal: int
    text: str
    start: int | None = None
    end: int | None = None
    page: int | UnsetType = UNSET
    heading: str | UnsetType = UNSET


class DocumentAnswer(Response, frozen=True):
    """A document; `text` and `chunks` are those of one page."""

    id: str
    version: str
    title: str
    summary: str
    mime: str | None
    sha256: str | None
    chunk_count: int
    tags: list[str]
    metadata: dict[str, Any]
    source: dict[str, Any] | None = None
    text: str | UnsetType = UNSET
    chunks: list[ChunkView] | UnsetType = UNSET
    next_cursor: str | UnsetType | None = UNSET


class AnalyzeRequest(Request, frozen=True):
    """The document to look at."""

    id: str


class NamedEntity(Response, frozen=True):
    """An entity that a document mentions."""

    id: str
    name: str
    entity_type: str
    count: int


class AnalyzeAnswer(Response, frozen=True):
    """A summary of a document, and the entries that are near to it."""

    summary: str
    method: Literal["extractive", "given"]
    entities: list[NamedEntity]
    related: list[ScoredEntry]
    chunk_count: int
    bytes: int


@command(
    tier=AccessTier.READER,
    toolset="documents",
    help="Get a document: its summary, its text, or its chunks with page and heading",
    example={"id": EXAMPLE_ID, "include": "text"},
    read_only=True,
    idempotent=True,
)
def get_document(call: Call, request: GetDocumentRequest) -> DocumentAnswer:
    """Return a document, and one page of its text or chunks."""
    record, parts = found_document(call, request.id)
    call.touch([record.header.id])
    document = call.visible(record).document()
    answer = DocumentAnswer(
        id=record.header.id,
        version=record.version(),
        title=record.header.title,
        summary=document["body"].get("text") or "",
        mime=document["body"].get("mime"),
        sha256=document["body"].get("sha256"),
        chunk_count=len(parts),
        tags=list(record.header.tags),
        metadata=document.get("metadata", {}),
        source=document.get("source"),
    )
    if request.include == "meta":
        return answer
    page = request.page or Page()
    check_count("page.size", page.size, call.settings.global_.limits.results)
    signer = CursorSigner(call.context.cursor_secret, call.project, "chunks", record.header.id)
    start = 0 if page.cursor is None else signer.read(page.cursor, int)
    shown = parts_in_order(parts, call.deadline)[start : start + page.size]
    after = start + len(shown)
    cursor = signer.sign(after) if after < len(parts) else None
    views = [_view(one) for one in shown]
    if request.include == "chunks":
        return msgspec.structs.replace(answer, chunks=views, next_cursor=cursor)
    text = "".join(one.text for one in views)
    return msgspec.structs.replace(answer, text=text, next_cursor=cursor)


@command(
    tier=AccessTier.READER,
    toolset="documents",
    help="Tell what a document is about: summary, entities, and entries near to it",
    example={"id": EXAMPLE_ID},
    searches=True,
    read_only=True,
    idempotent=True,
)
def analyze_document(call: Call, request: AnalyzeRequest) -> AnalyzeAnswer:
    """Return summary and neighbours of a document."""
    record, parts = found_document(call, request.id)
    summary = record.document()["body"].get("text") or record.header.title
    query = SearchQuery(text=f"{record.header.title} {summary}"[:1000], max_results=_NEAR)
    found = search_entries(call, SearchRequest(query=query))
    own = {record.header.id, *(one.header.id for one in parts)}
    near = [one for one in getattr(found, "results", []) if _entry_id(one) not in own]
    return AnalyzeAnswer(
        summary=summary,
        method="extractive",
        entities=[],
        related=near[:_RELATED],
        chunk_count=len(parts),
        bytes=sum(
            len(one.document()["body"]["text"].encode()) for one in call.deadline.rows(parts)
        ),
    )


def found_document(call: Call, given_id: str) -> tuple[Record, list[Record]]:
    """Return a document in reach and its chunks; a chunk's id finds its document.

    Raises:
        NotFoundError: there is no such document.
    """
    record = call.find(given_id)
    owner = document_id_of(record.header)
    if owner is not None:
        record = call.find(owner)
    if record.header.kind is not Kind.DOCUMENT:
        raise no_entry(given_id)
    view = call.store_of(split_id(record.header.id)[0]).view
    return record, view.parts_of(record.header.id)


def _entry_id(scored: ScoredEntry) -> str:
    entry: Any = scored.entry
    known = msgspec.json.decode(entry) if isinstance(entry, msgspec.Raw) else entry
    return str(known["id"] if isinstance(known, dict) else known.id)


def _view(record: Record) -> ChunkView:
    document = record.document()
    metadata = document.get("metadata", {})
    return ChunkView(
        id=record.header.id,
        ordinal=ordinal_of(document),
        text=document["body"]["text"],
        start=metadata.get("start"),
        end=metadata.get("end"),
        page=metadata.get("page", UNSET),
        heading=metadata.get("heading", UNSET),
    )
