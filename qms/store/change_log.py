"""The change log: every change set since the last backup, with all versions in between.

A fold appends the journal records here before it cuts the journal. The next backup copies the log
and cuts it; until then history and point-in-time restore read it. The first line names the lineage:
within one lineage, sequences tell what a backup already has. A gap in the sequences starts a new
lineage, and the next backup compares entries instead.
"""

import logging
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from qms.disk.damage import set_aside
from qms.disk.disk import Disk
from qms.disk.line_checksum import is_altered, sealed
from qms.memory.changes import ChangeSet
from qms.memory.errors import UNDECODABLE
from qms.memory.parts import is_part_line
from qms.store.journal import JournalRecord

log = logging.getLogger(__name__)

MAX_BYTES = 256 << 20
"""Beyond this size the log starts again: there was no backup for very long."""


class Logged(msgspec.Struct, frozen=True, rename="camel"):
    """One change set and its place in the order of all writes of the store."""

    sequence: int
    change_set: ChangeSet


class _Head(msgspec.Struct, frozen=True):
    lineage: str
    after: int
    """The sequence that the first record follows."""


class _Numbered(msgspec.Struct):
    sequence: int


_decoder = msgspec.json.Decoder(Logged)


def encode_logged(sequence: int, change_set: ChangeSet) -> bytes:
    """Return the line of a change set, without its `outdated` lines."""
    if change_set.outdated:
        change_set = msgspec.structs.replace(change_set, outdated=())
    return sealed(msgspec.json.encode(Logged(sequence, change_set)))


def decode_readable(lines: Iterable[bytes]) -> list[Logged]:
    """Return the change sets of the lines that can be read."""
    found = []
    for line in lines:
        with suppress(*UNDECODABLE):
            found.append(_decode_strictly(line))
    return found


def _decode_strictly(line: bytes) -> Logged:
    _check_bytes(line)
    return _decoder.decode(line)


def _check_bytes(line: bytes) -> None:
    line.decode()  # the JSON decoder copies or skips some bytes without checking them
    if is_altered(line):
        raise ValueError("the line was changed after it was written")


def decode_logged(lines: Iterable[bytes]) -> list[Logged]:
    """Return the change sets of lines."""
    return [_decoder.decode(line) for line in lines if line]


def _random_lineage() -> str:
    return secrets.token_hex(8)


