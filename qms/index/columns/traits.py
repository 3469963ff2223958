"""Traits: the columns by which hits are weighed, such as priority, confidence and usage."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qms.index.arrays import BoolArray, IntArray

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Traits(NamedTuple):
    """One row per entry; tiers and retentions are indexes into their enumerations."""

    created: IntArray
    """Microseconds since 1970."""
    updated: IntArray
    priority: IntArray
    confidence: npt.NDArray[np.float64]
    tier: IntArray
    retention: IntArray
    pinned: BoolArray
    usage: IntArray
    """How often it was read."""

    @classmethod
    def empty(cls, count: int) -> "Traits":
        """Return rows of zeros."""
        numbers = (np.zeros(count, np.int64) for _ in range(6))
        created, updated, priority, tier, retention, usage = numbers
        confidence, pinned = np.zeros(count), np.zeros(count, np.bool_)
        return cls(created, updated, priority, confidence, tier, retention, pinned, usage)


def microseconds(moment: datetime) -> int:
    """Return microseconds since 1970, without the rounding of a float."""
    return (moment - _EPOCH) // _MICROSECOND
