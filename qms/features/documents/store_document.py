"""storeDocument: a file becomes a document and its chunks, in one change."""

import base64
import binascii
import hashlib
from pathlib import Path, PurePath, PurePosixPath
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.entry_writes import Stored, WriteRules, living, own_entry, upsert, write_rules
from qms.commands.requests import Request, Response
from qms.commands.secrets_policy import withhold
from qms.disk.beneath import read_beneath
from qms.disk.regular_files import UnfitFileError
from qms.features.documents.chunks import CHUNK_OVERLAP, CHUNK_SIZE, Chunk, chunks_of
from qms.features.documents.document_formats import FileToRead
from qms.features.documents.extract import FILE_BYTES, Extractor, ReadFile
from qms.features.documents.pieces import joined
from qms.memory.access import AccessTier
from qms.memory.bodies import Kind
from qms.memory.deadline import NO_DEADLINE, Deadline
from qms.memory.entry import Document, split_id
from qms.memory.errors import ConflictError, NotFoundError, invalid
from qms.memory.parts import CHUNK_COUNT, PART_OF
from qms.memory.validation import title_from
from qms.store.draft import Draft
from qms.store.view import Record
from qms.text.sentences import sentence_ends

SHOWN_IDS = 50
_SUMMARY_SIGNS = 400
_MOST_WARNINGS = 20
_LOCAL_SIGNS = 100
"""The local id of a chunk is that of its document, cut to this length, and a hash of its text."""
_HEADING_TITLE_SIGNS = 160
_OWN_METADATA = (CHUNK_COUNT, "pages", "characters", "chunkSize", "chunkOverlap")
_NOT_KEPT = frozenset({"timestamps", "schemaVersion", "embedding"})
SUPERSEDED = "superseded"


class DocumentOptions(Request, frozen=True):
    """How a document is cut and what is made of it."""

    chunk_size: Annotated[int, msgspec.Meta(ge=100, le=8_000)] = CHUNK_SIZE
    chunk_overlap: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = CHUNK_OVERLAP
    summary: bool = True
    entities: bool = True


class StoreDocumentRequest(Request, frozen=True):
    """A document as text, as base64 bytes, or as a path that the server may read."""

    content: str | None = None
    data: Annotated[str | None, msgspec.Meta(description="base64")] = None
    path: str | None = None
    mime: str | None = None
    title: str | None = None
    id: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    sha256: str | None = None
    options: DocumentOptions | None = None


class StoreDocumentAnswer(Response, frozen=True):
    """The document; neither created nor updated means that it was there as it is."""

    id: str
    sha256: str
    created: bool
    updated: bool
    chunk_count: int
    chunk_ids: list[str]
    omitted: int = 0
    """How many chunk ids are not named."""
    entity_ids: tuple[str, ...] = ()
    duplicate_of: str | UnsetType = UNSET
    warnings: tuple[str, ...] = ()


class _Made(msgspec.Struct, frozen=True):
    """The entries of a document, ready to be put."""

    document: Document
    chunks: list[Document]
    warnings: tuple[str, ...]


@command(
    tier=AccessTier.WRITER,
    toolset="documents",
    help="Store a document (text, Markdown, HTML, PDF, Office, EPUB, …) as searchable chunks",
    destructive=True,
    example={"content": "# Harbour\n\nThe ferry leaves at noon.", "mime": "text/markdown"},
    idempotent=True,
)
def store_document(call: Call, request: StoreDocumentRequest) -> StoreDocumentAnswer:
    """Read a document and store it with its chunks; unchanged chunks keep their ids."""
    file, path = _file(call, request)
    digest = hashlib.sha256(file.data).hexdigest()
    if request.sha256 is not None and request.sha256.lower() != digest:
        raise invalid("sha256", f"the document has {digest}, not {request.sha256[:64]}")
    document_id = _id(call, request, path, digest)
    options = request.options or DocumentOptions()
    known = call.store.view.get(document_id)
    if known is not None and _is_same(known, digest, request, options):
        answer = _unchanged(call, known, digest)
        if answer.chunk_count == known.document().get("metadata", {}).get(CHUNK_COUNT):
            return answer
    call.progress.progress(0, 3)
    read = call.context.part(Extractor).read(file)
    call.progress.progress(1, 3)
    chunks = chunks_of(read.extracted.pieces, options.chunk_size, options.chunk_overlap)
    made = _made(call, request, document_id, path, digest, read, chunks)
    call.progress.progress(2, 3)
    writing = write_rules(call)
    stored = call.commit(lambda draft: _plan(draft, made, writing))
    call.progress.progress(3, 3)
    ids = [one["id"] for one in made.chunks]
    return StoreDocumentAnswer(
        id=document_id,
        sha256=digest,
        created=stored.created,
        updated=not stored.created,
        chunk_count=len(ids),
        chunk_ids=ids[:SHOWN_IDS],
        omitted=max(0, len(ids) - SHOWN_IDS),
        warnings=made.warnings,
    )


