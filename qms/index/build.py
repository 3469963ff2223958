"""Builds the indexes of a store: opens usable files and rebuilds the rest."""

import logging
from collections.abc import Iterable, Iterator

import msgspec

from qms.index.columns.column_file import Marks
from qms.index.columns.columns import Columns
from qms.index.embedding import marks_of
from qms.index.entry_changes import Documents, changed_documents
from qms.index.given_vectors import Misfits
from qms.index.index_files import IndexFiles
from qms.index.indexed_entry import IndexDocument, line_facets
from qms.index.vectors.vector_index import VectorIndex
from qms.index.words.keyword_index import KeywordIndex
from qms.memory.ports import Embedder
from qms.store.memory_store import MemoryStore
from qms.store.view import Record, StoreView

log = logging.getLogger(__name__)


class Built(msgspec.Struct, frozen=True):
    """The indexes that searches use."""

    columns: Columns
    keyword: KeywordIndex
    vectors: VectorIndex | None


class Rebuild(msgspec.Struct, frozen=True):
    """What to rebuild besides the keyword index."""

    vectors: bool = False


class Made(msgspec.Struct, frozen=True):
    """Indexes of one view of a store, and the entries that have no vectors yet."""

    built: Built
    sequence: int
    backlog: list[str]
    misfits: Misfits | None


class IndexMaker:
    """Builds the indexes of one store; one thread at a time."""

    def __init__(self, store: MemoryStore, files: IndexFiles) -> None:
        self._store = store
        self._files = files
        self.done = self.total = 0
        """How many entries of how many have been read."""
        # An empty store has no base at any start; a keyword index without entries matches it.
        self._is_doubtful = store.is_read_anew and (len(store.view) > 0 or files.has_words)
        if self._is_doubtful:
            # Now, not when the indexes are built: by then the sequences may match by chance.
            files.drop_words()

    def make(self, embedder: Embedder | None, before: Built | None, wanted: Rebuild) -> Made:
        """Return indexes of the current view, reusing those of `before` where possible."""
        view = self._store.view
        records = self._store.in_file_order(view)
        self.done, self.total = 0, len(records)
        marks = marks_of(records)
        columns = self._make_columns(records, marks)
        keyword = self._make_words(view, Documents(records), before)
        vectors = self._make_vectors(columns, embedder, before, wanted) if embedder else None
        waiting = vectors.keep(marks) if vectors is not None else ()
        backlog = columns.slots.ids_of([int(slot) for slot in waiting])
        misfits = Misfits(embedder.dimension, records) if embedder else None
        return Made(Built(columns, keyword, vectors), view.sequence, backlog, misfits)

    def _make_columns(self, records: list[Record], marks: Marks) -> Columns:
        """Return the columns; the slot of an entry is its place in `records`."""
        saved = self._files.open_columns(marks)
        if saved is not None:
            return Columns.restored(saved, [record.header for record in records])
        return Columns.of(line_facets(record.header, record.line) for record in records)

    def save_columns(self, columns: Columns) -> None:
        """Save the columns at closing, for a start with the same lines.

        Raises:
            OSError: the disk does not accept them.
        """
        records = self._store.in_file_order(self._store.view)
        marks = marks_of(records)
        if self._files.has_columns(marks):
            return
        arranged = columns.arranged([record.header.id for record in records])
        if arranged is not None:  # else columns and view differ
            self._files.save_columns(marks, arranged.saved())

    def _make_words(
        self, view: StoreView, documents: Documents, before: Built | None
    ) -> KeywordIndex:
        if before is None:
            return self._open_words(view, documents)
        if self._files.in_memory is not None:
            return self._fresh_words(view, documents)
        try:
            before.keyword.rebuild(self._counted(documents), sequence=view.sequence)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # a panic of tantivy is no Exception
            # The files on disk may be the reason why tantivy cannot write.
            log.exception("rebuilding keyword index in an empty folder")
            return self._fresh_words(view, documents)
        return before.keyword

    def _open_words(self, view: StoreView, documents: Documents) -> KeywordIndex:
        keyword = self._files.open_words()
        missed = self._store.uncut()
        first = missed[0][0] if missed else view.sequence + 1
        is_known = keyword.refused is None and not self._is_doubtful
        if not is_known or not first - 1 <= keyword.sequence <= view.sequence:
            keyword.rebuild(self._counted(documents), sequence=view.sequence)
            return keyword
        for sequence, change_set in missed:
            if keyword.sequence < sequence <= view.sequence:
                keyword.apply(sequence, *changed_documents(change_set, view))
        retimed = documents.of(keyword.retimed)
        if retimed:
            keyword.apply(view.sequence, retimed, [])
            keyword.retimed.clear()
        return keyword

    def _fresh_words(self, view: StoreView, documents: Documents) -> KeywordIndex:
        self._files.drop_words()
        keyword = self._files.open_words()
        keyword.rebuild(self._counted(documents), sequence=view.sequence)
        return keyword

    def _make_vectors(
        self, columns: Columns, embedder: Embedder, before: Built | None, wanted: Rebuild
    ) -> VectorIndex:
        if before is None and not wanted.vectors:
            return self._files.open_vectors(embedder, columns.slots)
        if before is None or before.vectors is None or wanted.vectors:
            return self._files.new_vectors(embedder, columns.slots)
        return before.vectors.compacted(columns.slots)

    def _counted(self, documents: Iterable[IndexDocument]) -> Iterator[IndexDocument]:
        for self.done, document in enumerate(documents):
            yield document
