"""Cuts a long text into overlapping pieces, each short enough for one vector."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import msgspec


class Word(NamedTuple):
    """The position of a word in the text, and its number of tokens."""

    start: int
    end: int
    tokens: int


class PieceShape(msgspec.Struct, frozen=True, kw_only=True):
    """How long pieces are, in tokens, and how many a text may have."""

    tokens: int = 200
    overlap: int = 20
    most: int = 64
    longest: int = 254
    """The longest input of the model, for texts that would need more than `most` pieces."""


def is_surely_short(text: str, shape: PieceShape) -> bool:
    """Say whether the text is one piece by its size: no token is shorter than a byte."""
    return len(text) <= shape.tokens and len(text.encode(errors="replace")) <= shape.tokens


def cut(text: str, words: Sequence[Word], shape: PieceShape) -> list[str]:
    """Return the pieces of a text, cut between words.

    A text beyond `most` pieces gets longer ones. If that is not enough, they are spread over it
    evenly with gaps, so that its end counts as much as its beginning.
    """
    if not words:
        return []
    ends = list(accumulate(word.tokens for word in words))
    begins = [0, *ends[:-1]]
    size, step = _stretch(ends[-1], shape)
    pieces: list[str] = []
    first = 0
    while len(pieces) < shape.most:
        # A word longer than the size is one piece; the embedder cuts it.
        after = max(first + 1, bisect_right(ends, begins[first] + size))
        pieces.append(text[words[first].start : words[after - 1].end])
        if after >= len(words):
            break
        following = max(first + 1, bisect_left(begins, begins[first] + step))
        first = min(following, after) if step < size else min(following, len(words) - 1)
    return pieces


def _stretch(total: int, shape: PieceShape) -> tuple[int, int]:
    """Return the length of a piece and the distance between the starts of two pieces."""
    step = shape.tokens - shape.overlap
    if total <= shape.tokens + step * (shape.most - 1):
        return shape.tokens, step
    size = max(shape.tokens, shape.longest)
    spread = -(-(total - size) // (shape.most - 1))
    return size, max(size - shape.overlap, spread)
