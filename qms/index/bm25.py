"""BM25 exactly as tantivy computes it, for documents that are not in its files yet.

Lengths are rounded as tantivy stores them in one byte, and positions of a phrase are counted by
its rule, so that a pending document scores what it will score once it is committed.
"""

from bisect import bisect_right
from collections.abc import Sequence
from math import log

K1 = 1.2
B = 0.75

_EXACT_LENGTHS = 24


def _stored_lengths() -> list[int]:
    # One byte a length: the first values as they are, then three bits of mantissa, the rest shift.
    lengths = list(range(_EXACT_LENGTHS))
    for code in range(256 - _EXACT_LENGTHS):
        mantissa, shift = code & 7, (code >> 3) - 1
        lengths.append(_EXACT_LENGTHS + (mantissa if shift < 0 else (mantissa | 8) << shift))
    return lengths


_STORED_LENGTHS = _stored_lengths()


def stored_length(length: int) -> int:
    """Return the length that tantivy remembers of a field with that many tokens."""
    return _STORED_LENGTHS[bisect_right(_STORED_LENGTHS, length) - 1]


def idf(holders: int, documents: int) -> float:
    """Return the weight of a term that `holders` of so many documents hold."""
    return log(1 + (documents - holders + 0.5) / (holders + 0.5))


def norm_line(average: float) -> tuple[float, float]:
    """Return what is added to a term's frequency below the line, for length 0 and for each token.

    A term that occurs f times in a field of that stored length counts (K1 + 1) f / (f + norm).
    """
    return K1 * (1 - B), K1 * B / average


def phrase_frequency(positions: Sequence[Sequence[int]], slop: int, rarest: int = 0) -> int:
    """Return how often the terms at these sorted positions follow each other.

    With a slop two terms may be that many places away from following each other, in either
    direction; longer phrases are exact. `rarest` is the index of the term that tantivy starts
    from: which of two overlapping pairs it counts depends on it.
    """
    if slop and len(positions) == 2:
        shifted = [[place + 1 for place in positions[0]], positions[1]]
        return _loose_pairs(shifted[rarest], shifted[1 - rarest], slop)
    starts = set(positions[0])
    for offset, places in enumerate(positions[1:], 1):
        starts.intersection_update([place - offset for place in places])
    return len(starts)


def _loose_pairs(left: Sequence[int], right: Sequence[int], slop: int) -> int:
    # Tantivy walks both lists once: a place on the right takes the last free place on the left
    # before it, or one after it that the slop still reaches.
    ahead, count = 0, 0
    for place in right:
        while ahead < len(left) and left[ahead] < place - slop:
            ahead += 1
        if ahead == len(left):
            break
        if left[ahead] > place + slop:
            continue
        while ahead + 1 < len(left) and left[ahead + 1] <= place:
            ahead += 1
        count += 1
        ahead += 1
    return count
