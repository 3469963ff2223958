"""A draft: what a plan sees and changes inside the writer, before anything is on disk."""

from collections.abc import Iterator

import msgspec

from qms.codec.documents import encode_checked, header_of, version_of
from qms.codec.lines import decode_line
from qms.domain.changes import Change, Put, Remove
from qms.domain.entry import Document
from qms.domain.limits import Limits
from qms.store.view import Record, StoreView, ViewBuilder


class Draft:
    """The view plus everything queued before this plan, and the changes that the plan makes."""

    def __init__(self, view: StoreView, limits: Limits) -> None:
        self._builder = ViewBuilder(view)
        self._sequence = view.sequence + 1
        self._limits = limits
        self.changes: list[Change] = []

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

        Without `is_newer` it keeps its place among the entries that changed last.

        Raises:
            InvalidInputError: its line is longer than a line may be.
        """
        line = encode_checked(document, self._limits)
        version = version_of(document)
        before = self._builder.records.get(document["id"])
        created = before is None
        order = self._sequence if is_newer or before is None else before.order
        record = Record(header_of(document), line, order, version)
        self._builder.put(record)
        self.changes.append(Put(record.header.id, msgspec.Raw(line), version, created))
        return record

    def put_line(self, line: bytes) -> Record:
        """Create or replace an entry with a line that was valid before, byte for byte."""
        version = version_of(decode_line(line))
        record = Record.from_line(line, self._sequence, version)
        created = record.header.id not in self._builder.records
        self._builder.put(record)
        self.changes.append(Put(record.header.id, msgspec.Raw(line), version, created))
        return record

    def remove(
        self,
        entry_id: str,
        reason: str = "deleted",
        *,
        keep: bool = True,
        undo_id: str | None = None,
    ) -> None:
        """Take an entry out; its last version goes to the archive, unless it is not to be kept."""
        record = self._builder.remove(entry_id)
        if record is not None:
            self.changes.append(Remove(entry_id, msgspec.Raw(record.line), reason, keep, undo_id))

    def ids(self) -> list[str]:
        """Return the ids of all entries."""
        return list(self._builder.records)

    def finish(self) -> StoreView:
        """Return the view after this plan."""
        return self._builder.view(self._sequence)
