"""The journal: framed change sets, appended and synced before a write is answered.

After `append` returns, every record handed to it is on stable storage. A record is
`length, crc32, sequence, operation` and a JSON payload; the checksum covers all that follows it.
"""

import logging
import re
import struct
import zlib
from collections.abc import Iterable
from enum import IntEnum
from itertools import pairwise
from pathlib import Path

import msgspec

from qms.disk.disk import Disk
from qms.memory.changes import ChangeSet

log = logging.getLogger(__name__)

_MAGIC = b"QMSJRNL1"
_FRAME = struct.Struct("<II")
_HEAD = struct.Struct("<QB")
_MAX_PAYLOAD_BYTES = 1 << 30
_MAX_GAP = 1 << 20
"""At most this many sequences may be missing between two records, lost to earlier damage."""
_SEQUENCE_BYTES = 8
_PAYLOAD_START = re.compile(rb'[\x01\x02]\{"')
"""The operation and the start of its JSON payload; inside JSON these bytes are escaped."""

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(ChangeSet)


class Operation(IntEnum):
    """What a record is."""

    COMMIT = 1
    ADOPT = 2
    """A hand edit: it also changes the base of the three-way merge."""


class JournalRecord(msgspec.Struct, frozen=True):
    """One change set and its sequence number in the store."""

    sequence: int
    operation: Operation
    change_set: ChangeSet


class JournalContent(msgspec.Struct, frozen=True):
    """The valid records of a journal file, and what is wrong with the rest of it."""

    records: list[JournalRecord]
    good_bytes: int
    """The size of a journal of these records alone."""
    torn_bytes: int = 0
    damaged: bool = False
    salvaged: bytes | None = None
    """A journal of the valid records, when there is damage between them."""

    def missing(self, after: int | None) -> list[int]:
        """Return the sequences that damage lost, only those above `after` if it is known."""
        numbers = [one.sequence for one in self.records]
        known = numbers if after is None or not numbers else [min(after, numbers[0] - 1), *numbers]
        gaps = [range(a + 1, b) for a, b in pairwise(known)]
        return [one for gap in gaps for one in gap if after is None or one > after]


def encode_record(record: JournalRecord) -> bytes:
    """Return the frame of a record."""
    content = _HEAD.pack(record.sequence, record.operation) + _encoder.encode(record.change_set)
    return _FRAME.pack(len(content), zlib.crc32(content)) + content


def read_journal(data: bytes) -> JournalContent:
    """Return the valid records of a journal.

    After a damaged part, reading continues at the next valid record. What follows the last one is a
    torn tail.
    """
    if _MAGIC.startswith(data):
        is_torn = data != _MAGIC
        return JournalContent([], 0 if is_torn else len(data), torn_bytes=len(data) * is_torn)
    records: list[JournalRecord] = []
    frames = [_MAGIC]
    is_damaged = not data.startswith(_MAGIC)
    position = end = 0 if is_damaged else len(_MAGIC)
    while (found := _next_record(data, position, records)) is not None:
        record, start, end = found
        is_damaged = is_damaged or start != position
        records.append(record)
        frames.append(data[start:end])
        position = end
    return JournalContent(
        records,
        sum(map(len, frames)),
        torn_bytes=len(data) - end,
        damaged=is_damaged,
        salvaged=b"".join(frames) if is_damaged else None,
    )


def _next_record(
    data: bytes, position: int, before: list[JournalRecord]
) -> tuple[JournalRecord, int, int] | None:
    """Return the first valid record from a position on, and where it begins and ends."""
    last = before[-1].sequence if before else None
    if (found := _read_frame(data, position, last)) is not None:
        return found[0], position, found[1]
    for mark in _PAYLOAD_START.finditer(data, position):
        start = mark.start() - _FRAME.size - _SEQUENCE_BYTES
        if start > position and (found := _read_frame(data, start, last)) is not None:
            return found[0], start, found[1]
    return None


def _read_frame(data: bytes, position: int, last: int | None) -> tuple[JournalRecord, int] | None:
    start = position + _FRAME.size
    if start + _HEAD.size > len(data):
        return None
    length, checksum = _FRAME.unpack_from(data, position)
    end = start + length
    if not _HEAD.size <= length <= _MAX_PAYLOAD_BYTES or end > len(data):
        return None
    sequence, operation = _HEAD.unpack_from(data, start)
    if last is not None and not last < sequence <= last + _MAX_GAP:
        return None
    if operation not in (Operation.COMMIT, Operation.ADOPT):
        return None
    if zlib.crc32(memoryview(data)[start:end]) != checksum:
        return None
    change_set = _decoder.decode(memoryview(data)[start + _HEAD.size : end])
    return JournalRecord(sequence, Operation(operation), change_set), end


