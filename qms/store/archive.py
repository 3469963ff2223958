"""The archive of a store: the last versions of what left it, with when, why and by whom."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any

import msgspec

from qms.domain.changes import Remove
from qms.domain.errors import ConflictError
from qms.files.journal import JournalRecord
from qms.store.file_side import FileSide
from qms.store.fold import archive_lines, fold
from qms.store.options import FoldOutcome


class Archived(msgspec.Struct, frozen=True, rename="camel"):
    """One line of `archive.jsonl`."""

    archived_utc: datetime
    reason: str
    by: str
    entry: dict[str, Any]
    undo_id: str | None = None


class _Kept(msgspec.Struct, rename="camel"):
    """A line whose entry is left as it stands there."""

    archived_utc: datetime
    reason: str
    entry: msgspec.Raw
    undo_id: str | None = None


class _Named(msgspec.Struct):
    id: str


class Archive:
    """What left one store; what is still on its way from the journal is shown too."""

    def __init__(self, side: FileSide) -> None:
        self._side = side

    def entries(self) -> list[Archived]:
        """Return everything that is archived, oldest first; lines that nobody can read stay out."""
        with self._side.lock:
            lines = dict.fromkeys([*self._side.archive.lines(), *self._waiting()])
        return [one for line in lines if (one := _read(line)) is not None]

    def lines_of(self, entry_id: str) -> list[tuple[bytes, datetime, str]]:
        """Return the archived versions of an entry, byte for byte, with when and why they left."""
        return [
            (bytes(one.entry), one.archived_utc, one.reason)
            for one in self._kept(msgspec.json.encode(entry_id))
            if _id_of(one.entry) == entry_id
        ]

    def lines_undone_by(self, undo_id: str) -> list[bytes]:
        """Return what left together under this id, byte for byte."""
        kept = self._kept(msgspec.json.encode(undo_id))
        return [bytes(one.entry) for one in kept if one.undo_id == undo_id]

    def _kept(self, mark: bytes) -> "Iterator[_Kept]":
        """Yield the lines that hold some bytes, their entries undecoded."""
        with self._side.lock:
            lines = dict.fromkeys([*self._side.archive.lines(), *self._waiting()])
        for line in lines:
            if mark in line:
                with suppress(msgspec.MsgspecError):  # a line that a person broke
                    yield msgspec.json.decode(line, type=_Kept)

    def count(self) -> int:
        """Return how many versions are archived, or will be by the next fold."""
        with self._side.writer.lock:
            waiting = sum(
                isinstance(change, Remove) and change.kept
                for record in self._side.writer.uncut
                for change in record.change_set.changes
            )
        return self._side.archive.count() + waiting

    def purge(self, is_purged: Callable[[Archived], bool]) -> int:
        """Take out for good what `is_purged` names, and return how many versions that were.

        Raises:
            ConflictError: the file is being edited or held: what waits cannot be archived now.
            OSError: nothing is gone.
        """
        with self._side.lock:
            # What waits in the journal would come back with the next fold.
            if self._waiting() and fold(self._side) is not FoldOutcome.FOLDED:
                raise ConflictError(
                    f"entries.jsonl of {self._side.project} is being edited or held: try again"
                )
            return self._side.archive.drop(
                lambda line: (one := _read(line)) is not None and is_purged(one)
            )

    def _waiting(self) -> list[bytes]:
        with self._side.writer.lock:
            records: list[JournalRecord] = list(self._side.writer.uncut)
        return archive_lines(records)


def _id_of(entry: msgspec.Raw) -> str | None:
    try:
        return msgspec.json.decode(entry, type=_Named).id
    except msgspec.MsgspecError:
        return None


def _read(line: bytes) -> Archived | None:
    try:
        found = msgspec.json.decode(line, type=Archived)
    except msgspec.MsgspecError:
        return None
    return found if isinstance(found.entry.get("id"), str) else None
