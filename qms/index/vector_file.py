"""The file of a vector index.

    magic 8 bytes, head (lengths and numbers), model id, ids one a line, vectors an id, marks,
    sum and squares, high bytes, low bytes, crc32 of everything before it

All numbers are little-endian. A checksum over the whole makes any flipped byte a refusal; so do
another model, another dimension and a length that does not fit the head.
"""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from qms.fsio.disk import Disk
from qms.index.arrays import IntArray
from qms.index.vector_codes import MAX_PIECES, ByteArray, LowArray

_MAGIC = b"QMSVECT\n"
_FORMAT = 1
_HEAD = struct.Struct("<IIQQQQI")
_CHECKSUM = struct.Struct("<I")
_CHUNK_ROWS = 4096


class Refusal(msgspec.Struct, frozen=True):
    """Why a file is not used."""

    reason: str


class VectorContent(msgspec.Struct, frozen=True, kw_only=True):
    """What a file holds."""

    model_id: str
    sequence: int
    ids: list[str]
    lengths: npt.NDArray[np.uint8]
    """How many vectors each id has; they stand together, in the order of the ids."""
    marks: npt.NDArray[np.uint64]
    total: npt.NDArray[np.float64]
    squares: npt.NDArray[np.float64]
    high: ByteArray
    low: LowArray
    rows: IntArray
    """Which rows of the bytes are meant."""


def write_vectors(path: Path, disk: Disk, content: VectorContent) -> None:
    """Write a whole file so that a reader sees the old or the new one.

    Raises:
        OSError: the old file is as it was.
    """
    temporary = path.with_name(path.name + ".tmp")
    disk.write_new(temporary, _with_checksum(_parts(content)))
    disk.replace(temporary, path)
    disk.sync_folder(path.parent)


def read_vectors(
    path: Path, disk: Disk, *, dimension: int, model_id: str
) -> VectorContent | Refusal:
    """Return what a file holds, or why it cannot be used."""
    try:
        data = disk.read(path)
    except OSError as error:
        return Refusal(f"cannot be read: {error.strerror}")
    reason = _damage(data) or _misfit(data, dimension, model_id)
    return Refusal(reason) if reason else _parsed(data)


def _damage(data: bytes) -> str | None:
    least = len(_MAGIC) + _HEAD.size + _CHECKSUM.size
    if len(data) < least or not data.startswith(_MAGIC):
        return "not a file of vectors, or cut short"
    (checksum,) = _CHECKSUM.unpack_from(data, len(data) - _CHECKSUM.size)
    if zlib.crc32(memoryview(data)[: -_CHECKSUM.size]) != checksum:
        return "the checksum does not fit: the file is damaged or cut short"
    return None


def _misfit(data: bytes, dimension: int, model_id: str) -> str | None:
    layout, found_dimension, *_, model_bytes = _HEAD.unpack_from(data, len(_MAGIC))
    start = len(_MAGIC) + _HEAD.size
    found_model = data[start : start + model_bytes].decode("utf-8", "replace")
    if layout != _FORMAT:
        return f"format {layout}, this version reads {_FORMAT}"
    if found_model != model_id:
        return f"made with the model {found_model!r}, the present one is {model_id!r}"
    if found_dimension != dimension:
        return f"vectors of {found_dimension} numbers, the model's have {dimension}"
    return None


def _parsed(data: bytes) -> VectorContent | Refusal:
    _, dimension, entries, pieces, sequence, id_bytes, model_bytes = _HEAD.unpack_from(
        data, len(_MAGIC)
    )
    reader = _Reader(data, len(_MAGIC) + _HEAD.size)
    bytes_each = 9 * entries + 8 * dimension * (dimension + 1) + 2 * dimension * pieces
    if reader.left != model_bytes + id_bytes + bytes_each + _CHECKSUM.size:
        return Refusal("its length does not fit its head")
    model_id = reader.take(np.uint8, model_bytes).tobytes().decode("utf-8")
    names = reader.take(np.uint8, id_bytes).tobytes().decode("utf-8")
    ids = names.split("\n") if names else []
    lengths = reader.take(np.uint8, entries)
    if len(ids) != entries or len(set(ids)) != entries or not _fits(lengths, pieces):
        return Refusal("its ids do not fit its head")
    return VectorContent(
        model_id=model_id,
        sequence=sequence,
        ids=ids,
        lengths=lengths,
        marks=reader.take("<u8", entries),
        total=reader.take("<f8", dimension),
        squares=reader.take("<f8", dimension * dimension).reshape(dimension, dimension),
        high=reader.take(np.uint8, pieces * dimension).reshape(pieces, dimension),
        low=reader.take(np.int8, pieces * dimension).reshape(pieces, dimension),
        rows=np.arange(pieces),
    )


def _fits(lengths: npt.NDArray[np.uint8], pieces: int) -> bool:
    in_bounds = bool(np.all((lengths >= 1) & (lengths <= MAX_PIECES)))
    return in_bounds and int(lengths.sum(dtype=np.int64)) == pieces


class _Reader:
    """Takes one array after the other out of bytes, without copying them."""

    def __init__(self, data: bytes, offset: int) -> None:
        self._data = data
        self._offset = offset

    @property
    def left(self) -> int:
        return len(self._data) - self._offset

    def take(self, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        taken = np.frombuffer(self._data, dtype, count, self._offset)
        self._offset += taken.nbytes
        return taken


def _parts(content: VectorContent) -> Iterator[bytes]:
    model = content.model_id.encode("utf-8")
    names = "\n".join(content.ids).encode("utf-8")
    yield _MAGIC
    yield _HEAD.pack(
        _FORMAT,
        len(content.total),
        len(content.ids),
        len(content.rows),
        content.sequence,
        len(names),
        len(model),
    )
    yield model
    yield names
    yield content.lengths.tobytes()
    yield content.marks.astype("<u8").tobytes()
    yield content.total.astype("<f8").tobytes()
    yield content.squares.astype("<f8").tobytes()
    for plane in (content.high, content.low):
        for start in range(0, len(content.rows), _CHUNK_ROWS):
            yield plane[content.rows[start : start + _CHUNK_ROWS]].tobytes()


def _with_checksum(parts: Iterator[bytes]) -> Iterator[bytes]:
    checksum = 0
    for part in parts:
        checksum = zlib.crc32(part, checksum)
        if part:
            yield part
    yield _CHECKSUM.pack(checksum)
