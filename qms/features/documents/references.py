"""documentRefs and validateRefs: which memories refer to a document, and whether they still can.

A reference is a relation to a document, with the chunk in its metadata, or to a chunk.
"""

from collections.abc import Iterator
from datetime import datetime

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.call import Call
from qms.commands.command import EXAMPLE_ID, command
from qms.commands.requests import Request, Response
from qms.features.documents.get_document import found_document
from qms.memory.access import AccessTier, may_edit
from qms.memory.bodies import Kind
from qms.memory.deadline import Deadline
from qms.memory.entry import Document, split_id
from qms.memory.errors import invalid
from qms.memory.parts import document_id_of
from qms.memory.relations import Relation
from qms.memory.retention import is_expired
from qms.store.draft import Draft
from qms.store.view import Record, StoreView

CHUNK_ID = "chunkId"
"""The key of a relation's metadata that names a chunk."""

_MOST_REFS = 1_000


class RefsRequest(Request, frozen=True):
    """The memory whose references are listed, or the document that is referred to."""

    entry_id: str | None = None
    document_id: str | None = None


class DocumentRef(Response, frozen=True):
    """A relation from a memory to a document or one of its chunks."""

    entry_id: str
    document_id: str
    type: str
    weight: float
    chunk_id: str | UnsetType = UNSET


class RefsAnswer(Response, frozen=True):
    """The references found, in the order of ids."""

    refs: list[DocumentRef]


class ValidateRequest(Request, frozen=True):
    """One document, or all; `repair` puts right what can be."""

    document_id: str | None = None
    repair: bool = False


class BrokenRef(Response, frozen=True):
    """A reference to a chunk that is gone, and the chunk that now holds its text."""

    entry_id: str
    document_id: str
    chunk_id: str
    moved_to: str | UnsetType = UNSET


class ValidateAnswer(Response, frozen=True):
    """How many references were looked at, and those that lead nowhere."""

    checked: int
    broken: list[BrokenRef]
    repaired: int


@command(
    tier=AccessTier.READER,
    toolset="documents",
    help="List which memories refer to a document, or which documents a memory refers to",
    example={"documentId": EXAMPLE_ID},
    read_only=True,
    idempotent=True,
)
def document_refs(call: Call, request: RefsRequest) -> RefsAnswer:
    """Return references from one entry, or to one document."""
    if (request.entry_id is None) == (request.document_id is None):
        raise invalid("entryId", "give exactly one of entryId and documentId")
    reach = _Reach(call.views(), call.now)
    if request.entry_id is not None:
        entry = call.find(request.entry_id)
        return RefsAnswer(refs=[ref for ref, _ in _refs_of(reach, entry)][:_MOST_REFS])
    assert request.document_id is not None
    record, _parts = found_document(call, request.document_id)
    found = list(_refs_to(reach, record.header.id, call.deadline))
    found.sort(key=lambda one: one.entry_id)
    return RefsAnswer(refs=found[:_MOST_REFS])


@command(
    tier=AccessTier.WRITER,
    toolset="documents",
    help="Find references to chunks that are gone, and repair them by their text",
    example={"documentId": EXAMPLE_ID, "repair": True},
    idempotent=True,
)
def validate_refs(call: Call, request: ValidateRequest) -> ValidateAnswer:
    """Check references; a repair leads to the chunk of the same document that holds the text.

    The references are those of this project; their documents may stand in the shared one.
    """
    reach = _Reach(call.views(), call.now)
    if request.document_id is not None:
        record, _parts = found_document(call, request.document_id)
        documents = [record.header.id]
    else:
        documents = [
            one.header.id
            for view in reach.views.values()
            for one in call.deadline.rows(iter(view.records.values()))
            if one.header.kind is Kind.DOCUMENT
        ]
    checked = 0
    broken: list[BrokenRef] = []
    archived = _Archived(call)
    for document_id in documents:
        for ref in _refs_to(reach, document_id, call.deadline):
            if split_id(ref.entry_id)[0] != call.project:
                continue
            checked += 1
            if ref.chunk_id is UNSET or reach.get(ref.chunk_id) is not None:
                continue
            moved = _holder(reach, document_id, archived.text(document_id, ref.chunk_id))
            broken.append(
                BrokenRef(
                    entry_id=ref.entry_id,
                    document_id=document_id,
                    chunk_id=ref.chunk_id,
                    moved_to=moved or UNSET,
                )
            )
    repaired = _repair(call, broken) if request.repair else 0
    return ValidateAnswer(checked=checked, broken=broken[:_MOST_REFS], repaired=repaired)


class _Reach(msgspec.Struct, frozen=True):
    """The living entries of the stores that a call may read."""

    views: dict[str, StoreView]
    now: datetime

    def get(self, entry_id: str) -> Record | None:
        """Return a living entry, or None."""
        view = self.views.get(split_id(entry_id)[0])
        record = None if view is None else view.get(entry_id)
        return None if record is None or is_expired(record.header, self.now) else record

    def parts_of(self, document_id: str) -> list[Record]:
        """Return the chunks of a document."""
        view = self.views.get(split_id(document_id)[0])
        return [] if view is None else view.parts_of(document_id)


