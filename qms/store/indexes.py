"""The indexes of one store, in step with its view: columns, words, vectors.

They are caches. `follow` is called inside the writer for every ChangeSet, in order, so that a
search which starts after an answer sees what was answered; vectors come later, by `embed`.
Everything here may be deleted from disk and is made again from the entries. What goes wrong in
`follow` never reaches the writer: the indexes are then made anew, and say so until they are.
"""

import logging
import math
import threading
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from qms.codec.lines import decode_header, decode_line
from qms.domain.changes import HAND_EDIT, ChangeSet, Put
from qms.domain.entry import Header
from qms.domain.errors import UnavailableError
from qms.domain.ports import Embedder
from qms.fsio.disk import Disk
from qms.index.columns import Columns
from qms.index.documents import IndexDocument, index_document, line_facets
from qms.index.keyword import KeywordIndex
from qms.index.keyword_files import find_damage
from qms.index.vector import VectorIndex
from qms.store.embedding import drop_outdated, embed_records, has_vectors, is_current, mark_of
from qms.store.index_files import IndexFiles
from qms.store.index_saving import SavePace
from qms.store.memory_store import MemoryStore
from qms.store.options import IndexState, IndexStatus, Problem
from qms.store.view import Record, StoreView

log = logging.getLogger(__name__)

COMMIT_FROM = 500
"""So many waiting changes are brought into the keyword files without waiting for a quiet moment."""


class Built(msgspec.Struct, frozen=True):
    """The indexes as they serve."""

    columns: Columns
    keyword: KeywordIndex
    vectors: VectorIndex | None


class Rebuild(msgspec.Struct, frozen=True):
    """What is to be made anew besides the words."""

    vectors: bool = False


class _Documents:
    """What is indexed of entries, decoded when somebody reads it."""

    def __init__(self, records: list[Record]) -> None:
        self._records = records

    def __iter__(self) -> Iterator[IndexDocument]:
        return (index_document(record.header, record.document()) for record in self._records)

    def of(self, ids: Collection[str]) -> list[IndexDocument]:
        """Return those of some entries."""
        found = [record for record in self._records if record.header.id in ids] if ids else []
        return list(_Documents(found))


