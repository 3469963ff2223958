"""Keeps one document from filling the results: only its best chunks stay."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from qms.index.sources import Source
from qms.memory.parts import document_id_of
from qms.search.hits import Hits

CHUNKS_OF_A_DOCUMENT = 2
"""How many chunks of one document are among the results, unless a filter names kinds."""


def limit_parts(hits: Hits, sources: Sequence[Source]) -> Hits:
    """Return the hits, best first, without further chunks of a document that has its share."""
    seen = Counter[str]()
    kept: list[int] = []
    for row, (number, entry_id) in enumerate(zip(hits.sources.tolist(), hits.ids, strict=True)):
        record = sources[number].view.get(entry_id)
        owner = document_id_of(record.header) if record is not None else None
        if owner is not None:
            seen[owner] += 1
            if seen[owner] > CHUNKS_OF_A_DOCUMENT:
                continue
        kept.append(row)
    return hits if len(kept) == len(hits) else hits.take(np.array(kept, np.int64))
