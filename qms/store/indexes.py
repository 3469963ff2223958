"""The indexes of one store, in step with its view: columns, words, vectors.

They are caches. `follow` is called inside the writer for every ChangeSet, in order, so that a
search which starts after an answer sees what was answered; vectors come later, by `embed`.
Everything here may be deleted from disk and is made again from the entries.
"""

import logging
import math
import threading
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from qms.codec.lines import decode_header, decode_line
from qms.domain.changes import ChangeSet, Put
from qms.domain.entry import Header
from qms.domain.errors import UnavailableError
from qms.domain.ports import Embedder
from qms.fsio.disk import Disk
from qms.index.columns import Columns
from qms.index.documents import IndexDocument, index_document
from qms.index.keyword import KeywordIndex
from qms.index.keyword_files import MANIFEST
from qms.index.vector import Embedded, VectorIndex
from qms.index.vector_file import Refusal
from qms.store.memory_store import MemoryStore
from qms.store.view import Record, StoreView

if TYPE_CHECKING:  # the types of what an embedder returns
    import numpy as np
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

COMMIT_FROM = 500
"""So many waiting changes are brought into the keyword files without waiting for a quiet moment."""


class Built(msgspec.Struct, frozen=True):
    """The indexes as they serve."""

    columns: Columns
    keyword: KeywordIndex
    vectors: VectorIndex | None


class StoreIndexes:
    """What finds the entries of one store; made by `build`, then kept up by `follow`."""

    def __init__(self, store: MemoryStore, folder: Path | None, disk: Disk) -> None:
        self._store = store
        self._folder = folder
        self._disk = disk
        self._lock = threading.Lock()
        self._is_ready = threading.Event()
        self._missed: list[tuple[int, ChangeSet]] | None = None
        """What happens while `build` runs; before that there is nothing to miss."""
        self._built: Built | None = None
        self._backlog: dict[str, None] = {}
        self.problem: str | None = None
        self.rests_until = 0.0
        """What failed is left alone until then, by the monotonic clock."""
        self._distrust_files()
        store.subscribe(self.follow)

    @property
    def backlog(self) -> int:
        """Return how many entries wait for their vectors."""
        return len(self._backlog)

    @property
    def is_ready(self) -> bool:
        """Say whether the indexes serve."""
        return self._is_ready.is_set()

    def wait(self, timeout_s: float) -> Built | None:
        """Return the indexes once they serve, or None when that takes longer."""
        self._is_ready.wait(timeout_s)
        return self._built

    def build(self, embedder: Embedder | None) -> None:
        """Open what is on disk, make what is not, and serve from now on."""
        missed: list[tuple[int, ChangeSet]] = []
        with self._lock:
            self._missed = missed
        try:
            self._build(embedder, missed)
        finally:
            self._missed = None

    def _build(self, embedder: Embedder | None, missed: list[tuple[int, ChangeSet]]) -> None:
        view = self._store.view
        records = self._store.in_file_order(view)
        documents = [index_document(record.header, record.document()) for record in records]
        columns = Columns.of(documents)
        keyword = self._open_keyword(view, documents)
        vectors = self._open_vectors(columns, embedder, view) if embedder else None
        with self._lock:
            self._built = Built(columns, keyword, vectors)
            if vectors is not None:
                wanted = (record for record in records if vectors.mark_of(record.header.id) is None)
                self._backlog.update(dict.fromkeys(record.header.id for record in wanted))
            for sequence, change_set in missed:
                if sequence > view.sequence:
                    self._apply(self._built, sequence, change_set)
            self._is_ready.set()

    def follow(self, sequence: int, change_set: ChangeSet) -> None:
        """Take in what a commit did."""
        with self._lock:
            if self._built is not None:
                self._apply(self._built, sequence, change_set)
            elif self._missed is not None:
                self._missed.append((sequence, change_set))

    def embed(self, embedder: Embedder, most: int) -> int:
        """Give up to `most` waiting entries their vectors; return how many still wait."""
        built = self._built
        if built is None or built.vectors is None:
            return 0
        with self._lock:
            chosen = list(self._backlog)[:most]
        records = [record for one in chosen if (record := self._store.view.get(one)) is not None]
        embedded = list(_embedded(records, embedder))
        with self._lock:
            current = [one for one in embedded if _is_current(self._store.view, one)]
            built.vectors.put_all(one for one in current if _has_vectors(one))
            for entry_id in chosen:
                record = self._store.view.get(entry_id)
                if record is None or built.vectors.mark_of(entry_id) == mark_of(record.line):
                    self._backlog.pop(entry_id, None)
            for one in current:
                if not _has_vectors(one):
                    built.vectors.remove(one.entry_id)
                    self._backlog.pop(one.entry_id, None)
            return len(self._backlog)

    def compact(self) -> None:
        """Give up the slots of entries that are gone, once they are most of them.

        The thread that calls `embed` calls this: both hold on to the vectors between two steps.
        """
        with self._lock:
            built = self._built
            if built is None or not built.columns.is_sparse:
                return
            columns, vectors = built.columns.compacted(), built.vectors
            if vectors is not None:
                vectors = vectors.compacted(columns.slots)
            self._built = Built(columns, built.keyword, vectors)

    def commit(self, *, is_quiet: bool) -> None:
        """Bring waiting changes into the keyword files when there are many, or nobody writes."""
        built = self._built
        if (
            built is not None
            and built.keyword.pending
            and (is_quiet or built.keyword.pending >= COMMIT_FROM)
        ):
            built.keyword.commit()

    def close(self) -> None:
        """Save what spares the next start its work."""
        built = self._built
        if built is None:
            return
        for save in (self._save_words, self._save_vectors):
            try:
                save(built)
            except (OSError, UnavailableError) as error:
                log.warning("indexes not saved", extra={"reason": str(error)})
        built.keyword.close()

    def _save_words(self, built: Built) -> None:
        if built.keyword.pending:
            built.keyword.commit()

    def _save_vectors(self, built: Built) -> None:
        if built.vectors is not None and self._folder is not None:
            path = self._folder / "vectors.dat"
            built.vectors.save(path, self._disk, sequence=self._store.view.sequence)

    def _distrust_files(self) -> None:
        """Have keyword files made anew when the store's sequences say nothing about them.

        At once, and not in `build`: the sequences may have caught up at the next start.
        """
        if self._folder is None or not self._store.is_read_anew:
            return
        try:
            self._disk.remove(self._folder / "tantivy" / MANIFEST)
        except OSError as error:
            log.warning("keyword files not dropped", extra={"reason": error.strerror})

    def _open_keyword(self, view: StoreView, documents: list[IndexDocument]) -> KeywordIndex:
        folder = self._folder / "tantivy" if self._folder else None
        keyword = KeywordIndex.open(folder, disk=self._disk)
        missed = self._store.uncut()
        first = missed[0][0] if missed else view.sequence + 1
        is_known = keyword.refused is None and not self._store.is_read_anew
        if is_known and first - 1 <= keyword.sequence <= view.sequence:
            for sequence, change_set in missed:
                if keyword.sequence < sequence <= view.sequence:
                    keyword.apply(sequence, *_changes(change_set, view))
            return keyword
        keyword.rebuild(documents, sequence=view.sequence)
        return keyword

    def _open_vectors(self, columns: Columns, embedder: Embedder, view: StoreView) -> VectorIndex:
        if self._folder is not None:
            loaded = VectorIndex.load(
                self._folder / "vectors.dat",
                self._disk,
                dimension=embedder.dimension,
                model_id=embedder.model_id,
                slots=columns.slots,
            )
            if not isinstance(loaded, Refusal):
                for entry_id in loaded.ids():
                    record = view.get(entry_id)
                    if record is None or loaded.mark_of(entry_id) != mark_of(record.line):
                        loaded.remove(entry_id)
                return loaded
            log.info("vectors are made anew", extra={"reason": loaded.reason})
        return VectorIndex(embedder.dimension, embedder.model_id, slots=columns.slots)

    def _apply(self, built: Built, sequence: int, change_set: ChangeSet) -> None:
        put, removed = _changes(change_set, self._store.view)
        built.columns.apply(put, removed)
        built.keyword.apply(sequence, put, removed)
        if built.vectors is None:
            return
        for entry_id in removed:
            built.vectors.remove(entry_id)
            self._backlog.pop(entry_id, None)
        self._backlog.update(dict.fromkeys(document.id for document in put))


