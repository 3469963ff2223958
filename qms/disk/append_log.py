"""Append-only files of JSON lines, such as the archive and the conflict copies."""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from qms.disk.disk import Disk, FileIdentity
from qms.disk.line_checksum import sealed, unsealed
from qms.disk.regular_files import UnfitFileError
from qms.memory.errors import UNDECODABLE
from qms.memory.validation import instant_text

_TAIL_BYTES = 1 << 20
_MARK_BYTES = 4096
_FORMAT = 1


class _Object(msgspec.Struct):
    """Any JSON object; decoding to this type builds no values."""


class LogMark(msgspec.Struct, frozen=True, rename="camel"):
    """The size of a log at one moment, and the hash of its tail then."""

    bytes: int = 0
    tail_sha256: str = ""


def archive_line(
    entry: msgspec.Raw, *, reason: str, by: str, at_utc: datetime, undo_id: str | None = None
) -> bytes:
    """Return the archive line of an entry; the entry is kept byte for byte."""
    kept = {"archivedUtc": instant_text(at_utc), "reason": reason, "by": by}
    undo = {} if undo_id is None else {"undoId": undo_id}
    return sealed(msgspec.json.encode({**kept, **undo, "entry": entry}))


class AppendLog:
    """A file of JSON lines that only grows; recent lines are not added twice."""

    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk = disk
        self._path = path
        self._recent: set[bytes] | None = None
        self._counted: FileIdentity | None = None
        self._count = 0

    def extend(self, lines: list[bytes]) -> None:
        """Append the lines that are not among the latest ones, and sync.

        The latest lines are remembered, so that a replay after a crash adds nothing twice.

        Raises:
            OSError: none of the lines was added.
        """
        recent = self._recent
        if recent is None:
            recent = self._load_recent()
            if not recent.isdisjoint(map(unsealed, lines)):
                self._disk.settle(self._path)  # a killed process may have left them unsynced
        fresh = [line for line in dict.fromkeys(lines) if unsealed(line) not in recent]
        if fresh:
            self._disk.append(self._path, self._start() + b"".join(line + b"\n" for line in fresh))
            recent.update(map(unsealed, fresh))
        self._recent = recent

    def lacking(self, lines: list[bytes]) -> list[bytes]:
        """Return the lines that are not among the latest ones of the file."""
        recent = self._load_recent() if self._recent is None else self._recent
        return [line for line in dict.fromkeys(lines) if unsealed(line) not in recent]

    def read(self) -> list[dict[str, Any]]:
        """Return every readable line, oldest first."""
        found = []
        for line in self.lines():
            try:
                found.append(msgspec.json.decode(line, type=dict[str, Any]))
            except UNDECODABLE:
                continue  # a line that an edit by hand broke
        return found

    def lines(self) -> list[bytes]:
        """Return every line, oldest first, readable or not."""
        if not self._path.exists():
            return []
        return [line for line in self._disk.read(self._path).split(b"\n") if line]

    def drop(self, is_dropped: Callable[[bytes], bool]) -> int:
        """Remove lines permanently in one step, and return how many.

        Raises:
            OSError: the file is as it was.
        """
        lines = self.lines()
        kept = [line for line in lines if not is_dropped(line)]
        if len(kept) < len(lines):
            self._disk.put(self._path, b"".join(line + b"\n" for line in kept))
        return len(lines) - len(kept)

    def count(self) -> int:
        """Return the number of readable lines; the file is read only when it has changed."""
        identity = self._disk.identity(self._path)
        if identity != self._counted:
            try:
                self._counted, self._count = identity, sum(map(_is_object, self.lines()))
            except UnfitFileError:
                return 0  # the disk reports it
        return self._count

    def mark(self) -> LogMark:
        """Return the mark of the current end of the file."""
        return self.mark_at(self._size())

    def since(self, mark: LogMark) -> bytes | None:
        """Return the bytes added since a mark, or None when lines before it were removed."""
        size = self._size()
        if size < mark.bytes or self.mark_at(mark.bytes) != mark:
            return None
        is_longer = size > mark.bytes
        return self._disk.read_part(self._path, mark.bytes, size) if is_longer else b""

    def _size(self) -> int:
        identity = self._disk.identity(self._path)
        return identity.size if identity else 0

    def mark_at(self, size: int) -> LogMark:
        """Return the mark of the file at a size."""
        length = min(size, _MARK_BYTES)
        tail = self._disk.read_part(self._path, size - length, length) if length else b""
        return LogMark(size, hashlib.sha256(tail).hexdigest())

    def forget_recent(self) -> None:
        """Forget the latest lines: nothing can be replayed any more."""
        self._recent = set()

    def _load_recent(self) -> set[bytes]:
        return set(map(unsealed, self._disk.read_tail(self._path, _TAIL_BYTES).split(b"\n")))

    def _start(self) -> bytes:
        """Return the newline that a torn last line lacks, if any."""
        return b"" if self._disk.read_tail(self._path, 1) in (b"", b"\n") else b"\n"


class _Note(msgspec.Struct, frozen=True):
    """The size that a log had when the server last wrote it."""

    format: int
    bytes: int


class NotedLog(AppendLog):
    """A log whose size is noted in a file beside it, so that lost lines are noticed.

    The note is never above what the server wrote: it is raised after lines were added, and
    lowered before lines are removed. Without a note nothing counts as lost.
    """

    def __init__(self, disk: Disk, path: Path, note: Path) -> None:
        super().__init__(disk, path)
        self._note_path = note
        self._noted = 0
        self._expected: int | None = None

    def extend(self, lines: list[bytes]) -> None:
        """Append lines as `AppendLog` does, and note the size."""
        expected, before = self._expected_bytes(), self._size()
        super().extend(lines)
        self._write_note(expected + self._size() - before)

    def drop(self, is_dropped: Callable[[bytes], bool]) -> int:
        """Remove lines as `AppendLog` does, and note the size."""
        dropped = sum(len(line) + 1 for line in self.lines() if is_dropped(line))
        if dropped:
            self._write_note(max(0, self._expected_bytes() - dropped))
        return super().drop(is_dropped)

    def lost_bytes(self) -> int:
        """Return how many of the bytes that the server wrote are no longer there."""
        return max(0, self._expected_bytes() - self._size())

    def _expected_bytes(self) -> int:
        if self._expected is None:
            self._expected = self._noted = self._read_note()
        self._expected = max(self._expected, self._size())
        return self._expected

    def _read_note(self) -> int:
        if not self._note_path.exists():
            return 0
        try:
            note = msgspec.json.decode(self._disk.read(self._note_path), type=_Note)
        except (OSError, *UNDECODABLE):
            return 0  # a cache: the next write makes it anew
        return note.bytes if note.format == _FORMAT else 0

    def _write_note(self, expected: int) -> None:
        self._expected = expected
        if expected == self._noted:
            return
        with suppress(OSError):  # the next write tries again
            self._disk.put(self._note_path, msgspec.json.encode(_Note(_FORMAT, expected)) + b"\n")
            self._noted = expected


def _is_object(line: bytes) -> bool:
    try:
        line.decode()
        msgspec.json.decode(line, type=_Object)
    except UNDECODABLE:
        return False
    return True
