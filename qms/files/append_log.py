"""Append-only JSON lines beside the store: the archive and the conflict copies."""

import hashlib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from qms.codec.documents import instant_text
from qms.fsio.disk import Disk, FileIdentity

_TAIL_BYTES = 1 << 20
_MARK_BYTES = 4096


class _Object(msgspec.Struct):
    """Any JSON object; reading it as this one builds nothing."""


class LogMark(msgspec.Struct, frozen=True, rename="camel"):
    """How far a log had grown, and what its end looked like then."""

    bytes: int = 0
    tail_sha256: str = ""


def archive_line(
    entry: msgspec.Raw, *, reason: str, by: str, at_utc: datetime, undo_id: str | None = None
) -> bytes:
    """Return the line of the archive that keeps an entry, byte for byte."""
    kept = {"archivedUtc": instant_text(at_utc), "reason": reason, "by": by}
    undo = {} if undo_id is None else {"undoId": undo_id}
    return msgspec.json.encode({**kept, **undo, "entry": entry})


class AppendLog:
    """A file of JSON lines that only grows; a line that is there already is not added again."""

    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk = disk
        self._path = path
        self._recent: set[bytes] | None = None
        self._counted: FileIdentity | None = None
        self._count = 0

    def extend(self, lines: list[bytes]) -> None:
        """Append the lines that are not among the latest ones, durably.

        The latest lines are remembered, so that a replay after a crash adds nothing twice.

        Raises:
            OSError: none of them counts.
        """
        recent = self._recent
        if recent is None:
            recent = self._load_recent()
            if not recent.isdisjoint(lines):
                self._disk.settle(self._path)  # a killed process may have left them unsynced
        fresh = [line for line in dict.fromkeys(lines) if line not in recent]
        if fresh:
            self._disk.append(self._path, self._start() + b"".join(line + b"\n" for line in fresh))
            recent.update(fresh)
        self._recent = recent

    def read(self) -> list[dict[str, Any]]:
        """Return every readable line, oldest first."""
        found = []
        for line in self.lines():
            try:
                found.append(msgspec.json.decode(line, type=dict[str, Any]))
            except msgspec.MsgspecError:
                continue  # a line that a person broke
        return found

    def lines(self) -> list[bytes]:
        """Return every line, oldest first, readable or not."""
        if not self._path.exists():
            return []
        return [line for line in self._disk.read(self._path).split(b"\n") if line]

    def drop(self, is_dropped: Callable[[bytes], bool]) -> int:
        """Take lines out for good, all at once, and return how many.

        Raises:
            OSError: the file is as it was.
        """
        lines = self.lines()
        kept = [line for line in lines if not is_dropped(line)]
        if len(kept) < len(lines):
            self._disk.put(self._path, b"".join(line + b"\n" for line in kept))
        return len(lines) - len(kept)

    def count(self) -> int:
        """Return how many readable lines there are; the file is read only when it has changed."""
        identity = self._disk.identity(self._path)
        if identity != self._counted:
            self._counted, self._count = identity, sum(map(_is_object, self.lines()))
        return self._count

    def mark(self) -> LogMark:
        """Return how far the file has grown."""
        return self._mark_at(self._size())

    def since(self, mark: LogMark) -> bytes | None:
        """Return what was added since a mark, or None when lines before it were taken out."""
        size = self._size()
        if size < mark.bytes or self._mark_at(mark.bytes) != mark:
            return None
        is_longer = size > mark.bytes
        return self._disk.read_part(self._path, mark.bytes, size) if is_longer else b""

    def _size(self) -> int:
        identity = self._disk.identity(self._path)
        return identity.size if identity else 0

    def _mark_at(self, size: int) -> LogMark:
        length = min(size, _MARK_BYTES)
        tail = self._disk.read_part(self._path, size - length, length) if length else b""
        return LogMark(size, hashlib.sha256(tail).hexdigest())

    def forget_recent(self) -> None:
        """Stop guarding against repetition: nothing can be replayed any more."""
        self._recent = set()

    def _load_recent(self) -> set[bytes]:
        return set(self._disk.read_tail(self._path, _TAIL_BYTES).split(b"\n"))

    def _start(self) -> bytes:
        """Return the newline that a torn last line is missing."""
        return b"" if self._disk.read_tail(self._path, 1) in (b"", b"\n") else b"\n"


def _is_object(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=_Object)
    except msgspec.MsgspecError:
        return False
    return True
