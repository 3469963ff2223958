"""Small real stores for search: a view, its indexes in RAM, and vectors that a test spells out."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from qms.disk.disk import Disk
from qms.index.columns.columns import Columns
from qms.index.columns.traits import Traits
from qms.index.indexed_entry import Facets, index_document
from qms.index.slots import Slots
from qms.index.sources import Source
from qms.index.vectors.vector_index import VectorIndex
from qms.index.words.keyword_index import KeywordIndex
from qms.memory.lines import encode_line
from qms.memory.validation import complete, normalise
from qms.search.hits import CLASSES, Column, Exact, Hits
from qms.store.view import Record, bulk_view

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
DIMENSION = 4
MODEL = "directions"

Vector = Sequence[float]


class Directions:
    """An embedder that knows the vector of each text it will be asked for."""

    model_id = MODEL
    dimension = DIMENSION

    def __init__(self, vectors: Mapping[str, Vector]) -> None:
        self._vectors = vectors

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self._vectors[text] for text in texts], np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.embed([text])[0]
        return vector

    def pieces(self, text: str) -> list[str]:
        return [text]

    def familiarity(self, text: str) -> float:
        return 1.0


def record(local_id: str, text: str, *, project: str = "p", **fields: Any) -> Record:
    """Return an entry: a turn when a conversation is given, else a note."""
    own = ("conversationId", "role", "ordinal")
    turn: dict[str, Any] = {key: fields.pop(key) for key in own if key in fields}
    document: dict[str, Any] = {
        "kind": "conversationTurn" if turn else "note",
        "body": {"content": text, **turn} if turn else {"text": text},
        **fields,
    }
    whole = complete(document, project=project, local_id=local_id, instant=NOW)
    return Record.from_line(encode_line(normalise(whole)))


def make_source(
    records: Sequence[Record],
    vectors: Mapping[str, Vector] | None = None,
    *,
    project: str = "p",
    **given: Any,
) -> Source:
    """Return a store of these entries; vectors are by local id."""
    documents = [index_document(one.header, one.document()) for one in records]
    columns = Columns()
    columns.apply(documents)
    keyword = KeywordIndex.open(None, disk=Disk())
    keyword.rebuild(documents, 1)
    index = None
    if vectors is not None:
        index = VectorIndex(DIMENSION, MODEL, slots=columns.slots)
        for local_id, vector in vectors.items():
            index.put(f"{project}:{local_id}", np.array([vector], np.float32))
    view = bulk_view(project, records, 1)
    return Source(view=view, columns=columns, keyword=keyword, vectors=index, **given)


def make_hits(records: Sequence[Record], exact: Sequence[Exact | None] = (), **scores: Any) -> Hits:
    """Return hits of one store with these columns."""
    columns: dict[str, Column] = {
        name: np.array(column, np.float64) for name, column in scores.items()
    }
    return Hits(
        tables=[Slots(one.header.id for one in records)],
        sources=np.zeros(len(records), np.int64),
        slots=np.arange(len(records)),
        classes=np.array([CLASSES[how] for how in exact or [None] * len(records)], np.int64),
        scores=columns,
    )


def traits_of(records: Sequence[Record], usage: Sequence[int] = ()) -> Traits:
    """Return what the columns of a store say of these entries."""
    rows, traits = np.arange(len(records)), Traits.empty(len(records))
    Columns.of(Facets(header=one.header) for one in records).fill_traits(traits, rows, rows)
    traits.usage[: len(usage)] = usage
    return traits


def changed(one: Record, **fields: Any) -> Record:
    """Return the record with other header fields."""
    return msgspec.structs.replace(one, header=msgspec.structs.replace(one.header, **fields))
