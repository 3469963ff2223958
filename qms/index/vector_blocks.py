"""How vectors stand in their file: a head, then blocks, each of which changes what came before.

    head: magic 8 bytes, format, dimension, length of the model id, model id
    block: numbers, ids one a line (first of entries that have vectors, then of those that lost
    them), vectors an id, marks, sums if any, high bytes, low bytes

All numbers are little-endian. Nothing here is checked for damage: the manifest's sha256 is.
"""

import struct
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from qms.index.arrays import IntArray
from qms.index.vector_codes import MAX_PIECES, ByteArray, LowArray

FORMAT = 2

_MAGIC = b"QMSVECT\n"
_HEAD = struct.Struct("<III")
_BLOCK = struct.Struct("<QQQQI")
_CHUNK_ROWS = 4096


class Refusal(msgspec.Struct, frozen=True):
    """Why a file is not used."""

    reason: str


class SavedSums(msgspec.Struct, frozen=True):
    """Sum and second moments of all vectors after a block."""

    total: npt.NDArray[np.float64]
    squares: npt.NDArray[np.float64]


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Entries that have these vectors from here on, and entries that have none any more."""

    ids: list[str]
    lengths: npt.NDArray[np.uint8]
    """How many vectors each id has; they stand together, in the order of the ids."""
    marks: npt.NDArray[np.uint64]
    high: ByteArray
    low: LowArray
    rows: IntArray
    """Which rows of the bytes are meant."""
    removed: list[str]
    sums: SavedSums | None = None


def head_bytes(dimension: int, model_id: str) -> bytes:
    """Return the beginning of a file."""
    model = model_id.encode("utf-8")
    return _MAGIC + _HEAD.pack(FORMAT, dimension, len(model)) + model


def block_bytes(block: Block) -> Iterator[bytes]:
    """Yield a block, some of it at a time."""
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
        return Refusal("its head is not that of this model and version")
    reader, blocks = _Reader(data, len(head)), []
    while reader.left:
        block = _parsed(reader, dimension)
        if isinstance(block, Refusal):
            return block
        blocks.append(block)
    return blocks


def _parsed(reader: "_Reader", dimension: int) -> Block | Refusal:
    if reader.left < _BLOCK.size:
        return Refusal("it ends inside a block")
    numbers = _BLOCK.unpack(reader.take(np.uint8, _BLOCK.size).tobytes())
    entries, pieces, removed, name_bytes, has_sums = numbers
    sum_bytes = 8 * dimension * (dimension + 1) if has_sums else 0
    if reader.left < name_bytes + 9 * entries + sum_bytes + 2 * dimension * pieces:
        return Refusal("its length does not fit its blocks")
    names = reader.take(np.uint8, name_bytes).tobytes().decode("utf-8", "replace")
    ids = names.split("\n") if names else []
    lengths = reader.take(np.uint8, entries)
    if len(set(ids)) != entries + removed or len(ids) != entries + removed:
        return Refusal("its ids do not fit its blocks")
    if not _fits(lengths, pieces):
        return Refusal("its pieces do not fit its blocks")
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
    """Takes one array after the other out of bytes, without copying them."""

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
