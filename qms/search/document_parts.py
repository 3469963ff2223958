"""Keeps one document from filling the results: only its best chunks stay."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from qms.memory.entry import Header
from qms.memory.parts import document_id_of
from qms.search.hits import Hits

CHUNKS_OF_A_DOCUMENT = 2
"""How many chunks of one document are among the results, unless a filter names kinds."""


def limit_parts(hits: Hits, chunks: Iterable[tuple[int, Header]]) -> Hits:
    """Return the hits, best first, without further chunks of a document that has its share.

    `chunks` are the rows of hits that are chunks, best first.
    """
    seen = Counter[str]()
    dropped: list[int] = []
    for row, header in chunks:
        owner = document_id_of(header)
        if owner is not None:
            seen[owner] += 1
            if seen[owner] > CHUNKS_OF_A_DOCUMENT:
                dropped.append(row)
    return hits.take(np.delete(np.arange(len(hits)), dropped)) if dropped else hits