class ChangeLog:
    """The change log of one store; the caller holds `StoreFiles.lock`."""

    def __init__(
        self, disk: Disk, path: Path, new_lineage: Callable[[], str] = _random_lineage
    ) -> None:
        self._disk = disk
        self._path = path
        self._new_lineage = new_lineage
        self._head: _Head | None = None
        self._last = 0
        self._size = 0
        self._is_doubtful = False

    def distrust(self) -> None:
        """Start a new lineage with the next write: there may be a gap before it."""
        self._is_doubtful = True

    def extend(self, records: list[JournalRecord]) -> None:
        """Append the records that are not in the log yet, durably.

        Raises:
            OSError: none of them counts.
        """
        if self._is_doubtful and records:
            self._restart(records[0].sequence - 1)
        elif self._head is None:
            self._load(records)
        fresh = [one for one in records if one.sequence > self._last]
        if not fresh:
            return
        if self._head is None or fresh[0].sequence != self._last + 1 or self._size > MAX_BYTES:
            self._restart(fresh[0].sequence - 1)
        data = b"".join(encode_logged(one.sequence, one.change_set) + b"\n" for one in fresh)
        self._disk.append(self._path, data)
        self._last, self._size = fresh[-1].sequence, self._size + len(data)

    def lineage(self, sequence: int) -> str:
        """Return the lineage of the store, which is at this sequence; start one if needed.

        Raises:
            OSError: there is none yet, and the disk does not accept one.
        """
        if not self._is_doubtful and (self._head is None or not self._is_readable()):
            self._load([])
        if self._head is None or self._is_doubtful:
            self._restart(sequence)
        assert self._head is not None
        return self._head.lineage

    def _is_readable(self) -> bool:
        lines = self._lines()[1:]
        return len(decode_readable(lines)) == len(lines)

    def records(self) -> list[Logged]:
        """Return the readable part of the log, oldest first."""
        return decode_readable(self._lines()[1:])

    def cut(self, upto: int) -> None:
        """Drop the records that a backup holds.

        Raises:
            OSError: everything is still there.
        """
        if self._head is None or upto <= self._head.after:
            return
        kept = [line for line in self._lines()[1:] if not _is_upto(line, upto)]
        self._rewrite(_Head(self._head.lineage, max(upto, self._head.after)), kept)
        self._last = max(self._last, upto)

    def drop(self, entry_id: str) -> int:
        """Remove an entry from all change sets; return in how many it was.

        Raises:
            OSError: the file is as it was.
        """
        lines = self._lines()
        kept = [_without_entry_or_line(line, entry_id) for line in lines[1:]]
        changed = sum(before != after for before, after in zip(lines[1:], kept, strict=True))
        if changed:
            head = self._head or _read_head(lines[0])
            self._rewrite(head or _Head(self._new_lineage(), 0), [line for line in kept if line])
            self._is_doubtful = self._is_doubtful or head is None
        return changed

    def _read(self) -> bytes:
        try:
            return self._disk.read(self._path)
        except FileNotFoundError:
            return b""

    def _lines(self) -> list[bytes]:
        """Return the complete lines of the file; a torn last line is still in the journal."""
        return self._read().split(b"\n")[:-1]

    def _load(self, records: list[JournalRecord]) -> None:
        """Read where the log ends; start again if it contradicts the journal."""
        data = self._read()
        lines = data.split(b"\n")[:-1]
        try:
            head = msgspec.json.decode(lines[0], type=_Head) if lines else None
            known = {_sequence_of(line): line for line in lines[1:]}
        except UNDECODABLE as error:
            self._salvage(lines, error)
            return
        if head is None:
            return
        for record in records:
            line = known.get(record.sequence)
            if line is not None and line != encode_logged(record.sequence, record.change_set):
                self._is_doubtful = True
                self._restart(records[0].sequence - 1)
                return
        if data.endswith(b"\n"):
            self._disk.settle(self._path)  # a killed process may have left unsynced lines
            self._head, self._size = head, len(data)
        else:
            self._rewrite(head, list(known.values()))
        self._last = max([head.after, *known])

    def _salvage(self, lines: list[bytes], error: Exception) -> None:
        """Start a new lineage with what follows the last damaged line, and keep the old file.

        A restore needs an unbroken sequence, so that the lines before the damage are of no use.
        """
        tail: list[tuple[int, bytes]] = []
        for line in lines[1:]:
            try:
                tail.append((_decode_strictly(line).sequence, line))
            except UNDECODABLE:
                tail = []
        set_aside(self._disk, self._path, error)
        self._is_doubtful = not tail
        if tail:
            after = tail[0][0] - 1
            self._rewrite(_Head(self._new_lineage(), after), [line for _, line in tail])
            self._last = tail[-1][0]

    def _restart(self, after: int) -> None:
        self._rewrite(_Head(self._new_lineage(), after), [])
        self._last, self._is_doubtful = after, False

    def _rewrite(self, head: _Head, lines: list[bytes]) -> None:
        data = b"".join(line + b"\n" for line in [msgspec.json.encode(head), *lines])
        self._disk.put(self._path, data)
        self._head, self._size = head, len(data)


def without_entry(line: bytes, entry_id: str) -> bytes:
    """Return the line of a change set without the changes of an entry and of its chunks."""
    if msgspec.json.encode(entry_id) not in line:
        return line
    logged = _decoder.decode(line)
    changes = tuple(
        one
        for one in logged.change_set.changes
        if one.id != entry_id and not is_part_line(one.entry, entry_id)
    )
    if len(changes) == len(logged.change_set.changes):
        return line
    rest = msgspec.structs.replace(logged.change_set, changes=changes)
    return encode_logged(logged.sequence, rest)


def _without_entry_or_line(line: bytes, entry_id: str) -> bytes:
    """Return a line without an entry; an unreadable line that names it becomes empty."""
    try:
        return without_entry(line, entry_id)
    except UNDECODABLE:
        return b""


def _read_head(line: bytes) -> _Head | None:
    try:
        return msgspec.json.decode(line, type=_Head)
    except UNDECODABLE:
        return None


def _is_upto(line: bytes, upto: int) -> bool:
    """Say whether a backup has the change set of a line; False for an unreadable line."""
    try:
        return _sequence_of(line) <= upto
    except UNDECODABLE:
        return False


def _sequence_of(line: bytes) -> int:
    _check_bytes(line)
    return msgspec.json.decode(line, type=_Numbered).sequence
