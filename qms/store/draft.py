"""A draft: the view that a plan reads and changes inside the writer, before the journal is written.

Each change is checked here against the right of the caller. No command has to remember the check,
because a draft has no other way to change an entry.
"""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from qms.memory.access import Right, check_delete, check_put
from qms.memory.changes import Change, Put, Remove
from qms.memory.entry import Document, Header
from qms.memory.errors import InvalidInputError, invalid
from qms.memory.limits import Limits
from qms.memory.lines import decode_line
from qms.memory.parts import CHUNK_COUNT, check_part, document_id_of
from qms.memory.retention import is_expired
from qms.memory.validation import encode_checked, header_of, normalise, version_of
from qms.memory.visibility import SHOWS_ALL, Visibility
from qms.store.view import Record, StoreView, ViewBuilder

EXPIRED = "expired"
"""The archive reason of an expired entry."""


class Draft:
    """The view plus everything queued before this plan, and the changes that the plan makes."""

    def __init__(self, view: StoreView, limits: Limits, right: Right) -> None:
        self.right = right
        self._builder = ViewBuilder(view)
        self._sequence = view.sequence + 1
        self._limits = limits
        self._visibility = SHOWS_ALL
        self._written: set[str] = set()
        self.is_whole_copy = False
        """Whether the plan copies whole documents: a sync, a restore."""
        self.changes: list[Change] = []

    def written_by(self, visibility: Visibility) -> "Draft":
        """Keep the parts of a replaced entry that this caller cannot see."""
        self._visibility = visibility
        return self

    @property
    def count(self) -> int:
        """Return how many entries there are."""
        return len(self._builder.records)

    @property
    def total_bytes(self) -> int:
        """Return how many bytes the entries take in the file."""
        return self._builder.total_bytes

    def get(self, entry_id: str) -> Record | None:
        """Return an entry, or None."""
        return self._builder.records.get(entry_id)

    def find_exact(self, document: Document) -> Record | None:
        """Return an entry of the same kind, namespace, title and body, or None."""
        return self._builder.find_exact(document)

    def same_title(self, kind: str, namespace: str | None, title: str) -> Iterator[Record]:
        """Yield the entries whose kind, namespace and case-folded title are these."""
        return self._builder.same_title(kind, namespace, title)

    def find_by_title(self, kind: str, namespace: str | None, title: str) -> Record | None:
        """Return the latest entry of this kind, namespace and case-folded title, or None."""
        found = self.same_title(kind, namespace, title)
        return max(
            found, key=lambda one: (one.order, one.header.timestamps.updated_utc), default=None
        )

    def put(self, document: Document, *, is_newer: bool = True) -> Record:
        """Create or replace an entry with a checked and normalised document.

        Without `is_newer` it keeps its place in the order of last changes.

        Raises:
            NotAllowedError: the right of this draft does not cover it.
            InvalidInputError: its line is longer than a line may be.
        """
        before = self.get(document["id"])
        document = self.with_hidden(document, before)
        header = header_of(document)
        self._check_put(before, header)
        line = encode_checked(document, self._limits)
        order = self._sequence if is_newer or before is None else before.order
        return self._put(Record(header, line, order, version_of(document)), before)

    def put_line(self, line: bytes) -> Record:
        """Create or replace an entry with a line that was valid before, byte for byte.

        Only the parts of the replaced entry that the caller cannot see are added.

        Raises:
            NotAllowedError: the right of this draft does not cover it.
        """
        document = decode_line(line)
        before = self.get(document["id"])
        kept = self.with_hidden(document, before)
        if kept != document:
            return self.put(kept)
        record = Record.from_line(line, self._sequence, version_of(document))
        self._check_put(before, record.header)
        return self._put(record, before)

    def shown(self, record: Record) -> Document:
        """Return what the caller sees of an entry."""
        return self._visibility.shown(record.document())

    def with_hidden(self, document: Document, before: Record | None) -> Document:
        """Return a replacement together with the parts of the old entry that the caller cannot see.

        Raises:
            InvalidInputError: both together exceed a limit; how much is hidden is not told.
        """
        if before is None or not self._visibility.hides_part_of(before.header, before.line):
            return document
        old = before.document()
        kept = normalise(self._visibility.with_hidden(document, old), like=old)
        limit = self._limits.relations
        if len(kept.get("relations", [])) > limit:
            raise _no_room("relations", "relations", limit)
        try:
            encode_checked(kept, self._limits)
        except InvalidInputError:
            raise _no_room("entry", "lineBytes", self._limits.line_bytes) from None
        return kept

    def remove(
        self,
        entry_id: str,
        reason: str = "deleted",
        *,
        keep: bool = True,
        force: bool = False,
        undo_id: str | None = None,
        with_parts: bool = True,
    ) -> None:
        """Remove an entry; its last version goes to the archive if `keep` is set.

        The chunks of a document go with it, unless the plan puts the document back.

        Raises:
            NotAllowedError: the right of this draft does not cover it.
            ConflictError: the entry is permanent, and `force` is missing.
        """
        record = self.get(entry_id)
        if record is not None:
            check_delete(self.right, record.header, force=force)
            self._check_part(record.header)
            self._remove(record, reason, keep=keep, undo_id=undo_id, with_parts=with_parts)

    def expire(self, entry_id: str, now: datetime, *, keep: bool = True) -> bool:
        """Remove an entry if it has expired, under any right, and say whether it had."""
        record = self.get(entry_id)
        if record is None or not is_expired(record.header, now):
            return False
        self._remove(record, EXPIRED, keep=keep)
        return True

    def parts_of(self, document_id: str) -> list[Record]:
        """Return the chunks of a document, in no order."""
        return self._builder.parts_of(document_id)

    def open_parts(self, document_id: str) -> None:
        """Allow this plan to change the chunks of a document that its caller may edit."""
        self._written.add(document_id)

    def _check_put(self, before: Record | None, after: Header) -> None:
        check_put(self.right, before.header if before else None, after)
        for header in (after, before.header) if before else (after,):
            self._check_part(header, is_added=before is None)

    def _check_part(self, header: Header, *, is_added: bool = False) -> None:
        document_id = document_id_of(header)
        document = self.get(document_id) if document_id else None
        if document is not None:
            is_open = document.header.id in self._written or self.is_whole_copy
            is_open = is_open or (is_added and self._is_incomplete(document))
            check_part(self.right, document.header, is_open=is_open)

    def _is_incomplete(self, document: Record) -> bool:
        """Say whether a document has fewer chunks than it says, as halfway through an import."""
        count = document.document().get("metadata", {}).get(CHUNK_COUNT)
        return isinstance(count, int) and len(self.parts_of(document.header.id)) < count

    def ids(self) -> list[str]:
        """Return the ids of all entries."""
        return list(self._builder.records)

    def finish(self) -> StoreView:
        """Return the view after this plan."""
        return self._builder.view(self._sequence)

    def _put(self, record: Record, before: Record | None) -> Record:
        self._builder.put(record)
        self._written.add(record.header.id)
        raw = msgspec.Raw(record.line)
        self.changes.append(Put(record.header.id, raw, record.version(), before is None))
        return record

    def _remove(
        self,
        record: Record,
        reason: str,
        *,
        keep: bool,
        undo_id: str | None = None,
        with_parts: bool = True,
    ) -> None:
        entry_id = record.header.id
        parts = self.parts_of(entry_id) if with_parts else []
        self._builder.remove(entry_id)
        self.changes.append(Remove(entry_id, msgspec.Raw(record.line), reason, keep, undo_id))
        for part in parts:
            self._remove(part, reason, keep=keep, undo_id=undo_id)


def _no_room(field: str, limit: str, maximum: int) -> InvalidInputError:
    reason = f"the limit {limit} of {maximum} leaves no room for this change of the entry"
    return invalid(field, reason, limit=limit, maximum=maximum)
