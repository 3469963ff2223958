"""Immutable views: the state of a store that every reader works on.

A view never changes. A write makes the next one from persistent maps, which share everything that
did not change, and the store swaps one attribute; readers take no lock.
"""

from collections.abc import Iterable, Iterator

import msgspec
from immutables import Map

from qms.memory.entry import Document, Header
from qms.memory.lines import decode_header, decode_line
from qms.memory.parts import document_id_of
from qms.memory.relations import Relation
from qms.memory.validation import version_of
from qms.store.titles import Titled, TitleIndex, fingerprint, title_key


class Record(msgspec.Struct, frozen=True, gc=False):
    """One entry in RAM: its decoded header and the bytes of its line."""

    header: Header
    line: bytes
    order: int = 0
    """The journal sequence of the write that made it; 0 when it was loaded from the file."""
    etag: str = ""
    """The version; empty until it is first requested."""

    @classmethod
    def from_line(cls, line: bytes, order: int = 0, etag: str = "") -> "Record":
        """Return the record of a line that this server wrote or checked before."""
        return cls(decode_header(line), line, order, etag)

    def document(self) -> Document:
        """Decode the whole entry."""
        return decode_line(self.line)

    def version(self) -> str:
        """Return the entry's version, which is computed once."""
        if not self.etag:
            msgspec.structs.force_setattr(self, "etag", version_of(self.document()))
        return self.etag


class StoreView(msgspec.Struct, frozen=True):
    """One moment of a store."""

    project: str
    records: "Map[str, Record]" = Map()
    titles: TitleIndex = TitleIndex.made_by(dict)
    incoming: "Map[str, Map[str, None]]" = Map()
    sequence: int = 0
    total_bytes: int = 0

    def get(self, entry_id: str) -> Record | None:
        """Return an entry, or None."""
        return self.records.get(entry_id)

    def parts_of(self, document_id: str) -> list[Record]:
        """Return the chunks of a document, in no order."""
        return _parts_of(document_id, self.records, self.incoming)

    def __len__(self) -> int:
        return len(self.records)


class ViewBuilder:
    """Builds the next view from a view; dropping the builder undoes everything."""

    def __init__(self, view: StoreView) -> None:
        self._project = view.project
        self.records = view.records
        self._titles = view.titles
        self._incoming = view.incoming
        self._sequence = view.sequence
        self.total_bytes = view.total_bytes

    def put(self, record: Record) -> None:
        """Add or replace an entry."""
        header = record.header
        before = self.records.get(header.id)
        if before is not None:
            self.total_bytes -= len(before.line) + 1
            self._unlink(before.header, kept=header.relations)
        self.total_bytes += len(record.line) + 1
        self.records = self.records.set(header.id, record)
        if (
            before is None
            or _title_of(before.header) != _title_of(header)
            or self._is_titled(header)
        ):
            if before is not None:
                self._drop_title(before.header)
            self._add_title(record)
        for relation in header.relations:
            sources = self._incoming.get(relation.target_id, _NO_SOURCES)
            if header.id not in sources:
                self._incoming = self._incoming.set(
                    relation.target_id, sources.set(header.id, None)
                )

    def remove(self, entry_id: str) -> Record | None:
        """Remove an entry and return it, or None when it was not there."""
        record = self.records.get(entry_id)
        if record is None:
            return None
        self.records = self.records.delete(entry_id)
        self.total_bytes -= len(record.line) + 1
        self._unlink(record.header, kept=())
        self._drop_title(record.header)
        return record

    def parts_of(self, document_id: str) -> list[Record]:
        """Return the chunks of a document, in no order."""
        return _parts_of(document_id, self.records, self._incoming)

    def same_title(self, kind: str, namespace: str | None, title: str) -> Iterator[Record]:
        """Yield the entries whose kind, namespace and case-folded title are these."""
        found = self._titles.get(title_key(kind, namespace, title))
        ids = [found] if isinstance(found, str) else found.prints if found else []
        folded = title.casefold()
        for record in map(self.records.__getitem__, ids):
            header = record.header
            is_alike = header.kind == kind and header.namespace == namespace
            if is_alike and header.title.casefold() == folded:
                yield record

    def find_exact(self, document: Document) -> Record | None:
        """Return an entry of the same kind, namespace, title and body, or None."""
        key = title_key(document["kind"], document.get("namespace"), document["title"])
        found = self._titles.get(key)
        if found is None:
            return None
        if isinstance(found, str):
            candidate: str | None = found
        else:
            candidate, *_ = found.ids.get(fingerprint(document["title"], document["body"]), (None,))
        record = self.records.get(candidate) if candidate else None
        if record is None:
            return None
        stored = record.document()
        same = all(stored.get(f) == document.get(f) for f in ("kind", "namespace", "title", "body"))
        return record if same else None

    def view(self, sequence: int | None = None) -> StoreView:
        """Return the view as built so far."""
        return StoreView(
            self._project,
            self.records,
            self._titles,
            self._incoming,
            self._sequence if sequence is None else sequence,
            self.total_bytes,
        )

    def _unlink(self, header: Header, kept: Iterable[Relation]) -> None:
        if not header.relations:
            return
        still = {relation.target_id for relation in kept}
        for target in {relation.target_id for relation in header.relations} - still:
            sources = self._incoming[target].delete(header.id)
            self._incoming = (
                self._incoming.set(target, sources) if sources else self._incoming.delete(target)
            )

    def _is_titled(self, header: Header) -> bool:
        """Say whether several entries have the title, so that fingerprints need an update."""
        return isinstance(self._titles.get(title_key(*_title_of(header))), Titled)

    def _add_title(self, record: Record) -> None:
        """Add a record of `records` under its title."""
        header = record.header
        key = title_key(*_title_of(header))
        found = self._titles.get(key)
        if found is None:
            self._titles = self._titles.set(key, header.id)
            return
        if found != header.id:
            self._titles = self._titles.set(key, _joined(found, record, self.records))

    def _drop_title(self, header: Header) -> None:
        key = title_key(*_title_of(header))
        found = self._titles.get(key)
        if isinstance(found, Titled) and header.id in found.prints:
            mark = found.prints[header.id]
            prints = found.prints.delete(header.id)
            others = tuple(one for one in found.ids[mark] if one != header.id)
            ids = found.ids.set(mark, others) if others else found.ids.delete(mark)
            self._titles = self._titles.set(key, Titled(prints, ids) if prints else None)
        elif found == header.id:
            self._titles = self._titles.set(key, None)


