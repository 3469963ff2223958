"""Caches the vectors of recent queries: agents repeat the same queries."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

CACHED_QUERIES = 1024
"""1.5 MB at 384 dimensions, and at most 4 KiB of text each."""

EmbedText = Callable[[str], NDArray[np.float32]]


def remember(embed: EmbedText, most: int = CACHED_QUERIES) -> EmbedText:
    """Return the function with a cache of its `most` latest vectors, each read-only."""

    @lru_cache(maxsize=most)
    def embed_once(text: str) -> NDArray[np.float32]:
        vector = embed(text)
        vector.setflags(write=False)
        return vector

    return embed_once
