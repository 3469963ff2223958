"""The format of the vector file: a head, then blocks, each of which updates the ones before.

    head: magic 8 bytes, format, dimension, length of the model id, model id
    block: counts, ids one per line (first those with vectors, then the removed ones), number of
    vectors per id, marks, sums if any, high bytes, low bytes

All numbers are little-endian. Damage is detected by the manifest's sha256, not here.
"""

import struct
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from qms.index.arrays import IntArray
from qms.index.vectors.codes import MAX_PIECES, ByteArray, LowArray

FORMAT = 2

_MAGIC = b"QMSVECT\n"
_HEAD = struct.Struct("<III")
_BLOCK = struct.Struct("<QQQQI")
_CHUNK_ROWS = 4096


class Refusal(msgspec.Struct, frozen=True):
    """The reason why a file is not used."""

    reason: str


class SavedSums(msgspec.Struct, frozen=True):
    """The sum and the second moments of all vectors after a block."""

    total: npt.NDArray[np.float64]
    squares: npt.NDArray[np.float64]


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Entries with their new vectors, and entries whose vectors were removed."""

    ids: list[str]
    lengths: npt.NDArray[np.uint8]
    """How many vectors each id has; they are contiguous, in the order of the ids."""
    marks: npt.NDArray[np.uint64]
    high: ByteArray
    low: LowArray
    rows: IntArray
    """The rows of `high` and `low` that belong to the block."""
    removed: list[str]
    sums: SavedSums | None = None


def head_bytes(dimension: int, model_id: str) -> bytes:
    """Return the head of a file."""
    model = model_id.encode("utf-8")
    return _MAGIC + _HEAD.pack(FORMAT, dimension, len(model)) + model


def block_bytes(block: Block) -> Iterator[bytes]:
    """Yield a block in chunks."""
    names = "\n".join([*block.ids, *block.removed]).encode("utf-8")
    counts = (len(block.ids), len(block.rows), len(block.removed), len(names))
    yield _BLOCK.pack(*counts, block.sums is not None)
    yield names
    yield block.lengths.tobytes()
    yield block.marks.astype("<u8").tobytes()
    if block.sums is not None:
        yield block.sums.total.astype("<f8").tobytes()
        yield block.sums.squares.astype("<f8").tobytes()
    for plane in (block.high, block.low):
        for start in range(0, len(block.rows), _CHUNK_ROWS):
            yield plane[block.rows[start : start + _CHUNK_ROWS]].tobytes()


def parse(data: bytes | memoryview, dimension: int, model_id: str) -> list[Block] | Refusal:
    """Return the blocks of a whole file, or why it cannot be used."""
    head = head_bytes(dimension, model_id)
    if bytes(data[: len(head)]) != head:
        return Refusal("the head has another model or format")
    reader, blocks = _Reader(data, len(head)), []
    while reader.left:
        block = _parsed(reader, dimension)
        if isinstance(block, Refusal):
            return block
        blocks.append(block)
    return blocks


def _parsed(reader: "_Reader", dimension: int) -> Block | Refusal:
    if reader.left < _BLOCK.size:
        return Refusal("the file ends inside a block")
    numbers = _BLOCK.unpack(reader.take(np.uint8, _BLOCK.size).tobytes())
    entries, pieces, removed, name_bytes, has_sums = numbers
    sum_bytes = 8 * dimension * (dimension + 1) if has_sums else 0
    if reader.left < name_bytes + 9 * entries + sum_bytes + 2 * dimension * pieces:
        return Refusal("the length does not match the blocks")
    names = reader.take(np.uint8, name_bytes).tobytes().decode("utf-8", "replace")
    ids = names.split("\n") if names else []
    lengths = reader.take(np.uint8, entries)
    if len(set(ids)) != entries + removed or len(ids) != entries + removed:
        return Refusal("the ids do not match the blocks")
    if not _fits(lengths, pieces):
        return Refusal("the vector counts do not match the blocks")
    return Block(
        ids=ids[:entries],
        removed=ids[entries:],
        lengths=lengths,
        marks=reader.take("<u8", entries),
        sums=_sums(reader, dimension) if has_sums else None,
        high=reader.take(np.uint8, pieces * dimension).reshape(pieces, dimension),
        low=reader.take(np.int8, pieces * dimension).reshape(pieces, dimension),
        rows=np.arange(pieces),
    )


def _sums(reader: "_Reader", dimension: int) -> SavedSums:
    total = reader.take("<f8", dimension)
    squares = reader.take("<f8", dimension * dimension).reshape(dimension, dimension)
    return SavedSums(total.copy(), squares.copy())


def _fits(lengths: npt.NDArray[np.uint8], pieces: int) -> bool:
    in_bounds = bool(np.all((lengths >= 1) & (lengths <= MAX_PIECES)))
    return in_bounds and int(lengths.sum(dtype=np.int64)) == pieces


class _Reader:
    """Reads arrays from bytes one after the other, without copying."""

    def __init__(self, data: bytes | memoryview, offset: int) -> None:
        self._data = data
        self._offset = offset

    @property
    def left(self) -> int:
        return len(self._data) - self._offset

    def take(self, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        taken = np.frombuffer(self._data, dtype, count, self._offset)
        self._offset += taken.nbytes
        return taken
