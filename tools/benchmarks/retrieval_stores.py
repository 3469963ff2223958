"""Stores made of memory sets, in process: a view and its indexes in RAM."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from qms.codec.documents import complete, normalise
from qms.codec.lines import encode_line
from qms.domain.bodies import Kind
from qms.domain.entry import Document
from qms.fsio.disk import Disk
from qms.index.columns import Columns
from qms.index.documents import index_document
from qms.index.keyword import KeywordIndex
from qms.index.vector import Embedded, VectorIndex
from qms.search.sources import Source
from qms.store.view import Record, bulk_view
from tools.benchmarks.retrieval_sets import Item, MemorySet
from tools.benchmarks.retrieval_vectors import KeptVectors

PROJECT = "bench"
START = datetime(2026, 1, 1, tzinfo=UTC)


def make_source(given: MemorySet, vectors: KeptVectors | None, *, plain: bool) -> Source:
    """Return a store of the memories in their order; plain ones carry no conversation and role."""
    records = [_record(document) for document in _documents(given.docs, plain=plain)]
    documents = [index_document(record.header, record.document()) for record in records]
    columns = Columns()
    columns.apply(documents)
    keyword = KeywordIndex.open(None, disk=Disk())
    keyword.rebuild(documents, sequence=1)
    return Source(
        view=bulk_view(PROJECT, records, 1),
        columns=columns,
        keyword=keyword,
        vectors=None if vectors is None else _vector_index(given, columns, vectors),
    )


def entry_id(item: Item) -> str:
    """Return the id that a memory has in the store."""
    return f"{PROJECT}:{item.id}"


def _documents(items: list[Item], *, plain: bool) -> Iterator[Document]:
    for number, item in enumerate(items):
        if item.conversation_id is None:
            document: Document = {"kind": Kind.NOTE.value, "body": {"text": item.kept_text}}
        else:
            body = {"content": item.kept_text}
            if not plain:
                body |= {"conversationId": item.conversation_id, "role": item.role or ""}
            document = {"kind": Kind.CONVERSATION_TURN.value, "body": body}
        if item.title or item.when:
            document["title"] = item.title or item.when
        yield normalise(
            complete(
                document,
                project=PROJECT,
                local_id=item.id,
                instant=START + timedelta(seconds=number),
            )
        )


def _record(document: Document) -> Record:
    return Record.from_line(encode_line(document))


def _vector_index(given: MemorySet, columns: Columns, vectors: KeptVectors) -> VectorIndex:
    embedder = vectors.embedder
    index = VectorIndex(embedder.dimension, embedder.model_id, slots=columns.slots)
    rows = vectors.of_texts([item.kept_text for item in given.docs])
    index.put_all(
        Embedded(entry_id(item), found)
        for item, found in zip(given.docs, rows, strict=True)
        if len(found)
    )
    return index
