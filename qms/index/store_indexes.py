"""The indexes of one store: columns, keyword index and vectors, updated with every commit.

They are caches. `follow` is called inside the writer for every ChangeSet, in order, so that a
search that starts after a write was answered sees it; vectors follow later, by `embed`. All index
files may be deleted and are rebuilt from the entries. A failure in `follow` never reaches the
writer: the indexes are rebuilt, and `problems` reports it until they are.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from qms.disk.disk import Disk
from qms.index.build import Built, IndexMaker, Rebuild
from qms.index.embedding import embed_records, has_vectors, is_current, mark_of
from qms.index.entry_changes import changed_documents
from qms.index.given_vectors import Misfits
from qms.index.index_files import IndexFiles
from qms.index.words.keyword_files import find_damage
from qms.memory.changes import HAND_EDIT, ChangeSet
from qms.memory.errors import UnavailableError
from qms.memory.ports import Embedder
from qms.store.memory_store import MemoryStore
from qms.store.options import IndexState, IndexStatus, Problem

SAVE_AFTER_S = 15.0
"""How long an unsaved change waits for further changes or a quiet moment."""

COST_FACTOR = 20
"""The pause between two saves, as a multiple of the last save's time: 5 % of the time."""


class SavePace:
    """Tracks since when something is unsaved, and what a save costs.

    From `at_once` unsaved items on, a save does not wait for a quiet moment.
    """

    def __init__(self, at_once: float = math.inf) -> None:
        self._at_once = at_once
        self._unsaved_since = math.inf
        self._not_before = -math.inf

    def due_in(self, now: float, unsaved: int, *, is_quiet: bool) -> float:
        """Return the seconds until the next save, 0 for now, infinity for nothing unsaved."""
        if not unsaved:
            self._unsaved_since = math.inf
            return math.inf
        self._unsaved_since = min(self._unsaved_since, now)
        is_due = is_quiet or unsaved >= self._at_once
        due_at = now if is_due else self._unsaved_since + SAVE_AFTER_S
        return max(0.0, due_at - now, self._not_before - now)

    @contextmanager
    def saving(self, now: float) -> Iterator[None]:
        """Measure a save that begins now, to schedule the next one."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._not_before = now + (1 + COST_FACTOR) * (time.monotonic() - began)
            self._unsaved_since = math.inf


log = logging.getLogger(__name__)

COMMIT_FROM = 500
"""From this many pending changes on, the overlay is flushed without waiting for a quiet moment."""

LARGE = 200
"""A ChangeSet with this many entries is written into the keyword files by its own thread."""

SAVE_FROM = 1000
"""From this many unsaved entries on, vectors are saved without waiting for a quiet moment."""


class StoreIndexes:
    """The indexes of one store: built by `make`, then updated by `follow`."""

    def __init__(
        self,
        store: MemoryStore,
        folder: Path | None,
        disk: Disk,
        give_way: Callable[[], None] | None = None,
    ) -> None:
        self._give_way = give_way
        self._store = store
        self._disk = disk
        self._files = IndexFiles(folder, disk)
        self._lock = threading.Lock()
        self._saving = threading.Lock()
        self._is_ready = threading.Event()
        self._missed: list[tuple[int, ChangeSet]] | None = None
        """The changes since a build started; None when no build is running."""
        self._built: Built | None = None
        self._backlog: dict[str, None] = {}
        self._misfits: Misfits | None = None
        self._edited: int | None = None
        """The sequence of the last hand edit that may have to be settled."""
        self._wanted: Rebuild | None = None
        self._asked = self._finished = 0
        self._doubt: str | None = None
        self._vector_pace, self._word_pace = SavePace(SAVE_FROM), SavePace()
        self.problem: str | None = None
        self.rests_until = 0.0
        """No retry after a failure before this time of the monotonic clock."""
        self._maker = IndexMaker(store, self._files)
        store.subscribe(self.follow)
        store.before_answer(self.settle)

    @property
    def backlog(self) -> int:
        """Return how many entries wait for their vectors."""
        return len(self._backlog)

    @property
    def entries(self) -> int:
        """Return how many entries the store has."""
        return len(self._store.view)

    @property
    def is_ready(self) -> bool:
        """Say whether searches can use the indexes."""
        return self._is_ready.is_set()

    @property
    def wants_making(self) -> bool:
        """Say whether `make` has something to do."""
        return not self.is_ready or self._wanted is not None

    @property
    def in_memory(self) -> bool:
        """Say whether the keyword index is in RAM only, because the disk did not accept it."""
        return self._files.in_memory is not None

    def wait(self, timeout_s: float) -> Built | None:
        """Return the indexes once they are ready, or None after the timeout."""
        self._is_ready.wait(timeout_s)
        return self._built

    def status(self) -> IndexStatus:
        """Return the progress of the indexes."""
        state = IndexState.READY if self.is_ready else IndexState.MAKING
        is_rebuilt = self.is_ready and self._wanted is not None
        return IndexStatus(
            state=IndexState.REBUILDING if is_rebuilt else state,
            done=self._maker.done,
            total=self._maker.total,
            rebuilds=self._finished,
            in_memory=self.in_memory,
        )

    def problems(self) -> list[Problem]:
        """Return the problems of the indexes for an operator."""
        found = []
        if self.problem is not None:
            reason = f"indexes cannot be built or written now ({self.problem}); retrying"
            found.append(("indexes", reason))
        if self._files.in_memory is not None:
            reason = f"the keyword index is in memory only: {self._files.in_memory}"
            found.append(("indexesInMemory", reason))
        if self._doubt is not None:
            found.append(("indexesDoubtful", f"{self._doubt}; the indexes are being rebuilt"))
        project, misfits = self._store.project, self._misfits
        return [
            *(
                Problem(code=code, project=project, reason=reason, file="indexes")
                for code, reason in found
            ),
            *(misfits.problems(project) if misfits else ()),
        ]

    def ask_rebuild(self, *, vectors: bool) -> int:
        """Request a rebuild; return the number that `rebuilds` reaches when it is done."""
        with self._lock:
            had_vectors = self._wanted is not None and self._wanted.vectors
            self._wanted = Rebuild(vectors=vectors or had_vectors)
            self._asked += 1
            return self._asked

    def distrust(self, reason: str) -> None:
        """Request a rebuild, because the indexes may be wrong."""
        with self._lock:
            self._doubt = reason
            self._wanted = self._wanted or Rebuild()
        self._files.drop_words()

    def make(self, embedder: Embedder | None) -> None:
        """Open the index files and build what is missing, or rebuild everything if requested."""
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
        made = self._maker.make(embedder, self._built, wanted)
        with self._lock:
            self._backlog, self._misfits = dict.fromkeys(made.backlog), made.misfits
            for sequence, change_set in missed:
                if sequence > made.sequence:
                    self._apply(made.built, sequence, change_set)
            self._write_now(made.built)
            self._built = made.built
            self._maker.done = self._maker.total
            self._is_ready.set()

    def follow(self, sequence: int, change_set: ChangeSet) -> None:
        """Apply a commit; it is already durable, so that no failure here may reach the caller."""
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
            self.distrust(f"a change was not indexed ({type(error).__name__})")

    def settle(self, sequence: int) -> None:
        """Write a large ChangeSet into the keyword files, before its writer is answered."""
        built = self._built
        if built is not None and built.keyword.hides(sequence):
            self._write_now(built)

    def settle_edit(self) -> None:
        """Write a large hand edit into the keyword files: no writer waits for it."""
        sequence, self._edited = self._edited, None
        if sequence is not None:
            self.settle(sequence)

    def _write_now(self, built: Built) -> None:
        """Write changes that searches should not analyse; on failure the next search does."""
        if built.keyword.pending < LARGE:
            return
        try:
            built.keyword.settle(self._give_way)
        except (OSError, UnavailableError) as error:
            extra = {"project": self._store.project, "reason": str(error)}
            log.warning("keyword index not written", extra=extra)

    def embed(self, embedder: Embedder, most: int) -> int:
        """Embed at most `most` waiting entries; return how many still wait."""
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
        """Free the slots of removed entries, once these are the majority.

        Call it from the thread that calls `embed`: both keep the vectors between two steps.
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

    def commit(self) -> None:
        """Flush the overlay to the keyword files.

        Raises:
            OSError, UnavailableError: they cannot be written; the changes stay searchable.
        """
        built = self._built
        if built is not None and self.waiting_words:
            built.keyword.commit(self._give_way)

    @property
    def waiting_words(self) -> int:
        """Return how many changes are in the overlay only."""
        built = self._built
        return built.keyword.pending if built is not None and self._doubt is None else 0

    def save_vectors(self, now: float, *, is_quiet: bool) -> float:
        """Save vectors if it is due; return the seconds until the next save is due.

        Raises:
            OSError: the disk does not accept them; they stay unsaved.
        """
        built = self._built
        unsaved = built.vectors.unsaved if built is not None and built.vectors is not None else 0
        wait = self._vector_pace.due_in(now, unsaved, is_quiet=is_quiet and not self._backlog)
        if built is None or wait > 0.0:
            return wait
        with self._vector_pace.saving(now):
            self._save_vectors(built)
        return math.inf

    def save_words(self, now: float, *, is_quiet: bool) -> float:
        """Flush the overlay if it is due; return the seconds until the next flush is due.

        Raises:
            OSError, UnavailableError: they cannot be written; the changes stay searchable.
        """
        waiting = self.waiting_words
        wait = self._word_pace.due_in(now, waiting, is_quiet=is_quiet)
        if wait > 0.0 and waiting < COMMIT_FROM:
            return wait
        with self._word_pace.saving(now):
            self.commit()
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
        """Request a rebuild on disk of a keyword index in RAM, if the disk accepts writes again."""
        if self.in_memory and self._files.takes_writes():
            with self._lock:
                self._wanted = self._wanted or Rebuild()

    def close(self) -> None:
        """Save everything, so that the next start need not rebuild."""
        built = self._built
        if built is None:
            return
        for save in (self._save_words, self._save_last_vectors, self._save_columns):
            try:
                save(built)
            except (OSError, UnavailableError) as error:
                log.warning("indexes not saved", extra={"reason": str(error)})
        built.keyword.close()

    def _save_words(self, built: Built) -> None:
        if built.keyword.pending and self._doubt is None:
            built.keyword.commit()

    def _save_columns(self, built: Built) -> None:
        if self._doubt is None:
            self._maker.save_columns(built.columns)

    def _save_last_vectors(self, built: Built) -> None:
        self._save_vectors(built, is_last=True)

    def _save_vectors(self, built: Built, *, is_last: bool = False) -> None:
        if built.vectors is not None:
            with self._saving:
                sequence = self._store.view.sequence
                self._files.save_vectors(built.vectors, sequence=sequence, is_last=is_last)

    def _apply(self, built: Built, sequence: int, change_set: ChangeSet) -> None:
        put, removed = changed_documents(change_set, self._store.view)
        built.columns.apply(put, removed)
        built.keyword.apply(sequence, put, removed, is_hidden=len(put) >= LARGE)
        if change_set.command == HAND_EDIT:
            self._edited = sequence
            built.keyword.retimed.update(document.id for document in put)
        if self._misfits is not None:
            self._misfits.follow(change_set)
        if built.vectors is None:
            return
        for entry_id in removed:
            built.vectors.remove(entry_id)
            self._backlog.pop(entry_id, None)
        self._backlog.update(dict.fromkeys(document.id for document in put))