def _file(call: Call, request: StoreDocumentRequest) -> tuple[FileToRead, str | None]:
    given = [one for one in (request.content, request.data, request.path) if one is not None]
    if len(given) != 1:
        raise invalid("content", "give exactly one of content, data and path")
    if request.content is not None:
        name = None if request.mime else request.title
        return FileToRead(request.content.encode(), name, request.mime), None
    if request.path is not None:
        return _read_path(call, request.path, request.mime), request.path
    try:
        data = base64.b64decode(request.data or "", validate=True)
    except (binascii.Error, ValueError):
        raise invalid("data", "is not base64") from None
    name = str((request.metadata or {}).get("path") or request.title or "") or None
    return FileToRead(data, name, request.mime), None


def _read_path(call: Call, path: str, mime: str | None) -> FileToRead:
    """Read a file below one of the project's `documentRoots`, and never in the server's root."""
    own = call.context.configuration.root.resolve()
    asked = PurePath(path)
    for root in map(Path, call.endpoint.document_roots):
        inside = _inside(asked, root)
        if inside is None or _overlaps(root.resolve(), own, inside):
            continue
        try:
            data = read_beneath(root, inside, FILE_BYTES)
        except (OSError, UnfitFileError):
            continue
        return FileToRead(data, asked.name, mime)
    raise NotFoundError("path: no such file below the documentRoots of this project", field="path")


def _inside(asked: PurePath, root: Path) -> PurePath | None:
    """Return the part of a path below a root, or None if it is not below it."""
    if ".." in asked.parts or "\0" in str(asked):
        return None
    if not asked.is_absolute():
        return asked if asked.parts else None
    return asked.relative_to(root) if asked != root and asked.is_relative_to(root) else None


def _overlaps(root: Path, own: Path, inside: PurePath) -> bool:
    return (root / inside).is_relative_to(own)


def _id(call: Call, request: StoreDocumentRequest, path: str | None, digest: str) -> str:
    """Return the id asked for, else one made from the path, else from the content."""
    if request.id:
        return call.own_id(request.id)
    named = hashlib.sha256(f"path {path}".encode()).hexdigest() if path else digest
    return f"{call.project}:doc-{named[:24]}"


def _is_same(
    known: Record, digest: str, request: StoreDocumentRequest, options: DocumentOptions
) -> bool:
    document = known.document()
    metadata = document.get("metadata", {})
    return (
        known.header.kind is Kind.DOCUMENT
        and document["body"].get("sha256") == digest
        and metadata.get("chunkSize", CHUNK_SIZE) == options.chunk_size
        and metadata.get("chunkOverlap", CHUNK_OVERLAP) == options.chunk_overlap
        and request.title in (None, known.header.title)
        and (request.tags is None or set(request.tags) == set(known.header.tags))
        and all(metadata.get(key) == value for key, value in (request.metadata or {}).items())
    )


def _unchanged(call: Call, known: Record, digest: str) -> StoreDocumentAnswer:
    ids = [one.header.id for one in parts_in_order(call.store.view.parts_of(known.header.id))]
    return StoreDocumentAnswer(
        id=known.header.id,
        sha256=digest,
        created=False,
        updated=False,
        chunk_count=len(ids),
        chunk_ids=ids[:SHOWN_IDS],
        omitted=max(0, len(ids) - SHOWN_IDS),
        duplicate_of=known.header.id,
    )


def parts_in_order(parts: list[Record], deadline: Deadline = NO_DEADLINE) -> list[Record]:
    """Return chunks in the order of their document."""
    places = {one.header.id: ordinal_of(one.document()) for one in deadline.rows(parts)}
    return sorted(parts, key=lambda one: (places[one.header.id], one.header.id))


def ordinal_of(document: Document) -> int:
    """Return the place of a chunk in its document."""
    ordinal = document["body"].get("ordinal")
    return ordinal if isinstance(ordinal, int) else 0


def _made(
    call: Call,
    request: StoreDocumentRequest,
    document_id: str,
    path: str | None,
    digest: str,
    read: ReadFile,
    chunks: list[Chunk],
) -> _Made:
    text = joined(read.extracted.pieces)
    title = _title(call, request, path, read, text)
    entry = _document(request, document_id, path, digest, read, title, text)
    options = request.options or DocumentOptions()
    entry["metadata"] = {
        **(request.metadata or {}),
        CHUNK_COUNT: len(chunks),
        "characters": len(text),
        "chunkSize": options.chunk_size,
        "chunkOverlap": options.chunk_overlap,
        **({"pages": read.extracted.pages} if read.extracted.pages else {}),
    }
    policy, limits = call.endpoint.secrets, call.rules.limits
    kept, warnings = withhold(entry, policy, limits)
    found, told = [], list(warnings)
    seen: dict[str, int] = {}
    for ordinal, chunk in enumerate(chunks):
        made, secrets = withhold(
            chunk_entry(chunk, ordinal, document_id, title, seen), policy, limits
        )
        found.append(made)
        told += (f"chunk {ordinal}: {one}" for one in secrets)
    if len(told) > _MOST_WARNINGS:
        told[_MOST_WARNINGS:] = [f"and {len(told) - _MOST_WARNINGS} further warnings"]
    return _Made(own_entry(kept, call), found, (*read.extracted.warnings, *told))


