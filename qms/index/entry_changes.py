"""Converts a store's records and change sets into the documents of its indexes."""

from collections.abc import Collection, Iterator

from qms.index.indexed_entry import IndexDocument, index_document
from qms.memory.changes import ChangeSet, Put
from qms.memory.entry import Header
from qms.memory.lines import decode_header, decode_line
from qms.store.view import Record, StoreView


class Documents:
    """The index documents of entries, decoded while they are iterated."""

    def __init__(self, records: list[Record]) -> None:
        self._records = records

    def __iter__(self) -> Iterator[IndexDocument]:
        return (index_document(record.header, record.document()) for record in self._records)

    def of(self, ids: Collection[str]) -> list[IndexDocument]:
        """Return the documents of these entries."""
        found = [record for record in self._records if record.header.id in ids] if ids else []
        return list(Documents(found))


def changed_documents(
    change_set: ChangeSet, view: StoreView
) -> tuple[list[IndexDocument], list[str]]:
    """Return the documents that a ChangeSet put, and the ids that it removed."""
    put: dict[str, IndexDocument] = {}
    removed: dict[str, None] = {}
    for change in change_set.changes:
        if isinstance(change, Put):
            put[change.id] = index_document(_header_of(change, view), decode_line(change.line))
            removed.pop(change.id, None)
        else:
            removed[change.id] = None
            put.pop(change.id, None)
    return list(put.values()), list(removed)


def _header_of(change: Put, view: StoreView) -> Header:
    """Return the header in the view: after a hand edit its time may differ from the line's."""
    record = view.get(change.id)
    is_shown = record is not None and record.line == change.line
    return record.header if record and is_shown else decode_header(change.line)