def _refs_to(reach: _Reach, document_id: str, deadline: Deadline) -> Iterator[DocumentRef]:
    """Yield the references to a document and to its chunks, living or not."""
    for target, source in deadline.rows(_links_to(reach, document_id, deadline)):
        entry = reach.get(source)
        if entry is None or document_id_of(entry.header) == document_id:
            continue
        for ref, relation in _refs_of(reach, entry):
            if relation.target_id == target:
                yield ref


def _links_to(reach: _Reach, document_id: str, deadline: Deadline) -> Iterator[tuple[str, str]]:
    """Yield the target and the source of every link to a document or one of its chunks."""
    targets = [document_id, *(one.header.id for one in reach.parts_of(document_id))]
    prefix = f"{document_id}."
    for view in reach.views.values():
        named = (one for one in deadline.rows(view.incoming) if one.startswith(prefix))
        gone = (one for one in named if reach.get(one) is None)
        for target in dict.fromkeys([*targets, *gone]):
            for source in sorted(view.incoming.get(target, {})):
                yield target, source


def _refs_of(reach: _Reach, entry: Record) -> Iterator[tuple[DocumentRef, Relation]]:
    for relation in entry.header.relations:
        document_id = _document_of(reach, relation.target_id)
        if document_id is None or document_id_of(entry.header) == document_id:
            continue
        named = (relation.metadata or {}).get(CHUNK_ID)
        chunk_id = named if isinstance(named, str) else None
        if relation.target_id != document_id:
            chunk_id = relation.target_id
        yield (
            DocumentRef(
                entry_id=entry.header.id,
                document_id=document_id,
                type=relation.type,
                weight=relation.weight,
                chunk_id=chunk_id or UNSET,
            ),
            relation,
        )


def _document_of(reach: _Reach, target_id: str) -> str | None:
    target = reach.get(target_id)
    if target is not None:
        is_document = target.header.kind is Kind.DOCUMENT
        return target_id if is_document else document_id_of(target.header)
    # The id of a chunk begins with that of its document, also after the chunk is gone.
    owner = reach.get(target_id.rpartition(".")[0])
    return owner.header.id if owner is not None and owner.header.kind is Kind.DOCUMENT else None


class _Archived:
    """The last texts of archived chunks, read once for each project."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._texts: dict[str, dict[str, str]] = {}

    def text(self, document_id: str, chunk_id: str) -> str:
        """Return the last text of a chunk, or nothing."""
        project, _ = split_id(document_id)
        if project not in self._texts:
            self._texts[project] = self._read(project)
        return self._texts[project].get(chunk_id, "")

    def _read(self, project: str) -> dict[str, str]:
        found = self._call.store_of(project).archive.entries(self._call.deadline)
        return {
            str(one.entry["id"]): str(one.entry["body"].get("text", ""))
            for one in found
            if one.entry.get("kind") == Kind.CHUNK.value
        }


def _holder(reach: _Reach, document_id: str, text: str) -> str | None:
    """Return the one chunk of a document that holds a text, or None."""
    wanted = " ".join(text.split())
    if not wanted:
        return None
    holders = [
        one.header.id
        for one in reach.parts_of(document_id)
        if wanted in " ".join(one.document()["body"]["text"].split())
    ]
    return holders[0] if len(holders) == 1 else None


def _repair(call: Call, broken: list[BrokenRef]) -> int:
    moved = {
        (one.entry_id, one.chunk_id): one.moved_to for one in broken if one.moved_to is not UNSET
    }
    if not moved:
        return 0

    def plan(draft: Draft) -> int:
        repaired = 0
        for entry_id in dict.fromkeys(entry_id for entry_id, _ in moved):
            record = draft.get(entry_id)
            if record is None or not may_edit(draft.right, record.header):
                continue
            document, count = _redirected(draft.shown(record), entry_id, moved)
            if count:
                draft.put(document)
                repaired += count
        return repaired

    return call.commit(plan)


def _redirected(
    document: Document, entry_id: str, moved: dict[tuple[str, str], str]
) -> tuple[Document, int]:
    relations, count = [], 0
    for relation in document.get("relations", []):
        metadata = relation.get("metadata") or {}
        by_target = moved.get((entry_id, relation["targetId"]))
        by_name = moved.get((entry_id, str(metadata.get(CHUNK_ID))))
        if by_target is not None:
            relations.append({**relation, "targetId": by_target})
        elif by_name is not None:
            relations.append({**relation, "metadata": {**metadata, CHUNK_ID: by_name}})
        else:
            relations.append(relation)
            continue
        count += 1
    return {**document, "relations": relations}, count
