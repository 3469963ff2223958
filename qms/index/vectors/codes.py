"""Encodes vectors with 16 bits per component: a high byte for the scan, a low byte for precision.

A component c of a unit vector is stored as a high byte round(127 c) and a low byte with 254 steps
of the remainder. The high bytes alone find candidates; both together give a cosine that differs
from float32 by about 0.00001. This takes half the memory of float32, and the scanned half is not
stored twice.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from qms.index.arrays import FloatArray, products
from qms.memory.errors import invalid

ByteArray = npt.NDArray[np.uint8]
LowArray = npt.NDArray[np.int8]

_HIGH_STEPS = 127.0
_LOW_STEPS = 254.0
_SIGN = 0x80
"""The scanned bytes are unsigned with zero at 128, as faiss stores signed bytes."""

_PLAIN_LEAST, _PLAIN_MOST = 1e-12, 1e12
"""Squared lengths that single precision represents without loss; NaN is in no interval."""

MAX_PIECES = 64
"""How many vectors one entry may have."""


def unit_vectors(vectors: Any, dimension: int, field: str = "embedding") -> FloatArray:
    """Return one or several vectors normalised to length 1, one per row.

    Raises:
        InvalidInputError: names `field`: not numbers, not `dimension` numbers, a number that is
            not finite, only zeros, no vector, or more than an entry may have.
    """
    rows = np.atleast_2d(_numbers(vectors, field))
    if rows.ndim != 2 or rows.shape[1] != dimension:
        raise invalid(field, f"has {rows.shape[-1]} numbers, the model's vectors have {dimension}")
    if not 1 <= len(rows) <= MAX_PIECES:
        raise invalid(field, f"{len(rows)} vectors, an entry has 1 to {MAX_PIECES}")
    if not np.isfinite(rows).all():
        raise invalid(field, "every number must be finite")
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not largest.all():
        raise invalid(field, "a vector of zeros has no direction")
    rows = rows / largest  # so that squares neither overflow nor vanish
    unit: FloatArray = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def unit_query(vector: Any, dimension: int, field: str = "query.embedding") -> FloatArray:
    """Return one vector normalised to length 1.

    Raises:
        InvalidInputError: as `unit_vectors`, or there are several.
    """
    if isinstance(vector, np.ndarray) and vector.dtype.kind == "f" and vector.ndim == 1:
        with np.errstate(over="ignore"):  # a square that overflows is handled below
            square = float(vector @ vector)  # after a scan the CPU caches are cold: use few calls
        if len(vector) == dimension and _PLAIN_LEAST < square < _PLAIN_MOST:
            plain: FloatArray = (vector * vector.dtype.type(square**-0.5)).astype(np.float32)
            return plain
    rows = unit_vectors(vector, dimension, field)
    if len(rows) != 1:
        raise invalid(field, "must be one vector")
    first: FloatArray = rows[0]
    return first


def encode(unit: FloatArray) -> tuple[ByteArray, LowArray]:
    """Return the high and the low bytes of unit vectors."""
    scaled = unit * _HIGH_STEPS
    high = np.rint(scaled)
    low = np.rint((scaled - high) * _LOW_STEPS).astype(np.int8)
    return (high + _SIGN).astype(np.uint8), low


def decode(high: ByteArray, low: LowArray) -> FloatArray:
    """Return the vectors of these bytes."""
    vectors = (high ^ _SIGN).view(np.int8).astype(np.float32)
    vectors += low.astype(np.float32) / np.float32(_LOW_STEPS)
    vectors /= np.float32(_HIGH_STEPS)
    return vectors


def cosines(high: ByteArray, low: LowArray | None, query: FloatArray) -> FloatArray:
    """Return the cosine of each encoded vector with a unit query; coarse without low bytes."""
    coarse = products(
        (high ^ _SIGN).view(np.int8).astype(np.float32), query / np.float32(_HIGH_STEPS)
    )
    if low is None:
        return coarse
    fine = products(low.astype(np.float32), query / np.float32(_HIGH_STEPS * _LOW_STEPS))
    exact: FloatArray = coarse + fine
    return exact


def scan_query(query: FloatArray) -> FloatArray:
    """Return a query in whole numbers for the byte scan; it keeps the order of the scores."""
    largest = max(query.max(), -query.min())
    scaled: FloatArray = np.rint(query * np.float32(_HIGH_STEPS / largest))
    return scaled


def _numbers(vectors: Any, field: str) -> npt.NDArray[np.float64]:
    if isinstance(vectors, np.ndarray) and vectors.dtype.kind == "f":
        return vectors.astype(np.float64)
    if isinstance(vectors, list) and set(map(type, vectors)) == {float}:
        return np.array([vectors], np.float64)
    reason = "must be a list of numbers"
    if not isinstance(vectors, list | tuple):
        raise invalid(field, reason)
    items = vectors if any(isinstance(item, list | tuple) for item in vectors) else [vectors]
    for item in items:
        if not isinstance(item, list | tuple) or not all(type(n) in (int, float) for n in item):
            raise invalid(field, reason)
    try:
        return np.array(items, np.float64)
    except (OverflowError, ValueError):
        raise invalid(field, "every number must be finite, every vector equally long") from None
