"""The indexes of one store, in step with its view: columns, words, vectors.

They are caches. `follow` is called inside the writer for every ChangeSet, in order, so that a
search which starts after an answer sees what was answered; vectors come later, by `embed`.
Everything here may be deleted from disk and is made again from the entries. What goes wrong in
`follow` never reaches the writer: the indexes are then made anew, and say so until they are.
"""

import logging
import math
import threading
from collections.abc import Callable
from pathlib import Path

from qms.domain.changes import HAND_EDIT, ChangeSet
from qms.domain.errors import UnavailableError
from qms.domain.ports import Embedder
from qms.fsio.disk import Disk
from qms.index.keyword_files import find_damage
from qms.store.embedding import embed_records, has_vectors, is_current, mark_of
from qms.store.given_vectors import Misfits
from qms.store.index_changes import changed_documents
from qms.store.index_files import IndexFiles
from qms.store.index_making import Built, IndexMaker, Rebuild
from qms.store.index_saving import SavePace
from qms.store.memory_store import MemoryStore
from qms.store.options import IndexState, IndexStatus, Problem

log = logging.getLogger(__name__)

COMMIT_FROM = 500
"""So many waiting changes are brought into the keyword files without waiting for a quiet moment."""

SAVE_FROM = 1000
"""So many entries without a place in the file of vectors are saved at once."""


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
        self._misfits: Misfits | None = None
        self._wanted: Rebuild | None = None
        self._asked = self._finished = 0
        self._doubt: str | None = None
        self._vector_pace, self._word_pace = SavePace(SAVE_FROM), SavePace()
        self.problem: str | None = None
        self.rests_until = 0.0
        """What failed is left alone until then, by the monotonic clock."""
        self._maker = IndexMaker(store, self._files)
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
            done=self._maker.done,
            total=self._maker.total,
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
        project, misfits = self._store.project, self._misfits
        return [
            *(
                Problem(code=code, project=project, reason=reason, file="indexes")
                for code, reason in found
            ),
            *(misfits.problems(project) if misfits else ()),
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
        made = self._maker.make(embedder, self._built, wanted)
        with self._lock:
            self._backlog, self._misfits = dict.fromkeys(made.backlog), made.misfits
            for sequence, change_set in missed:
                if sequence > made.sequence:
                    self._apply(made.built, sequence, change_set)
            self._built = made.built
            self._maker.done = self._maker.total
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

    @property
    def has_many_words(self) -> bool:
        """Say whether so many changes wait for the keyword files that they go there now."""
        return self.is_ready and self.waiting_words >= COMMIT_FROM

    def commit(self, give_way: Callable[[], None] | None = None) -> None:
        """Bring waiting changes into the keyword files, giving way to others now and then.

        Raises:
            OSError, UnavailableError: they cannot be written; they wait, and are found.
        """
        built = self._built
        if built is not None and self.waiting_words:
            built.keyword.commit(give_way)

    @property
    def waiting_words(self) -> int:
        """Return how many changes wait for the keyword files."""
        built = self._built
        return built.keyword.pending if built is not None and self._doubt is None else 0

    def save_vectors(self, now: float, *, is_quiet: bool) -> float:
        """Save vectors when it is time to; return for how many seconds it will not be.

        Raises:
            OSError: the disk does not take them; they are as unsaved as before.
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
        """Commit when it is time to; return for how many seconds it will not be.

        Raises:
            OSError, UnavailableError: they cannot be written; they wait, and are found.
        """
        wait = self._word_pace.due_in(now, self.waiting_words, is_quiet=is_quiet)
        if wait > 0.0:
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
        """Have words that are in RAM made on disk, if it takes them by now."""
        if self.in_memory and self._files.takes_writes():
            with self._lock:
                self._wanted = self._wanted or Rebuild()

    def close(self) -> None:
        """Save what spares the next start its work."""
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
        built.keyword.apply(sequence, put, removed)
        if change_set.command == HAND_EDIT:
            built.keyword.retimed.update(document.id for document in put)
        if self._misfits is not None:
            self._misfits.follow(change_set)
        if built.vectors is None:
            return
        for entry_id in removed:
            built.vectors.remove(entry_id)
            self._backlog.pop(entry_id, None)
        self._backlog.update(dict.fromkeys(document.id for document in put))
