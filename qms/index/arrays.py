"""Array types, the one way in which arrays of the indexes grow, and products of their rows."""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]

_Scalar = TypeVar("_Scalar", bound=np.generic)

LEAST_ROOM = 256


def room_for(needed: int, capacity: int) -> int:
    """Return a capacity that holds `needed` rows, at least twice the one before if it grows."""
    return capacity if needed <= capacity else max(needed, 2 * capacity, LEAST_ROOM)


def grown(array: npt.NDArray[_Scalar], capacity: int, fill: Any = 0) -> npt.NDArray[_Scalar]:
    """Return an array of `capacity` rows that begins like `array`, the rest filled.

    Rows of zero are not written, so that they cost no memory before they are used.
    """
    shape = (capacity, *array.shape[1:])
    larger = np.zeros(shape, array.dtype) if fill == 0 else np.full(shape, fill, array.dtype)
    larger[: len(array)] = array
    return larger


def products(rows: npt.NDArray[_Scalar], vector: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """Return the product of each row with a vector.

    `rows @ vector` wakes a thread for each core, and they spin on after a sum that takes
    microseconds: a third of the CPU of a search went there.
    """
    found: npt.NDArray[_Scalar] = np.vecdot(rows, vector)
    return found