def mark_of(line: bytes) -> int:
    """Return by what an entry's vectors are known to belong to this line."""
    return zlib.crc32(line) | len(line) << 32


def embedded_text(document: IndexDocument) -> str:
    """Return the text whose meaning stands for an entry: a title of its own belongs to it."""
    title = document.title.removesuffix("…")
    return document.text if document.text.startswith(title) else f"{title}\n{document.text}"


def _embedded(records: Iterable[Record], embedder: Embedder) -> Iterable[Embedded]:
    pieces: list[list[str]] = []
    given: list[tuple[Record, list[float] | None]] = []
    for record in records:
        document = record.document()
        own = _own_vector(document.get("embedding"), embedder.dimension)
        text = embedded_text(index_document(record.header, document))
        pieces.append([] if own else embedder.pieces(text))
        given.append((record, own))
    vectors = embedder.embed([piece for found in pieces for piece in found])
    start = 0
    for (record, own), found in zip(given, pieces, strict=True):
        rows: object = [own] if own else _usable(vectors[start : start + len(found)])
        start += len(found)
        yield Embedded(record.header.id, rows, mark_of(record.line))


def _usable(rows: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Return the rows with a direction: signs that say nothing to the model may give zeros."""
    return rows[[0.0 < float(row @ row) < math.inf for row in rows]]


def _own_vector(given: object, dimension: int) -> list[float] | None:
    """Return the vector that came with an entry, if it fits the model and has a direction."""
    fits = isinstance(given, list) and len(given) == dimension and any(given)
    return given if fits else None  # type: ignore[return-value]  # numbers: the entry was checked


def _is_current(view: StoreView, one: Embedded) -> bool:
    record = view.get(one.entry_id)
    return record is not None and mark_of(record.line) == one.mark


def _has_vectors(one: Embedded) -> bool:
    return len(one.vectors) > 0  # type: ignore[arg-type]  # an array or a list


def _changes(change_set: ChangeSet, view: StoreView) -> tuple[list[IndexDocument], list[str]]:
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
