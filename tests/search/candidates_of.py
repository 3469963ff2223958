"""Hand-made candidates for the stages that work on numbers alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qms.index.slots import Slots
from qms.index.vectors.cosine_stats import Moments
from qms.search.hits import Candidates


def candidates(
    ids: str,
    text: Sequence[float],
    vector: Sequence[float] | None = None,
    **given: Any,
) -> Candidates:
    """Return candidates, one for each letter, outside of conversations unless given."""
    count = len(ids)
    nobody = [-1] * count

    def rows(name: str) -> Any:
        return np.array(given.get(name, nobody), np.int64)

    return Candidates(
        slots=np.arange(count),
        table=Slots(f"p:{letter}" for letter in ids),
        text=np.array(text, np.float64),
        vector=np.array([np.nan] * count if vector is None else vector, np.float64),
        graph=np.array(given.get("graph", [0.0] * count), np.float64),
        exact={row: how for row, how in enumerate(given.get("exact", ())) if how is not None},
        conversation=rows("conversation"),
        previous=rows("previous"),
        following=rows("following"),
        roles=list(given.get("roles", [None] * count)),
        ideal_text=given.get("ideal_text", 1.0),
        moments=given.get("moments", Moments(0.0, 0.0, 0)),
    )
