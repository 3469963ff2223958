"""The token budget: selects the results that fit into an answer."""

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

BYTES_PER_TOKEN = 4

_Item = TypeVar("_Item")


def tokens(size_bytes: int) -> int:
    """Return the estimated number of tokens of a text of this size."""
    return math.ceil(size_bytes / BYTES_PER_TOKEN)


def fit(
    items: Sequence[_Item],
    max_tokens: int | None,
    size_of: Callable[[_Item], int],
    *,
    spent_bytes: int = 0,
) -> tuple[list[_Item], int]:
    """Return the items that fit, in order, and how many were left out.

    An item that is too large does not exclude smaller ones after it. `spent_bytes` is the size of
    the answer without items.
    """
    if max_tokens is None:
        return list(items), 0
    kept: list[_Item] = []
    for item in items:
        size = size_of(item)
        if tokens(spent_bytes + size) <= max_tokens:
            kept.append(item)
            spent_bytes += size
    return kept, len(items) - len(kept)
