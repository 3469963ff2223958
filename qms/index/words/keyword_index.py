"""The keyword index of one store: tantivy's files, and an overlay of changes not in them yet.

Threads:

- One thread at a time calls `apply`; it appends and never waits for a search or a commit. A search
  that starts after `apply` returned sees the change.
- Any number of threads call `search` and `named`. Each works on one `_State`: an immutable searcher
  and the generations that are not in it. They share one lock for the overlay.
- One thread at a time is inside `commit` or `rebuild` (a second one waits). It closes the current
  generation, writes closed ones, and then swaps the state; until then they stay in the overlay.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

import msgspec
import numpy as np

from qms.disk.disk import Disk
from qms.index.entry_keys import key_of, keys_of
from qms.index.indexed_entry import IndexDocument
from qms.index.manifest import FileSum, ManifestFile, WordsPart
from qms.index.words.fields import EXACT, NAMES, STEM, field_tokens, main_languages
from qms.index.words.file_summary import Summary
from qms.index.words.filter_terms import Conditions
from qms.index.words.keyword_files import (
    FORMAT,
    RefusedError,
    Unchecked,
    check_files,
    empty_folder,
    sum_files,
)
from qms.index.words.overlay import Change, Generation, Overlay
from qms.index.words.query_plan import (
    DEFAULT_WEIGHTS,
    Clause,
    KeywordQuery,
    KeywordWeights,
    Plan,
    make_plan,
    name_plan,
)
from qms.index.words.segments import (
    SCHEMA_FINGERPRINT,
    FileStatistics,
    KeyHits,
    Segments,
    Tally,
    WriterDiedError,
    WriterFactory,
    Written,
    open_writer,
)
from qms.memory.errors import UnavailableError
from qms.memory.filters import Filter

if TYPE_CHECKING:
    from tantivy import Searcher

log = logging.getLogger(__name__)

NOTHING = -1
"""The sequence of an empty index."""

COMMIT_WAIT_S = 2.0
"""How long a writer waits for another commit or rebuild before it shows its changes uncommitted."""

ENTRIES_A_STOP = 20
"""How many entries are tokenised between two calls of `give_way`."""

MAX_LANGUAGES = 6
MAX_HITS = 10_000
_WRITE_ATTEMPTS = 2

Hit = tuple[str, float]
_T = TypeVar("_T")
_MakePlan = Callable[[tuple[str, ...]], Plan]


_NO_HITS = KeyHits(np.zeros(0, np.uint64), np.zeros(0))


class _State(msgspec.Struct, frozen=True):
    """The state that a search works on: searcher, statistics, and pending generations."""

    searcher: "Searcher"
    files: FileStatistics
    generations: tuple[Generation, ...]


class KeywordIndex:
    """Finds the entries of one store by their words."""

    def __init__(
        self,
        folder: Path | None,
        *,
        disk: Disk,
        book: ManifestFile | None = None,
        part: WordsPart | None = None,
        refused: str | None = None,
        make_writer: WriterFactory = open_writer,
    ) -> None:
        self.refused = refused
        self.sequence = part.sequence if part else NOTHING
        self.unchecked: Unchecked = []
        self.retimed: set[str] = set(part.retimed if part else ())
        """Entries whose update time in the files differs from their line's."""
        self._folder = folder
        self._disk = disk
        self._manifest = book
        self._sums: dict[str, FileSum] = part.files if part else {}
        self._check_folder()
        self._segments = Segments(folder, make_writer)
        self._ids: dict[int, str] | None = None if part else {}
        self._applying = Lock()
        self._reading = Lock()
        self._committing = Lock()
        self._state = self._load_state(part.summary if part else Summary(), (Generation(),))

    @classmethod
    def open(
        cls,
        folder: Path | None,
        *,
        disk: Disk,
        book: ManifestFile | None = None,
        make_writer: WriterFactory = open_writer,
    ) -> "KeywordIndex":
        """Open the index of a folder, or an empty one in RAM when there is no folder.

        A damaged or outdated index is emptied: `refused` then says why, `sequence` is `NOTHING`,
        and the caller rebuilds. Searches work during that time. `unchecked` is to be checked later.

        Raises:
            OSError, ValueError: a new index is needed, and the folder cannot be written.
        """
        if folder is None:
            return cls(None, disk=disk, make_writer=make_writer)
        book = book or ManifestFile.beside(folder, disk)
        try:
            part, unchecked = check_files(folder, SCHEMA_FINGERPRINT, book, disk)
            opened = cls(folder, disk=disk, book=book, part=part, make_writer=make_writer)
            opened.unchecked = unchecked
            return opened
        except (RefusedError, ValueError, OSError) as error:
            refused = None
            if folder.exists() and any(folder.iterdir()):
                refused = str(error)
                log.warning("keyword index refused", extra={"reason": refused})
            empty_folder(folder, disk)
            return cls(folder, disk=disk, book=book, refused=refused, make_writer=make_writer)

    @property
    def pending(self) -> int:
        """Return how many changes are not committed yet."""
        return sum(len(generation) for generation in self._state.generations)

    def apply(
        self,
        sequence: int,
        put: Iterable[IndexDocument],
        removed: Iterable[str],
        *,
        is_hidden: bool = False,
    ) -> None:
        """Apply a ChangeSet: every search that starts after this sees it.

        A hidden one is seen after `settle`: so no search has to analyse a large import.
        """
        change = Change(sequence, tuple(put), tuple(removed))
        with self._applying:
            if is_hidden:
                alone = Generation(is_hidden=True)
                alone.add(change)
                self._begin_generations(alone, Generation())
            else:
                self._state.generations[-1].add(change)

    def hides(self, sequence: int) -> bool:
        """Say whether the ChangeSet of this sequence is hidden."""
        return any(one.is_hidden and one.sequence == sequence for one in self._state.generations)

    def settle(self, give_way: Callable[[], None] | None = None) -> None:
        """Commit pending changes; show hidden ones in any case, in the files or in the overlay.

        Raises:
            UnavailableError: they could not be written; they stay pending and searchable.
        """
        hidden = [one for one in self._state.generations if one.is_hidden]
        try:
            self.commit(give_way, wait_s=COMMIT_WAIT_S)
        finally:
            for generation in self._state.generations:
                if generation in hidden:
                    generation.is_hidden = False

    def search(
        self,
        query: KeywordQuery,
        wanted: Filter | None = None,
        limit: int = 200,
        *,
        now: datetime | None = None,
        without: Collection[str] = (),
        weights: KeywordWeights = DEFAULT_WEIGHTS,
    ) -> list[Hit]:
        """Return the ids and scores of the best entries, best first; `find` costs less."""
        hits = self.find(query, wanted, limit, now=now, without=without, weights=weights)
        return self._named_hits(hits)

    def find(
        self,
        query: KeywordQuery,
        wanted: Filter | None = None,
        limit: int = 200,
        *,
        now: datetime | None = None,
        without: Collection[str] = (),
        weights: KeywordWeights = DEFAULT_WEIGHTS,
    ) -> KeyHits:
        """Return the keys and scores of the best entries, best first.

        Only entries that pass the filter, have not expired `now` and are not in `without` count.
        """
        if query.is_empty or limit <= 0:
            return _NO_HITS
        conditions = Conditions(wanted, now, without)
        return self._hits(lambda spoken: make_plan(query, spoken, weights), conditions, limit)

    def ideal(self, query: KeywordQuery, weights: KeywordWeights = DEFAULT_WEIGHTS) -> float:
        """Return the approximate score of an entry that has every word of a query once.

        Divided by it, the scores of several stores can be compared. Expansion words do not count.
        """
        state = self._state
        query = msgspec.structs.replace(query, added=())
        with self._reading:
            overlay = Overlay(state.generations, state.files)
            plan = make_plan(query, main_languages(overlay.languages(), MAX_LANGUAGES)[:1], weights)
            return sum(
                clause.weight * overlay.rarity(clause)
                for clause in plan.scored
                if clause.field in (STEM, EXACT, NAMES) and len(clause.terms) == 1
            )

    def named(
        self,
        query: KeywordQuery,
        wanted: Filter | None = None,
        limit: int = 10,
        *,
        now: datetime | None = None,
        without: Collection[str] = (),
    ) -> list[str]:
        """Return the entries that a query names: by id first, then by path."""
        plan = name_plan(query)
        if not plan.scored:
            return []
        hits = self._hits(lambda _: plan, Conditions(wanted, now, without), limit)
        return [entry_id for entry_id, _ in self._named_hits(hits)]

    def _hits(self, make: _MakePlan, conditions: Conditions, limit: int) -> KeyHits:
        state, limit = self._state, min(limit, MAX_HITS)
        if not any(generation.is_searched for generation in state.generations):
            plan = make(main_languages(state.files.summary.languages, MAX_LANGUAGES))
            return self._file_hits(state, plan, conditions, limit)
        known = self._known_ids(state)
        with self._reading:
            overlay = Overlay(state.generations, state.files)
            plan = make(main_languages(overlay.languages(), MAX_LANGUAGES))
            pending = overlay.hits(plan, conditions.allow, limit)
            boosts = {clause: overlay.boost(clause) for clause in plan.scored}
            outdated = overlay.outdated(known)
        outside = msgspec.structs.replace(conditions, without={*conditions.without, *outdated})
        hits = self._file_hits(state, plan, outside, limit, boosts.__getitem__)
        return _merged(hits, pending, limit)

    def _file_hits(
        self,
        state: _State,
        plan: Plan,
        conditions: Conditions,
        limit: int,
        boost: Callable[[Clause], float] | None = None,
    ) -> KeyHits:
        if not state.files.documents or not plan.scored:
            return _NO_HITS
        query = self._segments.query(plan, conditions, boost)
        return self._segments.search(state.searcher, query, limit)

    def _named_hits(self, hits: KeyHits) -> list[Hit]:
        state = self._state
        pending = {
            key: entry_id
            for generation in state.generations
            for entry_id, key in generation.keys.items()
        }
        known = pending | self._known_ids(state)
        found = zip(hits.keys.tolist(), hits.scores.tolist(), strict=True)
        return [(known[key], score) for key, score in found if key in known]

    def _known_ids(self, state: _State) -> dict[int, str]:
        if self._ids is None:
            found = self._segments.ids(state.searcher)
            self._ids = {key_of(entry_id): entry_id for entry_id in found}
        return self._ids

    def commit(self, give_way: Callable[[], None] | None = None, *, wait_s: float = -1.0) -> None:
        """Write pending changes into the files, while searches and `apply` continue.

        It calls `give_way` regularly, to yield to other work, and waits at most `wait_s` for
        another commit.

        Raises:
            UnavailableError: they could not be written; they stay pending and searchable.
        """
        if not self._committing.acquire(timeout=wait_s):
            raise UnavailableError("the keyword index is being written by another thread")
        try:
            if closed := self._close_generation():
                self._commit(closed, give_way)
        finally:
            self._committing.release()

    def _commit(self, closed: Sequence[Generation], give_way: Callable[[], None] | None) -> None:
        latest = {
            entry_id: (generation, document)
            for generation in closed
            for entry_id, document in generation.latest().items()
        }
        tally = self._write(
            latest.keys(),
            lambda: (
                (document, generation.tokens_of(document))
                for generation, document in _with_pauses(latest.values(), give_way)
                if document is not None
            ),
        )
        known = self._known_ids(self._state)
        gone = latest.keys() - set(tally.ids)
        known.update((key_of(entry_id), entry_id) for entry_id in tally.ids)
        self._adopt(self._state.files.summary.joined(tally.summary), closed)
        for entry_id in gone:
            known.pop(key_of(entry_id), None)
        self._save(max(generation.sequence for generation in closed))

    def rebuild(self, documents: Iterable[IndexDocument], sequence: int) -> None:
        """Replace everything by these documents, which are the store as of `sequence`.

        Changes that were applied after that stay pending. Until it returns, searches see the old
        state.

        Raises:
            UnavailableError: it could not be written; the old state stays.
        """
        with self._committing:
            tally = self._write(
                None, lambda: ((document, field_tokens(document)) for document in documents)
            )
            self._ids = {key_of(entry_id): entry_id for entry_id in tally.ids}
            self._close_generation()
            contained = [g for g in self._state.generations[:-1] if g.sequence <= sequence]
            self._adopt(tally.summary, contained)
            self._save(sequence)
            self.refused = None

    def close(self) -> None:
        """Wait for a running commit and drop pending changes; the caller applies them again."""
        with self._committing:
            self._state = _State(self._state.searcher, self._state.files, (Generation(),))

    def _close_generation(self) -> list[Generation]:
        with self._applying:
            if not self._state.generations[-1].is_empty:
                self._begin_generations(Generation())
            return list(self._state.generations[:-1])

    def _begin_generations(self, *fresh: Generation) -> None:
        state = self._state
        before = (one for one in state.generations if not one.is_empty)
        self._state = _State(state.searcher, state.files, (*before, *fresh))

    def _write(
        self, removed: Collection[str] | None, make_put: Callable[[], Iterable[Written]]
    ) -> Tally:
        # A writer that died has committed nothing, so that a new one can retry the same changes. A
        # rebuild can read its documents only once, so that its caller decides.
        attempts = _WRITE_ATTEMPTS if removed is not None else 1
        for attempt in range(1, attempts + 1):
            try:
                self._check_folder()
                return self._segments.write(removed, make_put())
            except WriterDiedError as error:
                extra = {"attempt": attempt, "reason": str(error)}
                log.warning("keyword index writer died", extra=extra)
        raise UnavailableError("the keyword index cannot be written now; retrying later")

    def _check_folder(self) -> None:
        """Raise `OSError` when the folder holds a FIFO, a link or another non-regular file."""
        if self._folder is not None:
            self._disk.check_folder(self._folder)

    def _adopt(self, summary: Summary, contained: Collection[Generation]) -> None:
        with self._applying:
            left = tuple(g for g in self._state.generations if g not in contained)
            self._state = self._load_state(summary, left)

    def _load_state(self, summary: Summary, generations: tuple[Generation, ...]) -> _State:
        searcher = self._segments.searcher()
        figures = FileStatistics(searcher, self._segments.schema, summary)
        return _State(searcher, figures, generations)

    def _save(self, sequence: int) -> None:
        self.sequence = sequence
        if self._folder is None or self._manifest is None:
            return
        try:
            self._sums = sum_files(self._folder, self._disk, self._sums)
            self._manifest.put_words(
                WordsPart(
                    format=FORMAT,
                    schema=SCHEMA_FINGERPRINT,
                    sequence=sequence,
                    entries=self._state.files.documents,
                    summary=self._state.files.summary,
                    retimed=sorted(self.retimed),
                    files=self._sums,
                )
            )
        except OSError as error:
            raise UnavailableError("the keyword index cannot be saved now") from error


def _with_pauses(items: Iterable[_T], give_way: Callable[[], None] | None) -> Iterator[_T]:
    for place, item in enumerate(items):
        if give_way is not None and place % ENTRIES_A_STOP == 0:
            give_way()
        yield item


def _merged(hits: KeyHits, pending: Sequence[Hit], limit: int) -> KeyHits:
    """Return the best hits of files and overlay, best first."""
    keys = np.concatenate((hits.keys, keys_of(entry_id for entry_id, _ in pending)))
    scores = np.concatenate((hits.scores, np.array([score for _, score in pending], np.float64)))
    order = np.lexsort((keys, -scores))[:limit]
    return KeyHits(keys[order], scores[order])