def _title(
    call: Call, request: StoreDocumentRequest, path: str | None, read: ReadFile, text: str
) -> str:
    name = PurePosixPath(path or str((request.metadata or {}).get("path") or "")).name
    found = request.title or read.extracted.title or name or title_from(text.lstrip("# \n"))
    return title_from(found) if len(found.encode()) > call.rules.limits.title_bytes else found


def _document(
    request: StoreDocumentRequest,
    document_id: str,
    path: str | None,
    digest: str,
    read: ReadFile,
    title: str,
    text: str,
) -> Document:
    wants_summary = request.options is None or request.options.summary
    body = {
        "text": (_beginning(text) if wants_summary else "") or title,
        "path": path,
        "mime": read.format.value,
        "sha256": digest,
    }
    source_path = path or (request.metadata or {}).get("path")
    source = {"type": "document", "path": source_path} if source_path else {"type": "document"}
    return {
        "id": document_id,
        "kind": Kind.DOCUMENT.value,
        "title": title,
        "body": {key: value for key, value in body.items() if value is not None},
        "tags": request.tags or [],
        "source": source,
    }


def _beginning(text: str) -> str:
    """Return the first sentences of a text, without its headings: a summary by rule."""
    lines = (line for line in text[: 4 * _SUMMARY_SIGNS].split("\n") if not line.startswith("#"))
    flat = " ".join(" ".join(lines).split())
    ends = [place for place in sentence_ends(flat) if place <= _SUMMARY_SIGNS]
    return flat[: ends[-1]].strip() if ends else flat[:_SUMMARY_SIGNS].strip()


def chunk_entry(
    chunk: Chunk, ordinal: int, document_id: str, title: str, seen: dict[str, int]
) -> Document:
    """Return the entry of a chunk; its id follows from its text, so that it is kept with it."""
    project, local = split_id(document_id)
    digest = hashlib.sha256(chunk.text.encode()).hexdigest()[:16]
    seen[digest] = seen.get(digest, 0) + 1
    again = f"-{seen[digest]}" if seen[digest] > 1 else ""
    metadata = {
        "page": chunk.page,
        "heading": chunk.heading,
        "start": chunk.start,
        "end": chunk.end,
        "before": chunk.before or None,
    }
    above = (chunk.heading or "")[-_HEADING_TITLE_SIGNS:]
    return {
        "id": f"{project}:{local[:_LOCAL_SIGNS]}.{digest}{again}",
        "kind": Kind.CHUNK.value,
        "title": f"{title[:_HEADING_TITLE_SIGNS]} > {above}" if above else title,
        "body": {"text": chunk.text, "ordinal": ordinal},
        "relations": [{"type": PART_OF, "targetId": document_id}],
        "metadata": {key: value for key, value in metadata.items() if value is not None},
    }


def _plan(draft: Draft, made: _Made, writing: WriteRules) -> Stored:
    """Put the document and its chunks, and archive the chunks that it has no more."""
    document_id = made.document["id"]
    before = living(draft, document_id, writing.now)
    if before is not None and before.header.kind is not Kind.DOCUMENT:
        raise ConflictError(f"entry {document_id} is no document", id=document_id)
    stored = upsert(draft, _kept(draft, made.document, before), writing, local_id=document_id)
    draft.open_parts(document_id)
    wanted = {one["id"] for one in made.chunks}
    for part in draft.parts_of(document_id):
        if part.header.id not in wanted:
            draft.remove(part.header.id, SUPERSEDED)
    for chunk in made.chunks:
        upsert(draft, chunk, writing, local_id=chunk["id"])
    return stored


def _kept(draft: Draft, document: Document, before: Record | None) -> Document:
    """Return a document with what its last version had beside the content: trust, tags, links."""
    if before is None:
        return document
    known = draft.shown(before)
    own = {key: one for key, one in known.get("metadata", {}).items() if key not in _OWN_METADATA}
    return {
        **{key: one for key, one in known.items() if key not in _NOT_KEPT},
        **document,
        "tags": document["tags"] or known.get("tags", []),
        "metadata": {**own, **document["metadata"]},
    }
