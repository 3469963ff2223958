"""Remembering the vectors of the latest queries: agents ask the same thing again and again."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

CACHED_QUERIES = 1024
"""At 384 dimensions 1.5 MB, and at most 4 KiB of text each."""

EmbedText = Callable[[str], NDArray[np.float32]]


def remember(embed: EmbedText, most: int = CACHED_QUERIES) -> EmbedText:
    """Return the function with its `most` latest answers kept, each made read-only."""

    @lru_cache(maxsize=most)
    def embed_once(text: str) -> NDArray[np.float32]:
        vector = embed(text)
        vector.setflags(write=False)
        return vector

    return embed_once
