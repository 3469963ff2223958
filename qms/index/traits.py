"""Traits: what an entry is, beside what it says, a column each; what hits are weighed by."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qms.index.arrays import BoolArray, IntArray

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Traits(NamedTuple):
    """A row for each entry; tiers and retentions are places in their enumerations."""

    updated: IntArray
    """Microseconds since 1970."""
    priority: IntArray
    confidence: npt.NDArray[np.float64]
    tier: IntArray
    retention: IntArray
    pinned: BoolArray
    usage: IntArray
    """How often it was read."""

    @classmethod
    def empty(cls, count: int) -> "Traits":
        """Return rows to be filled."""
        numbers = (np.zeros(count, np.int64) for _ in range(5))
        updated, priority, tier, retention, usage = numbers
        confidence, pinned = np.zeros(count), np.zeros(count, np.bool_)
        return cls(updated, priority, confidence, tier, retention, pinned, usage)


def microseconds(moment: datetime) -> int:
    """Return microseconds since 1970, without the rounding that a float would bring."""
    return (moment - _EPOCH) // _MICROSECOND
