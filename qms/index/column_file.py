"""The file of a store's columns, which spares a start the reading of every line.

The manifest says of which lines it is, by their marks and in their order, and vouches for its
bytes. It is written when a store is closed; after a kill, or a hand edit meanwhile, columns are
made anew.
"""

import hashlib
import logging
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from qms.fsio.disk import Disk
from qms.index.arrays import IntArray
from qms.index.manifest import ColumnsPart, ManifestFile, sum_file

log = logging.getLogger(__name__)

FORMAT = 1
"""Raised whenever a column, or a number in it, means something else."""

Marks = npt.NDArray[np.uint64]


class SavedPostings(msgspec.Struct, frozen=True):
    """Tokens and the slots that carry them, those of a slot together."""

    tokens: npt.NDArray[Any]
    slots: npt.NDArray[np.int32]


class SavedColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that columns hold of the entries in the first slots."""

    names: list[str]
    columns: dict[str, npt.NDArray[Any]]
    tags: SavedPostings
    metadata: SavedPostings
    ordinals: IntArray
    has_ordinal: npt.NDArray[np.bool_]


class ColumnFile:
    """One store's file of columns; one thread at a time."""

    def __init__(self, path: Path, disk: Disk, book: ManifestFile) -> None:
        self._path = path
        self._disk = disk
        self._book = book

    def is_of(self, marks: Marks) -> bool:
        """Say whether the file is of lines with these marks, in this order."""
        part = self._book.columns
        return part is not None and (part.format, part.lines) == (FORMAT, _sum(marks))

    def read(self, marks: Marks) -> SavedColumns | None:
        """Return the columns of lines with these marks, or None when there is no such file."""
        part = self._book.columns
        if part is None or not self.is_of(marks):
            return None
        try:
            data = self._disk.read(self._path)
        except OSError as error:
            log.warning("columns are made anew", extra={"reason": error.strerror})
            return None
        if hashlib.sha256(data).hexdigest() != part.file.sha256:
            log.warning("columns are made anew", extra={"reason": "the checksum does not fit"})
            return None
        return _decoder.decode(data)

    def write(self, marks: Marks, saved: SavedColumns) -> None:
        """Let the file hold the columns of lines with these marks.

        Raises:
            OSError: what it holds counts no more, or as before.
        """
        self._disk.make_folder(self._path.parent)
        self._disk.put(self._path, _encoder.encode(saved))
        whole = sum_file(self._path, self._disk)
        self._book.put_columns(ColumnsPart(format=FORMAT, lines=_sum(marks), file=whole))


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
    return array.copy()  # to be written to, as what is kept in bytes may not be


_encoder = msgspec.msgpack.Encoder(enc_hook=_to_bytes)
_decoder = msgspec.msgpack.Decoder(SavedColumns, dec_hook=_from_bytes)
