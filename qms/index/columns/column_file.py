"""The column file of a store, so that a start need not decode every line.

The manifest has a hash of the marks of its lines, in order, and the checksum of the file. The file
is written when a store is closed. After a kill, or after a hand edit while the server was down,
columns are rebuilt.
"""

import hashlib
import logging
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from qms.disk.disk import Disk
from qms.index.arrays import IntArray
from qms.index.manifest import ColumnsPart, ManifestFile, sum_file

log = logging.getLogger(__name__)

FORMAT = 1
"""Increased when the meaning of a column, or of a number in it, changes."""

Marks = npt.NDArray[np.uint64]


class SavedPostings(msgspec.Struct, frozen=True):
    """Tokens and their slots; the tokens of a slot are contiguous."""

    tokens: npt.NDArray[Any]
    slots: npt.NDArray[np.int32]


class SavedColumns(msgspec.Struct, frozen=True, kw_only=True):
    """The content of columns without free slots."""

    names: list[str]
    columns: dict[str, npt.NDArray[Any]]
    tags: SavedPostings
    metadata: SavedPostings
    ordinals: IntArray
    has_ordinal: npt.NDArray[np.bool_]


class ColumnFile:
    """The column file of one store; one thread at a time."""

    def __init__(self, path: Path, disk: Disk, book: ManifestFile) -> None:
        self._path = path
        self._disk = disk
        self._manifest = book

    def is_of(self, marks: Marks) -> bool:
        """Say whether the file was made from lines with these marks, in this order."""
        part = self._manifest.columns
        return part is not None and (part.format, part.lines) == (FORMAT, _sum(marks))

    def read(self, marks: Marks) -> SavedColumns | None:
        """Return the columns of lines with these marks, or None if the file does not match."""
        part = self._manifest.columns
        if part is None or not self.is_of(marks):
            return None
        try:
            data = self._disk.read(self._path)
        except OSError as error:
            log.warning("rebuilding columns", extra={"reason": error.strerror})
            return None
        if hashlib.sha256(data).hexdigest() != part.file.sha256:
            log.warning("rebuilding columns", extra={"reason": "the checksum does not match"})
            return None
        return _decoder.decode(data)

    def write(self, marks: Marks, saved: SavedColumns) -> None:
        """Write the columns of lines with these marks.

        Raises:
            OSError: the file is invalid or unchanged.
        """
        self._disk.make_folder(self._path.parent)
        self._disk.put(self._path, _encoder.encode(saved))
        whole = sum_file(self._path, self._disk)
        self._manifest.put_columns(ColumnsPart(format=FORMAT, lines=_sum(marks), file=whole))


def _sum(marks: Marks) -> str:
    return hashlib.sha256(marks.astype("<u8").tobytes()).hexdigest()


def _to_bytes(array: Any) -> Any:
    if not isinstance(array, np.ndarray):
        raise NotImplementedError(type(array))
    little = array.dtype.newbyteorder("<")
    return [little.str, array.astype(little).tobytes()]


def _from_bytes(_type: type, stored: Any) -> npt.NDArray[Any]:
    dtype, data = stored
    array: npt.NDArray[Any] = np.frombuffer(data, dtype)
    return array.copy()  # writable, unlike an array over bytes


_encoder = msgspec.msgpack.Encoder(enc_hook=_to_bytes)
_decoder = msgspec.msgpack.Decoder(SavedColumns, dec_hook=_from_bytes)
