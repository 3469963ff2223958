"""The journal: framed change sets, appended and synced before anybody is answered.

After `append` returns, every record handed to it is on stable storage. A record is
`length, crc32, sequence, operation` and a JSON payload; the checksum covers all that follows it.
"""

import logging
import struct
import zlib
from collections.abc import Iterable
from enum import IntEnum
from pathlib import Path

import msgspec

from qms.domain.changes import ChangeSet
from qms.fsio.disk import Disk

log = logging.getLogger(__name__)

_MAGIC = b"QMSJRNL1"
_FRAME = struct.Struct("<II")
_HEAD = struct.Struct("<QB")
_MAX_PAYLOAD_BYTES = 1 << 30
_MAX_GAP = 1 << 20

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(ChangeSet)


class Operation(IntEnum):
    """What a record stands for."""

    COMMIT = 1
    ADOPT = 2
    """A hand edit: it moves the base of the three-way merge as well."""


class JournalRecord(msgspec.Struct, frozen=True):
    """One change set and its place in the order of all writes of the store."""

    sequence: int
    operation: Operation
    change_set: ChangeSet


class JournalContent(msgspec.Struct, frozen=True):
    """What a journal file holds: its good records, and what is wrong behind them."""

    records: list[JournalRecord]
    good_bytes: int
    torn_bytes: int = 0
    damaged: bool = False


def encode_record(record: JournalRecord) -> bytes:
    """Return the frame of a record."""
    content = _HEAD.pack(record.sequence, record.operation) + _encoder.encode(record.change_set)
    return _FRAME.pack(len(content), zlib.crc32(content)) + content


def read_journal(data: bytes) -> JournalContent:
    """Return the good records at the beginning of `data`.

    What follows them is a torn tail when no whole record comes after it, else damage.
    """
    if not data.startswith(_MAGIC):
        torn = _MAGIC.startswith(data)
        return JournalContent([], 0, torn_bytes=len(data) if torn else 0, damaged=not torn)
    records: list[JournalRecord] = []
    position = len(_MAGIC)
    while position < len(data):
        last = records[-1].sequence if records else None
        found = _read_frame(data, position, last)
        if found is None:
            break
        record, position = found
        records.append(record)
    rest = len(data) - position
    if rest == 0:
        return JournalContent(records, position)
    last = records[-1].sequence if records else None
    damaged = any(
        _read_frame(data, start, last, exact=False) for start in range(position + 1, len(data))
    )
    return JournalContent(records, position, torn_bytes=rest, damaged=damaged)


def _read_frame(
    data: bytes, position: int, last: int | None, *, exact: bool = True
) -> tuple[JournalRecord, int] | None:
    start = position + _FRAME.size
    if start + _HEAD.size > len(data):
        return None
    length, checksum = _FRAME.unpack_from(data, position)
    end = start + length
    if not _HEAD.size <= length <= _MAX_PAYLOAD_BYTES or end > len(data):
        return None
    sequence, operation = _HEAD.unpack_from(data, start)
    if last is not None and not last < sequence <= last + (1 if exact else _MAX_GAP):
        return None
    if operation not in (Operation.COMMIT, Operation.ADOPT):
        return None
    if zlib.crc32(memoryview(data)[start:end]) != checksum:
        return None
    change_set = _decoder.decode(memoryview(data)[start + _HEAD.size : end])
    return JournalRecord(sequence, Operation(operation), change_set), end


class Journal:
    """An open journal file; one writer at a time, kept by the store.

    `leading` are the folders that lead to the journal's own: it lasts only if their names do.
    """

    def __init__(self, disk: Disk, path: Path, *, leading: Iterable[Path] = ()) -> None:
        self._disk = disk
        self._path = path
        self._unsynced_folders = list(leading)
        self._descriptor = -1
        self._is_damaged = False
        self.size = 0
        self.is_broken = True

    def load(self) -> JournalContent:
        """Return what the file holds; nothing is changed on disk."""
        data = self._disk.read(self._path) if self._path.exists() else b""
        content = read_journal(data)
        self._is_damaged = content.damaged
        self.size = content.good_bytes
        return content

    def start(self, content: JournalContent) -> None:
        """Cut a torn tail, set a damaged file aside, and be ready to append.

        Records that are read here count from now on. A killed process may have left them, or the
        name of the file, unsynced: both are made to last.

        Raises:
            OSError: the disk does not take it; the journal stays broken until `repair`.
        """
        if content.records or content.damaged or content.torn_bytes or not content.good_bytes:
            if content.torn_bytes and not content.damaged:
                log.warning(
                    "journal tail cut",
                    extra={"file": self._path.name, "bytes": content.torn_bytes},
                )
            self.repair()
        else:
            self._sync_names()
            self._attach(content.good_bytes)

    def append(self, frames: bytes) -> None:
        """Append whole frames and return after they are on stable storage.

        Raises:
            OSError: none of the frames counts. After a failed sync the descriptor is given up,
                since the system may have dropped what it could not write: `repair` before the
                next append.
        """
        try:
            self._disk.write_all(self._descriptor, frames)
        except OSError:
            self._undo()
            raise
        try:
            self._disk.sync(self._descriptor)
        except OSError:
            self._give_up()
            raise
        self.size += len(frames)

    def repair(self) -> None:
        """Make the journal whole again: a fresh file with everything that was acknowledged.

        Raises:
            OSError: the disk still does not take it.
        """
        # Not there when the disk was read-only from the start.
        self._disk.make_folder(self._path.parent)
        if self._is_damaged:
            self._set_aside()
            self._is_damaged = False
        data = self._disk.read(self._path)[: self.size] if self._path.exists() else b""
        self._rewrite(data or _MAGIC)

    def cut(self, offset: int) -> None:
        """Drop the records before `offset`, a size that this journal had.

        Raises:
            OSError: everything is still there.
        """
        tail = b""
        if offset < self.size:
            tail = self._disk.read(self._path)[offset : self.size]
        self._rewrite(_MAGIC + tail)

    def close(self) -> None:
        """Close the file."""
        self._give_up()

    def _undo(self) -> None:
        try:
            self._disk.truncate(self._descriptor, self.size)
        except OSError:
            self._give_up()

    def _give_up(self) -> None:
        if self._descriptor >= 0:
            self._disk.close(self._descriptor)
        self._descriptor = -1
        self.is_broken = True

    def _rewrite(self, data: bytes) -> None:
        temporary = self._path.with_name(self._path.name + ".tmp")
        self._disk.write_new(temporary, [data])
        was_usable = not self.is_broken
        self._give_up()  # Windows replaces no file that we hold open ourselves
        try:
            self._disk.replace(temporary, self._path)
        except OSError:
            if was_usable:
                self._attach(self.size)
            raise
        self.size = len(data)
        # Until the new name is durable, an append to the new file could vanish with it.
        self._sync_names()
        self._attach(self.size)

    def _sync_names(self) -> None:
        while self._unsynced_folders:
            self._disk.sync_folder(self._unsynced_folders[0])
            del self._unsynced_folders[0]
        self._disk.sync_folder(self._path.parent)

    def _attach(self, size: int) -> None:
        self._descriptor = self._disk.open(self._path, create=True)
        self.size = size
        self.is_broken = False

    def _set_aside(self) -> None:
        for number in range(1, 1000):
            aside = self._path.with_name(f"{self._path.name}.damaged-{number}")
            if not aside.exists():
                break
        self._disk.copy(self._path, aside, sync=True)
        log.error("journal damaged", extra={"file": self._path.name, "kept": aside.name})
