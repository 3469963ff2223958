"""What a store's entries, and a change of them, mean to its indexes."""

from collections.abc import Collection, Iterator

from qms.codec.lines import decode_header, decode_line
from qms.domain.changes import ChangeSet, Put
from qms.domain.entry import Header
from qms.index.documents import IndexDocument, index_document
from qms.store.view import Record, StoreView


class Documents:
    """What is indexed of entries, decoded when somebody reads it."""

    def __init__(self, records: list[Record]) -> None:
        self._records = records

    def __iter__(self) -> Iterator[IndexDocument]:
        return (index_document(record.header, record.document()) for record in self._records)

    def of(self, ids: Collection[str]) -> list[IndexDocument]:
        """Return those of some entries."""
        found = [record for record in self._records if record.header.id in ids] if ids else []
        return list(Documents(found))


def changed_documents(
    change_set: ChangeSet, view: StoreView
) -> tuple[list[IndexDocument], list[str]]:
    """Return what a ChangeSet put, and the ids that it took away."""
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
    """Return the header that the view shows: of a hand edit it knows the time, its line may not."""
    record = view.get(change.id)
    is_shown = record is not None and record.line == change.line
    return record.header if record and is_shown else decode_header(change.line)
