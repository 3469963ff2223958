"""Embeds entries, and marks which line each vector was computed from."""

import math
import zlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from qms.index.given_vectors import given_vector
from qms.index.indexed_entry import IndexDocument, index_document
from qms.index.vectors.vector_index import Embedded
from qms.memory.bodies import Kind
from qms.memory.parts import BEFORE
from qms.memory.ports import Embedder
from qms.store.view import Record, StoreView
from qms.text.dates import is_only_a_date

if TYPE_CHECKING:  # the types of what an embedder returns
    import numpy as np
    from numpy.typing import NDArray


def mark_of(line: bytes) -> int:
    """Return the mark of a line: vectors with the same mark were computed from it."""
    return zlib.crc32(line) | len(line) << 32


def marks_of(records: Sequence[Record]) -> "NDArray[np.uint64]":
    """Return the mark of each entry's line."""
    import numpy as np  # after the port answers

    lines = [record.line for record in records]
    sums = np.fromiter(map(zlib.crc32, lines), np.uint64, len(lines))
    return sums | np.fromiter(map(len, lines), np.uint64, len(lines)) << np.uint64(32)


def embedded_text(document: IndexDocument) -> str:
    """Return the text to embed: a title that adds something, and the words before a chunk."""
    title, text = document.own_title, document.text
    before = document.metadata.get(BEFORE) if document.header.kind is Kind.CHUNK else None
    if isinstance(before, str) and before:
        text = f"{before} {text}"
    return f"{title}\n{text}" if title and not is_only_a_date(title) else text


def embed_records(records: Iterable[Record], embedder: Embedder) -> Iterable[Embedded]:
    """Yield the vectors of entries; none where the model gives only zeros."""
    pieces: list[list[str]] = []
    given: list[tuple[Record, list[float] | None]] = []
    for record in records:
        document = record.document()
        own = given_vector(document, embedder.dimension)
        text = embedded_text(index_document(record.header, document))
        pieces.append([] if own else embedder.pieces(text))
        given.append((record, own))
    vectors = embedder.embed([piece for found in pieces for piece in found])
    start = 0
    for (record, own), found in zip(given, pieces, strict=True):
        rows: object = [own] if own else _usable(vectors[start : start + len(found)])
        start += len(found)
        yield Embedded(record.header.id, rows, mark_of(record.line))


def is_current(view: StoreView, one: Embedded) -> bool:
    """Say whether vectors belong to the entry's line in the view."""
    record = view.get(one.entry_id)
    return record is not None and mark_of(record.line) == one.mark


def has_vectors(one: Embedded) -> bool:
    """Say whether there is any vector."""
    return len(one.vectors) > 0  # type: ignore[arg-type]  # an array or a list


def _usable(rows: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Return the rows that are not zero: unknown signs may give zeros."""
    return rows[[0.0 < float(row @ row) < math.inf for row in rows]]
