"""Handles internal files that cannot be read: sets them aside or skips lines, and reports them.

Such a file never stops a start. A file that is read as a whole is renamed and rebuilt; in a file of
lines the bad line is skipped and stays where it is.
"""

import logging
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from qms.disk.append_log import AppendLog
from qms.disk.disk import Disk
from qms.disk.line_checksum import is_altered
from qms.memory.errors import UNDECODABLE

SUFFIX = ".damaged"
"""The suffix of a file that was set aside; a later one of the same name replaces it."""

MAX_BAD_LINES = 100
"""At most this many bad lines of one file are reported; the others are skipped too."""

log = logging.getLogger(__name__)


class Damage(msgspec.Struct, frozen=True):
    """A file, or a line of it, that cannot be read."""

    file: str
    reason: str
    line: int | None = None


class _Object(msgspec.Struct):
    """Any JSON object."""


_object_decoder = msgspec.json.Decoder(_Object)


def set_aside(disk: Disk, path: Path, error: Exception) -> None:
    """Rename a file that cannot be read, so that it can be rebuilt and the old one inspected."""
    reason = f"{type(error).__name__}: {error}"
    try:
        disk.replace(path, path.with_name(path.name + SUFFIX))
    except OSError as failure:
        reason = f"{reason}; it cannot be renamed: {failure.strerror}"
    log.warning("damaged file set aside", extra={"file": path.name, "reason": reason})


def find_set_aside(folders: Iterable[Path]) -> list[Damage]:
    """Return a report for each file that was set aside in these folders and is still there."""
    return [
        Damage(
            path.name.removesuffix(SUFFIX),
            f"was damaged and rebuilt; the damaged file is {path.name}: inspect it, then remove it",
        )
        for folder in folders
        for path in sorted(folder.glob(f"*{SUFFIX}"))
    ]


class LineCheck:
    """Finds the lines of a file that cannot be read; checked lines are not read again."""

    def __init__(
        self, disk: Disk, path: Path, fault: Callable[[bytes], str | None] | None = None
    ) -> None:
        self._path = path
        self._fault = fault or line_fault
        self._log = AppendLog(disk, path)
        self._mark = self._log.mark_at(0)
        self._lines = 0
        self._found: list[Damage] = []

    @property
    def name(self) -> str:
        """Return the name of the file."""
        return self._path.name

    def forget(self) -> None:
        """Read every line again at the next run, including those that were good before."""
        self._mark, self._lines, self._found = self._log.mark_at(0), 0, []

    def run(self) -> list[Damage]:
        """Return the lines of the current file that cannot be read.

        Raises:
            OSError: the file cannot be read at all.
        """
        added = self._log.since(self._mark)
        if added is None:
            self.forget()
            added = self._log.since(self._mark) or b""
        whole, _, rest = added.rpartition(b"\n")
        if whole:
            lines = whole.split(b"\n")
            self._found += self._faults(lines)
            self._lines += len(lines)
            self._mark = self._log.mark_at(self._mark.bytes + len(whole) + 1)
        return [*self._found, *self._faults([rest])][:MAX_BAD_LINES]

    def _faults(self, lines: list[bytes]) -> list[Damage]:
        return [
            Damage(self._path.name, reason, number)
            for number, line in enumerate(lines, self._lines + 1)
            if (reason := self._fault(line)) is not None
        ]


def line_fault(line: bytes) -> str | None:
    """Return why a line is not a JSON object in UTF-8, or None; a blank line is no fault."""
    if not line.strip():
        return None
    try:
        line.decode()
        _object_decoder.decode(line)
    except UnicodeDecodeError as error:
        return f"is not UTF-8 at byte {error.start + 1}: the line is left out"
    except UNDECODABLE:
        return "is not a JSON object: the line is left out"
    if is_altered(line):
        return "was changed since it was written: the line is left out"
    return None
