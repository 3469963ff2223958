"""The archive of a store: the last version of each removed entry, with time, reason and user."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime

import msgspec

from qms.disk.damage import line_fault
from qms.disk.line_checksum import unsealed
from qms.memory.deadline import NO_DEADLINE, Deadline
from qms.memory.errors import UNDECODABLE, ConflictError
from qms.store.archive_lines import Archived, read_archived
from qms.store.file_state import StoreFiles
from qms.store.fold import archive_lines, fold
from qms.store.journal import JournalRecord
from qms.store.options import FoldOutcome


class _Kept(msgspec.Struct, rename="camel"):
    """A line whose entry stays undecoded."""

    archived_utc: datetime
    reason: str
    entry: msgspec.Raw
    undo_id: str | None = None


class _Named(msgspec.Struct):
    id: str


class Archive:
    """The entries that left one store, including removals that are only in the journal yet."""

    def __init__(self, files: StoreFiles) -> None:
        self._files = files

    def entries(self, deadline: Deadline = NO_DEADLINE) -> list[Archived]:
        """Return everything that is archived, oldest first, without unreadable lines."""
        with self._files.lock:
            lines = self._lines()
        return [one for line in deadline.rows(lines) if (one := read_archived(line)) is not None]

    def lines_of(self, entry_id: str) -> list[tuple[bytes, datetime, str]]:
        """Return the archived versions of an entry, byte for byte, with when and why they left."""
        return [
            (bytes(one.entry), one.archived_utc, one.reason)
            for one in self._kept(msgspec.json.encode(entry_id))
            if _id_of(one.entry) == entry_id
        ]

    def lines_undone_by(self, undo_id: str) -> list[bytes]:
        """Return the entries that were removed under this undo id, byte for byte."""
        kept = self._kept(msgspec.json.encode(undo_id))
        return [bytes(one.entry) for one in kept if one.undo_id == undo_id]

    def _kept(self, mark: bytes) -> "Iterator[_Kept]":
        """Yield the lines that contain these bytes, their entries undecoded."""
        with self._files.lock:
            lines = self._lines()
        for line in lines:
            if mark in line and line_fault(line) is None:
                with suppress(*UNDECODABLE):  # a line that a person broke
                    yield msgspec.json.decode(line, type=_Kept)

    def count(self) -> int:
        """Return how many versions are archived, or will be by the next fold."""
        waiting = self._waiting()  # a postponed fold may have archived some of it already
        lacking = self._files.archive.lacking(waiting) if waiting else []
        return self._files.archive.count() + len(lacking)

    def purge(self, is_purged: Callable[[Archived], bool]) -> int:
        """Delete what `is_purged` selects for good, and return how many versions that were.

        Raises:
            ConflictError: the file is being edited or held: the journal cannot be folded now.
            OSError: nothing was deleted.
        """
        with self._files.lock:
            # Removals that are still in the journal would come back with the next fold.
            if self._waiting() and fold(self._files) is not FoldOutcome.FOLDED:
                raise ConflictError(
                    f"entries.jsonl of {self._files.project} is being edited or held: try again"
                )
            return self._files.archive.drop(
                lambda line: (one := read_archived(line)) is not None and is_purged(one)
            )

    def _lines(self) -> list[bytes]:
        """Return every line once; a line with and one without a checksum count as the same."""
        lines = [*self._files.archive.lines(), *self._waiting()]
        return list({unsealed(line): line for line in lines}.values())

    def _waiting(self) -> list[bytes]:
        with self._files.writer.lock:
            records: list[JournalRecord] = list(self._files.writer.uncut)
        return archive_lines(records)


def _id_of(entry: msgspec.Raw) -> str | None:
    try:
        return msgspec.json.decode(entry, type=_Named).id
    except UNDECODABLE:
        return None