class Journal:
    """An open journal file; the store allows one writer at a time.

    `leading` are the parent folders, whose names have to be synced too for the file to be durable.
    """

    def __init__(self, disk: Disk, path: Path, *, leading: Iterable[Path] = ()) -> None:
        self._disk = disk
        self.path = path
        self._unsynced_folders = list(leading)
        self._descriptor = -1
        self._salvaged: bytes | None = None
        self.kept_aside: str | None = None
        """The name of the copy of a damaged file, if there is one."""
        self.size = 0
        self.is_broken = True

    def load(self) -> JournalContent:
        """Return the content of the file; nothing is changed on disk."""
        data = self._disk.read(self.path) if self.path.exists() else b""
        content = read_journal(data)
        self._salvaged = content.salvaged
        self.size = content.good_bytes
        return content

    def start(self, content: JournalContent) -> None:
        """Cut a torn tail, set a damaged file aside, and open the file for appending.

        The records that were read count from now on. A killed process may have left them, or the
        name of the file, unsynced: both are synced.

        Raises:
            OSError: the disk does not accept it; the journal stays broken until `repair`.
        """
        if content.records or content.damaged or content.torn_bytes or not content.good_bytes:
            if content.torn_bytes and not content.damaged:
                log.warning(
                    "journal tail cut",
                    extra={"file": self.path.name, "bytes": content.torn_bytes},
                )
            self.repair()
        else:
            self._sync_names()
            self._attach(content.good_bytes)

    def append(self, frames: bytes) -> None:
        """Append whole frames and return after they are on stable storage.

        Raises:
            OSError: none of the frames counts. After a failed sync the descriptor is closed,
                since the system may have dropped what it could not write: call `repair` before
                the next append.
        """
        try:
            self._disk.write_all(self._descriptor, frames)
        except OSError:
            self._undo()
            raise
        try:
            self._disk.sync(self._descriptor)
        except OSError:
            self._close_descriptor()
            raise
        self.size += len(frames)

    def repair(self) -> None:
        """Write a new journal file with every acknowledged record.

        Raises:
            OSError: the disk still does not accept it.
        """
        # The folder is missing if the disk was read-only from the start.
        self._disk.make_folder(self.path.parent)
        if self._salvaged is not None:
            self._set_aside()
            self._rewrite(self._salvaged)
            self._salvaged = None
            return
        data = self._disk.read(self.path)[: self.size] if self.path.exists() else b""
        self._rewrite(data or _MAGIC)

    def cut(self, offset: int) -> None:
        """Drop the records before `offset`, a size that this journal had.

        Raises:
            OSError: everything is still there.
        """
        tail = b""
        if offset < self.size:
            tail = self._disk.read(self.path)[offset : self.size]
        self._rewrite(_MAGIC + tail)

    def close(self) -> None:
        """Close the file."""
        self._close_descriptor()

    def _undo(self) -> None:
        try:
            self._disk.truncate(self._descriptor, self.size)
        except OSError:
            self._close_descriptor()

    def _close_descriptor(self) -> None:
        if self._descriptor >= 0:
            self._disk.close(self._descriptor)
        self._descriptor = -1
        self.is_broken = True

    def _rewrite(self, data: bytes) -> None:
        temporary = self.path.with_name(self.path.name + ".tmp")
        self._disk.write_new(temporary, [data])
        was_usable = not self.is_broken
        self._close_descriptor()  # Windows cannot replace a file that this process has open
        try:
            self._disk.replace(temporary, self.path)
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
        self._disk.sync_folder(self.path.parent)

    def _attach(self, size: int) -> None:
        self._descriptor = self._disk.open(self.path, create=True)
        self.size = size
        self.is_broken = False

    def _set_aside(self) -> None:
        if self.kept_aside is not None:
            return  # an earlier attempt did it and failed later
        for number in range(1, 1000):
            aside = self.path.with_name(f"{self.path.name}.damaged-{number}")
            if not aside.exists():
                break
        self._disk.copy(self.path, aside, sync=True)
        self.kept_aside = aside.name
        log.error("journal damaged", extra={"file": self.path.name, "kept": aside.name})