class StoreIndexes:
    """What finds the entries of one store; made by `make`, then kept up by `follow`."""

    def __init__(self, store: MemoryStore, folder: Path | None, disk: Disk) -> None:
        self._store = store
        self._disk = disk
        self._files = IndexFiles(folder, disk)
        self._lock = threading.Lock()
        self._saving = threading.Lock()
        self._is_ready = threading.Event()
        self._missed: list[tuple[int, ChangeSet]] | None = None
        """What happens while indexes are made; before that there is nothing to miss."""
        self._built: Built | None = None
        self._backlog: dict[str, None] = {}
        self._wanted: Rebuild | None = None
        self._asked = self._finished = 0
        self._done = self._total = 0
        self._doubt: str | None = None
        self._pace = SavePace()
        self.problem: str | None = None
        self.rests_until = 0.0
        """What failed is left alone until then, by the monotonic clock."""
        if store.is_read_anew:
            # At once, and not when they are made: the sequences may have caught up by then.
            self._files.drop_words()
        store.subscribe(self.follow)

    @property
    def backlog(self) -> int:
        """Return how many entries wait for their vectors."""
        return len(self._backlog)

    @property
    def is_ready(self) -> bool:
        """Say whether the indexes serve."""
        return self._is_ready.is_set()

    @property
    def wants_making(self) -> bool:
        """Say whether `make` has something to do."""
        return not self.is_ready or self._wanted is not None

    @property
    def in_memory(self) -> bool:
        """Say whether the words are in RAM only, because the disk did not take them."""
        return self._files.in_memory is not None

    def wait(self, timeout_s: float) -> Built | None:
        """Return the indexes once they serve, or None when that takes longer."""
        self._is_ready.wait(timeout_s)
        return self._built

    def status(self) -> IndexStatus:
        """Return how far the indexes are."""
        state = IndexState.READY if self.is_ready else IndexState.MAKING
        is_rebuilt = self.is_ready and self._wanted is not None
        return IndexStatus(
            state=IndexState.REBUILDING if is_rebuilt else state,
            done=self._done,
            total=self._total,
            rebuilds=self._finished,
            in_memory=self.in_memory,
        )

    def problems(self) -> list[Problem]:
        """Return what a person should know of the indexes."""
        found = []
        if self.problem is not None:
            reason = f"indexes cannot be made or written now ({self.problem}); it is tried again"
            found.append(("indexes", reason))
        if self._files.in_memory is not None:
            reason = f"words are indexed in memory only: {self._files.in_memory}"
            found.append(("indexesInMemory", reason))
        if self._doubt is not None:
            found.append(("indexesDoubtful", f"{self._doubt}; they are being made anew"))
        return [
            Problem(code=code, project=self._store.project, reason=reason, file="indexes")
            for code, reason in found
        ]

    def ask_rebuild(self, *, vectors: bool) -> int:
        """Have everything made anew; return the number that `rebuilds` reaches when it is."""
        with self._lock:
            had_vectors = self._wanted is not None and self._wanted.vectors
            self._wanted = Rebuild(vectors=vectors or had_vectors)
            self._asked += 1
            return self._asked

    def distrust(self, reason: str) -> None:
        """Have the indexes made anew, since they may not be what they should."""
        with self._lock:
            self._doubt = reason
            self._wanted = self._wanted or Rebuild()
        self._files.drop_words()

    def make(self, embedder: Embedder | None) -> None:
        """Open what is on disk, make what is not, or all of it if asked to; serve from now on."""
        missed: list[tuple[int, ChangeSet]] = []
        with self._lock:
            self._missed, wanted, asked = missed, self._wanted, self._asked
        try:
            self._make(embedder, missed, wanted or Rebuild())
        finally:
            self._missed = None
        with self._lock:
            self._finished = asked
            if self._wanted is wanted:
                self._wanted = self._doubt = None

    def _make(
        self, embedder: Embedder | None, missed: list[tuple[int, ChangeSet]], wanted: Rebuild
    ) -> None:
        view = self._store.view
        records = self._store.in_file_order(view)
        self._done, self._total = 0, len(records)
        columns = Columns.of(line_facets(record.header, record.line) for record in records)
        keyword = self._make_words(view, _Documents(records))
        vectors = self._make_vectors(columns, embedder, wanted) if embedder else None
        if vectors is not None:
            drop_outdated(vectors, view)
        with self._lock:
            built = Built(columns, keyword, vectors)
            self._backlog = dict(_without_vectors(records, vectors)) if vectors is not None else {}
            for sequence, change_set in missed:
                if sequence > view.sequence:
                    self._apply(built, sequence, change_set)
            self._built = built
            self._done = self._total
            self._is_ready.set()

    def follow(self, sequence: int, change_set: ChangeSet) -> None:
        """Take in what a commit did; it is durable by now, so nothing here may undo the answer."""
        try:
            with self._lock:
                if self._missed is not None:
                    self._missed.append((sequence, change_set))
                if self._built is not None:
                    self._apply(self._built, sequence, change_set)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of tantivy is no Exception
            log.exception("indexes missed a change", extra={"project": self._store.project})
            self.distrust(f"a change was not taken in ({type(error).__name__})")

    def embed(self, embedder: Embedder, most: int) -> int:
        """Give up to `most` waiting entries their vectors; return how many still wait."""
        built = self._built
        if built is None or built.vectors is None:
            return 0
        with self._lock:
            chosen = list(self._backlog)[:most]
        records = [record for one in chosen if (record := self._store.view.get(one)) is not None]
        embedded = list(embed_records(records, embedder))
        with self._lock:
            current = [one for one in embedded if is_current(self._store.view, one)]
            built.vectors.put_all(one for one in current if has_vectors(one))
            for entry_id in chosen:
                record = self._store.view.get(entry_id)
                if record is None or built.vectors.mark_of(entry_id) == mark_of(record.line):
                    self._backlog.pop(entry_id, None)
            for one in current:
                if not has_vectors(one):
                    built.vectors.remove(one.entry_id)
                    self._backlog.pop(one.entry_id, None)
            return len(self._backlog)

    def compact(self) -> None:
        """Give up the slots of entries that are gone, once they are most of them.

        The thread that calls `embed` calls this: both hold on to the vectors between two steps.
        """
        built = self._built
        if built is not None and built.vectors is not None and built.vectors.wants_compaction:
            built.vectors.compact()
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
            and self._doubt is None
            and built.keyword.pending
            and (is_quiet or built.keyword.pending >= COMMIT_FROM)
        ):
            built.keyword.commit()

    def save(self, now: float, *, is_quiet: bool) -> float:
        """Save vectors when it is time to; return for how many seconds it will not be.

        Raises:
            OSError: the disk does not take them; they are as unsaved as before.
        """
        built = self._built
        unsaved = built.vectors.unsaved if built is not None and built.vectors is not None else 0
        wait = self._pace.due_in(now, unsaved, is_quiet=is_quiet and not self._backlog)
        if built is None or wait > 0.0:
            return wait
        with self._pace.saving():
            self._save_vectors(built)
        return math.inf

    def check_next(self) -> bool:
        """Compare one more file with its checksum; False when none is left.

        Raises:
            OSError: it cannot be read.
        """
        built = self._built
        if built is None or not built.keyword.unchecked:
            return False
        damaged = find_damage(built.keyword.unchecked, self._disk)
        if damaged is not None:
            log.error("index file damaged", extra={"project": self._store.project, "file": damaged})
            self.distrust(f"{damaged} does not match its checksum")
        return True

    def return_to_disk(self) -> None:
        """Have words that are in RAM made on disk, if it takes them by now."""
        if self.in_memory and self._files.takes_writes():
            with self._lock:
                self._wanted = self._wanted or Rebuild()

    def close(self) -> None:
        """Save what spares the next start its work."""
        built = self._built
        if built is None:
            return
        for save in (self._save_words, lambda built: self._save_vectors(built, is_last=True)):
            try:
                save(built)
            except (OSError, UnavailableError) as error:
                log.warning("indexes not saved", extra={"reason": str(error)})
        built.keyword.close()

    def _save_words(self, built: Built) -> None:
        if built.keyword.pending and self._doubt is None:
            built.keyword.commit()

    def _save_vectors(self, built: Built, *, is_last: bool = False) -> None:
        if built.vectors is not None:
            with self._saving:
                sequence = self._store.view.sequence
                self._files.save_vectors(built.vectors, sequence=sequence, is_last=is_last)

    def _make_words(self, view: StoreView, documents: _Documents) -> KeywordIndex:
        built = self._built
        if built is None:
            return self._open_words(view, documents)
        if self.in_memory:
            return self._fresh_words(view, documents)
        try:
            built.keyword.rebuild(self._counted(documents), sequence=view.sequence)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # a panic of tantivy is no Exception
            # What is on disk may be what keeps tantivy from writing.
            log.exception("words are made in an empty folder")
            return self._fresh_words(view, documents)
        return built.keyword

    def _open_words(self, view: StoreView, documents: _Documents) -> KeywordIndex:
        keyword = self._files.open_words()
        missed = self._store.uncut()
        first = missed[0][0] if missed else view.sequence + 1
        is_known = keyword.refused is None and not self._store.is_read_anew
        if not is_known or not first - 1 <= keyword.sequence <= view.sequence:
            keyword.rebuild(self._counted(documents), sequence=view.sequence)
            return keyword
        for sequence, change_set in missed:
            if keyword.sequence < sequence <= view.sequence:
                keyword.apply(sequence, *_changes(change_set, view))
        retimed = documents.of(keyword.retimed)
        if retimed:
            keyword.apply(view.sequence, retimed, [])
            keyword.retimed.clear()
        return keyword

    def _fresh_words(self, view: StoreView, documents: _Documents) -> KeywordIndex:
        self._files.drop_words()
        keyword = self._files.open_words()
        keyword.rebuild(self._counted(documents), sequence=view.sequence)
        return keyword

    def _make_vectors(self, columns: Columns, embedder: Embedder, wanted: Rebuild) -> VectorIndex:
        built = self._built
        if built is None and not wanted.vectors:
            return self._files.open_vectors(embedder, columns.slots)
        if built is None or built.vectors is None or wanted.vectors:
            return self._files.new_vectors(embedder, columns.slots)
        return built.vectors.compacted(columns.slots)

    def _counted(self, documents: Iterable[IndexDocument]) -> Iterator[IndexDocument]:
        for self._done, document in enumerate(documents):
            yield document

    def _apply(self, built: Built, sequence: int, change_set: ChangeSet) -> None:
        put, removed = _changes(change_set, self._store.view)
        built.columns.apply(put, removed)
        built.keyword.apply(sequence, put, removed)
        if change_set.command == HAND_EDIT:
            built.keyword.retimed.update(document.id for document in put)
        if built.vectors is None:
            return
        for entry_id in removed:
            built.vectors.remove(entry_id)
            self._backlog.pop(entry_id, None)
        self._backlog.update(dict.fromkeys(document.id for document in put))


def _without_vectors(records: Iterable[Record], vectors: VectorIndex) -> Iterator[tuple[str, None]]:
    for record in records:
        if vectors.mark_of(record.header.id) is None:
            yield record.header.id, None


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