_NO_SOURCES: "Map[str, None]" = Map()


def _parts_of(
    document_id: str, records: "Map[str, Record]", incoming: "Map[str, Map[str, None]]"
) -> list[Record]:
    sources = (records[one] for one in incoming.get(document_id, _NO_SOURCES))
    return [one for one in sources if document_id_of(one.header) == document_id]


def _title_of(header: Header) -> tuple[str, str | None, str]:
    return header.kind, header.namespace, header.title


def _fingerprint_of(record: Record) -> int:
    document = record.document()
    return fingerprint(document["title"], document["body"])


def _joined(found: str | Titled, record: Record, records: "Map[str, Record]") -> Titled:
    """Return the entries of a title with one more."""
    if isinstance(found, str):
        mark = _fingerprint_of(records[found])
        found = Titled(Map({found: mark}), Map({mark: (found,)}))
    mark = _fingerprint_of(record)
    ids = found.ids.set(mark, (*found.ids.get(mark, ()), record.header.id))
    return Titled(found.prints.set(record.header.id, mark), ids)


def bulk_view(project: str, records: Iterable[Record], sequence: int) -> StoreView:
    """Return the view of many entries at once, as after a load; ids are distinct."""
    by_id: Map[str, Record] = Map({record.header.id: record for record in records})
    return StoreView(
        project,
        by_id,
        TitleIndex.made_by(lambda: _titles_of(by_id)),
        _incoming_of(record.header for record in by_id.values()),
        sequence,
        sum(len(record.line) for record in by_id.values()) + len(by_id),
    )


def _titles_of(records: "Map[str, Record]") -> dict[int, str | Titled]:
    titles: dict[int, str | Titled] = {}
    for entry_id, record in records.items():
        key = title_key(*_title_of(record.header))
        found = titles.setdefault(key, entry_id)
        if found is not entry_id:
            titles[key] = _joined(found, record, records)
    return titles


def _incoming_of(headers: Iterable[Header]) -> "Map[str, Map[str, None]]":
    sources: dict[str, dict[str, None]] = {}
    for header in headers:
        for relation in header.relations:
            sources.setdefault(relation.target_id, {})[header.id] = None
    return Map({target: Map(ids) for target, ids in sources.items()})
