"""From entries to the vectors that stand for them, and by what those are known again."""

import math
import zlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from qms.domain.ports import Embedder
from qms.index.dates import is_only_a_date
from qms.index.documents import IndexDocument, index_document
from qms.index.vector import Embedded
from qms.store.given_vectors import given_vector
from qms.store.view import Record, StoreView

if TYPE_CHECKING:  # the types of what an embedder returns
    import numpy as np
    from numpy.typing import NDArray


def mark_of(line: bytes) -> int:
    """Return by what an entry's vectors are known to belong to this line."""
    return zlib.crc32(line) | len(line) << 32


def marks_of(records: Sequence[Record]) -> "NDArray[np.uint64]":
    """Return the mark of each entry's line."""
    import numpy as np  # after the port answers

    lines = [record.line for record in records]
    sums = np.fromiter(map(zlib.crc32, lines), np.uint64, len(lines))
    return sums | np.fromiter(map(len, lines), np.uint64, len(lines)) << np.uint64(32)


def embedded_text(document: IndexDocument) -> str:
    """Return the text whose meaning stands for an entry; a title that says more belongs to it."""
    title = document.own_title
    return f"{title}\n{document.text}" if title and not is_only_a_date(title) else document.text


def embed_records(records: Iterable[Record], embedder: Embedder) -> Iterable[Embedded]:
    """Yield the vectors of entries; none where nothing in a text has a direction."""
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
    """Say whether vectors were made of what the view shows."""
    record = view.get(one.entry_id)
    return record is not None and mark_of(record.line) == one.mark


def has_vectors(one: Embedded) -> bool:
    """Say whether anything came of a text."""
    return len(one.vectors) > 0  # type: ignore[arg-type]  # an array or a list


def _usable(rows: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Return the rows with a direction: signs that say nothing to the model may give zeros."""
    return rows[[0.0 < float(row @ row) < math.inf for row in rows]]
