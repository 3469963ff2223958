"""BM25 as tantivy computes it, for documents in the overlay.

Field lengths are rounded as tantivy stores them in one byte, and phrases are counted by its rule,
so that a pending document has the score that it will have once it is committed.
"""

from bisect import bisect_right
from collections.abc import Sequence
from math import log

K1 = 1.2
B = 0.75

_EXACT_LENGTHS = 24


def _stored_lengths() -> list[int]:
    # One byte per length: the first values exact, then three bits of mantissa and a shift.
    lengths = list(range(_EXACT_LENGTHS))
    for code in range(256 - _EXACT_LENGTHS):
        mantissa, shift = code & 7, (code >> 3) - 1
        lengths.append(_EXACT_LENGTHS + (mantissa if shift < 0 else (mantissa | 8) << shift))
    return lengths


_STORED_LENGTHS = _stored_lengths()


def stored_length(length: int) -> int:
    """Return the length that tantivy stores for a field with that many tokens."""
    return _STORED_LENGTHS[bisect_right(_STORED_LENGTHS, length) - 1]


def idf(holders: int, documents: int) -> float:
    """Return the inverse document frequency of a term in `holders` of `documents`."""
    return log(1 + (documents - holders + 0.5) / (holders + 0.5))


def norm_line(average: float) -> tuple[float, float]:
    """Return the length norm of BM25's denominator: its value at length 0, and per token.

    A term that occurs f times in a field counts (K1 + 1) f / (f + norm).
    """
    return K1 * (1 - B), K1 * B / average


def phrase_frequency(positions: Sequence[Sequence[int]], slop: int, rarest: int = 0) -> int:
    """Return how often the terms at these sorted positions form the phrase.

    With a slop, two terms may be up to that many places apart from it, in either direction; longer
    phrases are exact. `rarest` is the index of the term that tantivy starts from: it decides which
    of two overlapping pairs counts.
    """
    if slop and len(positions) == 2:
        shifted = [[place + 1 for place in positions[0]], positions[1]]
        return _loose_pairs(shifted[rarest], shifted[1 - rarest], slop)
    starts = set(positions[0])
    for offset, places in enumerate(positions[1:], 1):
        starts.intersection_update([place - offset for place in places])
    return len(starts)


def _loose_pairs(left: Sequence[int], right: Sequence[int], slop: int) -> int:
    # As tantivy does, go through both lists once: a position on the right uses the last free
    # position on the left before it, or one after it within the slop.
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
