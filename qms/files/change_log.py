"""The change log: every change set since the last backup, with all versions in between.

A fold appends what it takes out of the journal, before it cuts it. The next backup takes the log
over and cuts it; until then it is what history and a restore to a moment rest on. The first line
names the lineage: as long as it is the same, sequences tell what a backup already has. Whatever
breaks the row of sequences begins a new lineage, and the next backup compares instead.
"""

import logging
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from qms.domain.changes import ChangeSet
from qms.files.journal import JournalRecord
from qms.fsio.disk import Disk

log = logging.getLogger(__name__)

MAX_BYTES = 256 << 20
"""Beyond this the log begins anew: nobody has made a backup for very long."""


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
    """Return the line of a change set."""
    return msgspec.json.encode(Logged(sequence, change_set))


def decode_logged(lines: Iterable[bytes]) -> list[Logged]:
    """Return the change sets of lines."""
    return [_decoder.decode(line) for line in lines if line]


def _random_lineage() -> str:
    return secrets.token_hex(8)


class ChangeLog:
    """The change log of one store; whoever works on the file side holds its lock."""

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
        """Begin a new lineage with the next write: what happened meanwhile is not known."""
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
        """Return the lineage to which the store belongs, which is at this sequence.

        Raises:
            OSError: there is none yet, and the disk does not take one.
        """
        if self._head is None and not self._is_doubtful:
            self._load([])
        if self._head is None or self._is_doubtful:
            self._restart(sequence)
        assert self._head is not None
        return self._head.lineage

    def records(self) -> list[Logged]:
        """Return what the log holds, oldest first."""
        return decode_logged(self._lines()[1:])

    def cut(self, upto: int) -> None:
        """Drop what a backup has taken over.

        Raises:
            OSError: everything is still there.
        """
        if self._head is None or upto <= self._head.after:
            return
        kept = [line for line in self._lines()[1:] if _sequence_of(line) > upto]
        self._rewrite(_Head(self._head.lineage, max(upto, self._head.after)), kept)
        self._last = max(self._last, upto)

    def drop(self, entry_id: str) -> int:
        """Take an entry out of all change sets; return in how many it was.

        Raises:
            OSError: the file is as it was.
        """
        lines = self._lines()
        kept = [without_entry(line, entry_id) for line in lines[1:]]
        changed = sum(before != after for before, after in zip(lines[1:], kept, strict=True))
        if changed:
            self._rewrite(msgspec.json.decode(lines[0], type=_Head), kept)
        return changed

    def _read(self) -> bytes:
        try:
            return self._disk.read(self._path)
        except FileNotFoundError:
            return b""

    def _lines(self) -> list[bytes]:
        """Return the whole lines of the file; what a crash tore is in the journal still."""
        return self._read().split(b"\n")[:-1]

    def _load(self, records: list[JournalRecord]) -> None:
        """Read where the log ends; one that tells another story than the journal is given up."""
        data = self._read()
        lines = data.split(b"\n")[:-1]
        try:
            head = msgspec.json.decode(lines[0], type=_Head) if lines else None
            known = {_sequence_of(line): line for line in lines[1:]}
        except msgspec.MsgspecError:
            log.warning("change log damaged", extra={"file": self._path.name})
            self._is_doubtful = True
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
            self._disk.settle(self._path)  # a killed process may have left lines unsynced
            self._head, self._size = head, len(data)
        else:
            self._rewrite(head, list(known.values()))
        self._last = max([head.after, *known])

    def _restart(self, after: int) -> None:
        self._rewrite(_Head(self._new_lineage(), after), [])
        self._last, self._is_doubtful = after, False

    def _rewrite(self, head: _Head, lines: list[bytes]) -> None:
        data = b"".join(line + b"\n" for line in [msgspec.json.encode(head), *lines])
        self._disk.put(self._path, data)
        self._head, self._size = head, len(data)


def without_entry(line: bytes, entry_id: str) -> bytes:
    """Return the line of a change set without the changes of an entry."""
    if msgspec.json.encode(entry_id) not in line:
        return line
    logged = _decoder.decode(line)
    changes = tuple(one for one in logged.change_set.changes if one.id != entry_id)
    if len(changes) == len(logged.change_set.changes):
        return line
    rest = msgspec.structs.replace(logged.change_set, changes=changes)
    return encode_logged(logged.sequence, rest)


def _sequence_of(line: bytes) -> int:
    return msgspec.json.decode(line, type=_Numbered).sequence
