"""Builds stores from memory sets in process: a view and its indexes in RAM."""

from datetime import UTC, datetime, timedelta
from typing import Any

from qms.disk.disk import Disk
from qms.index.columns.columns import Columns
from qms.index.embedding import embedded_text
from qms.index.indexed_entry import IndexDocument, index_document
from qms.index.sources import Source
from qms.index.vectors.vector_index import Embedded, VectorIndex
from qms.index.words.keyword_index import KeywordIndex
from qms.memory.lines import encode_line
from qms.memory.validation import complete, normalise
from qms.store.view import Record, bulk_view
from tools.benchmarks.retrieval_entries import Form, entries_of
from tools.benchmarks.retrieval_sets import MemorySet
from tools.benchmarks.retrieval_vectors import KeptVectors

PROJECT = "bench"
START = datetime(2026, 1, 1, tzinfo=UTC)


def make_source(given: MemorySet, vectors: KeptVectors | None, form: Form) -> Source:
    """Return a store with the memories of a set, in their order."""
    records = [_record(entry, n) for n, entry in enumerate(entries_of(given, PROJECT, form))]
    documents = [index_document(record.header, record.document()) for record in records]
    columns = Columns()
    columns.apply(documents)
    keyword = KeywordIndex.open(None, disk=Disk())
    keyword.rebuild(documents, sequence=1)
    return Source(
        view=bulk_view(PROJECT, records, 1),
        columns=columns,
        keyword=keyword,
        vectors=None if vectors is None else _vector_index(documents, columns, vectors),
    )


def _record(entry: dict[str, Any], number: int) -> Record:
    instant = START + timedelta(seconds=number)
    local_id = entry["id"].partition(":")[2]
    document = complete(entry, project=PROJECT, local_id=local_id, instant=instant)
    return Record.from_line(encode_line(normalise(document)))


def _vector_index(
    documents: list[IndexDocument], columns: Columns, vectors: KeptVectors
) -> VectorIndex:
    embedder = vectors.embedder
    index = VectorIndex(embedder.dimension, embedder.model_id, slots=columns.slots)
    rows = vectors.of_texts([embedded_text(document) for document in documents])
    index.put_all(
        Embedded(document.id, found)
        for document, found in zip(documents, rows, strict=True)
        if len(found)
    )
    return index
