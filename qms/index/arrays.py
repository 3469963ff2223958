"""Array types of the indexes, growth of arrays, and row products."""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]

_Scalar = TypeVar("_Scalar", bound=np.generic)

LEAST_ROOM = 256


def room_for(needed: int, capacity: int) -> int:
    """Return a capacity for `needed` rows; if it grows, at least twice the old one."""
    return capacity if needed <= capacity else max(needed, 2 * capacity, LEAST_ROOM)


def grown(array: npt.NDArray[_Scalar], capacity: int, fill: Any = 0) -> npt.NDArray[_Scalar]:
    """Return a copy of `array` with `capacity` rows; new rows are filled.

    Rows of zeros are not written, so that they use no memory before their first use.
    """
    shape = (capacity, *array.shape[1:])
    larger = np.zeros(shape, array.dtype) if fill == 0 else np.full(shape, fill, array.dtype)
    larger[: len(array)] = array
    return larger


def distinct(values: IntArray) -> IntArray:
    """Return the values in ascending order, each once; `np.unique` takes three times as long."""
    ordered = np.sort(values)
    is_first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def products(rows: npt.NDArray[_Scalar], vector: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """Return the product of each row with a vector.

    `rows @ vector` wakes a thread for each core, and they keep spinning after a sum of a few
    microseconds: that was a third of the CPU of a search.
    """
    found: npt.NDArray[_Scalar] = np.vecdot(rows, vector)
    return found
