"""The indexer: builds and updates the indexes of every open store, with one shared embedder.

In the background one thread calls `work` repeatedly. Without it, as for a command on files, indexes
are built by the first search that needs them.
"""

import logging
import math
import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from qms.disk.disk import Disk
from qms.index.claims.claim_index import AT_ONCE as CLAIMS_AT_ONCE
from qms.index.claims.claim_index import ClaimIndex
from qms.index.embedding_rate import EmbeddingRate
from qms.index.priority import ENTRIES_A_STOP, Priority
from qms.index.summary_cache import SUMMARIES_FILE, SummaryCache
from qms.memory.deadline import NO_DEADLINE, Deadline
from qms.memory.errors import UnavailableError
from qms.memory.ports import Embedder
from qms.models.choose import Chosen, ChosenChat, ChosenReranker, EmbedderKind
from qms.models.expander import Expander
from qms.models.in_use import Models
from qms.store.memory_store import MemoryStore
from qms.store.options import IndexStatus, Problem, VectorStatus
from qms.telemetry import metrics

if TYPE_CHECKING:
    from qms.index.build import Built
    from qms.index.sources import Source
    from qms.index.store_indexes import StoreIndexes

log = logging.getLogger(__name__)

EMBED_ENTRIES = 32
"""How many entries are embedded at a time; other stores and newer entries come in between.

With 16, texts differ so much in length that padding costs a seventh of the model's rate.
"""

CLAIM_PAUSE_S = 0.05
"""The pause between two reads of claims while searches come: 2 % of a core."""

QUIET_S = 1.0
"""How long changes wait for further changes before the overlay is flushed."""

RETRY_S = 5.0
"""The least time before indexes that could not be built or written are tried again."""

RETRY_FACTOR = 20
"""The pause after a failure, as a multiple of the attempt's time: no store keeps a core busy."""

MEMORY_RETRY_S = 10.0
"""How often to try to write a keyword index to disk that is in memory only."""

SUMMARIES_S = 5.0
"""The least time between two saves of summaries."""

ERASE_WAIT_S = 600.0
"""How long an erasure waits for the rebuild of the indexes."""

ERASE_PAUSE_S = 0.02

WAIT_S = 30.0
"""How long a search waits for indexes that are being built."""

WAIT_STEP_S = 1.0
"""How long it waits between two checks whether its client is still connected."""


class Indexer:
    """Every store's indexes, by project; any thread may call any method."""

    def __init__(
        self,
        open_embedder: Callable[[], Chosen],
        disk: Disk,
        *,
        open_reranker: Callable[[], ChosenReranker] = ChosenReranker,
        choose_chat: Callable[[], ChosenChat] = ChosenChat,
        in_background: bool = True,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open_embedder = open_embedder
        self._open_reranker = open_reranker
        self.chat = choose_chat
        """Returns the language model in use, or why there is none."""
        self._expand = Expander(choose_chat)
        self._disk = disk
        self._in_background = in_background
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._indexes: dict[str, StoreIndexes] = {}
        self._summaries: dict[str, SummaryCache] = {}
        self._claims: dict[str, ClaimIndex] = {}
        self._chosen: Chosen | None = None
        self._reranker: ChosenReranker | None = None
        self._changed_at = self._summaries_due = -math.inf
        self._rate = EmbeddingRate()
        self.priority = Priority(monotonic)
        self.wake: Callable[[], None] = lambda: None

    @property
    def chosen(self) -> Chosen | None:
        """Return the embedder in use, or None while it is being opened."""
        return self._chosen

    @property
    def reranker(self) -> str | None:
        """Return the model id of the reranker in use, or None."""
        reranker = self._reranker.reranker if self._reranker else None
        return reranker.model_id if reranker else None

    @property
    def reranker_problem(self) -> str | None:
        """Return why the configured reranker is not in use, or None."""
        return self._reranker.reason if self._reranker else None

    def add(self, store: MemoryStore, folder: Path) -> None:
        """Add the indexes of an opened store; their files are in this folder."""
        from qms.index.store_indexes import StoreIndexes  # numpy: after the port answers

        indexes = StoreIndexes(store, folder, self._disk, self.priority.give_way)
        summaries = SummaryCache(folder / SUMMARIES_FILE, self._disk)
        store.subscribe(summaries.follow)
        claims = ClaimIndex(store)
        with self._lock:
            self._claims[store.project] = claims
            self._indexes[store.project] = indexes
            self._summaries[store.project] = summaries
        store.subscribe(lambda _sequence, _changes: self._note_change())
        self.wake()

    def drop(self, project: str) -> None:
        """Save and drop the indexes of a closed store."""
        with self._lock:
            indexes = self._indexes.pop(project, None)
            summaries = self._summaries.pop(project, None)
            self._claims.pop(project, None)
        if indexes is not None:
            indexes.close()
        if summaries is not None:
            summaries.save()

    def summaries(self, project: str) -> SummaryCache | None:
        """Return the summary cache of a project."""
        return self._summaries.get(project)

    def claims(self, project: str) -> ClaimIndex | None:
        """Return the claim index of a project."""
        return self._claims.get(project)

    def backlog(self, project: str) -> int:
        """Return how many entries of a project wait for their vectors."""
        indexes = self._indexes.get(project)
        return indexes.backlog if indexes else 0

    def vectors(self, project: str) -> VectorStatus | None:
        """Return how many entries of a project have vectors; None until its indexes are built."""
        indexes = self._indexes.get(project)
        if indexes is None or not indexes.is_ready:
            return None
        total = indexes.entries
        waiting = min(indexes.backlog, total)
        with self._lock:
            backlogs = [one.backlog for one in self._indexes.values()]
        # Stores take turns, so that each of the others embeds at most as many in that time.
        before = sum(min(backlog, waiting) for backlog in backlogs)
        return VectorStatus(
            done=total - waiting, total=total, seconds_left=self._rate.seconds_for(before)
        )

    def status(self, project: str) -> IndexStatus | None:
        """Return the progress of the indexes of a project."""
        indexes = self._indexes.get(project)
        return indexes.status() if indexes else None

    def problems(self, project: str) -> list[Problem]:
        """Return the index problems of a project for an operator."""
        indexes = self._indexes.get(project)
        return indexes.problems() if indexes else []

    def rebuild(self, project: str, *, vectors: bool) -> int:
        """Request a rebuild in the background; return its number.

        Raises:
            UnavailableError: the project has no indexes now.
        """
        indexes = self._indexes.get(project)
        if indexes is None:
            raise UnavailableError(f"the indexes of {project} are closed", project=project)
        number = indexes.ask_rebuild(vectors=vectors)
        self.wake()
        return number

    def forget_texts(self, project: str) -> None:
        """Rebuild everything that holds texts, and return once it is done.

        Raises:
            UnavailableError: it takes too long, or failed and will be tried again.
        """
        indexes, summaries = self._indexes.get(project), self._summaries.get(project)
        if summaries is not None:
            summaries.save()
        if indexes is None:
            return
        if not self._in_background:
            indexes.distrust("texts are erased")
            indexes.make(self._embedder().embedder)
            return
        number = self.rebuild(project, vectors=False)
        deadline = self._monotonic() + ERASE_WAIT_S
        while indexes.status().rebuilds < number:
            if self._monotonic() > deadline or indexes.problem:
                raise UnavailableError(
                    f"the indexes of {project} still contain erased text: see health"
                )
            time.sleep(ERASE_PAUSE_S)

    def distrust(self, project: str, reason: str) -> None:
        """Request a rebuild because the indexes may be wrong."""
        indexes = self._indexes.get(project)
        if indexes is not None:
            indexes.distrust(reason)
            self.wake()

    def embedder(self) -> Embedder:
        """Return the embedder; open it first if necessary."""
        return self._embedder().embedder

    def is_made(self, project: str) -> bool:
        """Say whether a search need not wait for the indexes of a project."""
        indexes = self._indexes.get(project)
        return indexes is None or indexes.is_ready

    def models(self) -> Models:
        """Return the models of a search."""
        chosen, reranker = self._embedder(), self._chosen_reranker()
        return Models(
            embedder=chosen.embedder,
            is_hash=chosen.kind is EmbedderKind.HASH,
            reranker=reranker.reranker,
            reranker_problem=reranker.reason,
            expand=self._expand,
        )

    def source(
        self,
        store: MemoryStore,
        *,
        now: datetime,
        with_superseded: bool,
        deadline: Deadline = NO_DEADLINE,
    ) -> "Source":
        """Return what a search reads of a store; wait until its indexes are built.

        Raises:
            UnavailableError: it takes too long; the message says what to do.
        """
        from qms.index.sources import Source  # numpy: after the port answers

        indexes = self._indexes.get(store.project)
        built = self._built(indexes, deadline) if indexes else None
        if indexes is None or built is None:
            has_failed = bool(indexes and indexes.problem)
            state = "cannot be built now" if has_failed else "are still being built"
            raise UnavailableError(
                f"the indexes of {store.project} {state}: try again in a moment",
                project=store.project,
            )
        return Source(
            view=store.view,
            columns=built.columns,
            keyword=built.keyword,
            vectors=built.vectors,
            superseded=() if with_superseded else store.superseded(now),
            usage=store.usage.counts,
            vector_status=self.vectors(store.project),
        )

    def work(self) -> float:
        """Do the next part of the waiting work; return the seconds until more is due."""
        embedder = self._embedder().embedder
        self._chosen_reranker()
        with self._lock:
            everything = list(self._indexes.items())
            kept = list(self._summaries.values())
            claims = list(self._claims.values())
        waits = [self._attempt(project, indexes, embedder) for project, indexes in everything]
        waits += [self._read_claims(one) for one in claims]
        return min([*waits, self._save_summaries(kept)])

    def _read_claims(self, claims: ClaimIndex) -> float:
        """Read a few unread claims; return the seconds until more are read.

        After a start all are unread: while searches come, few are read at a time.
        """
        if claims.unread:
            self.priority.give_way()
            claims.read(ENTRIES_A_STOP if self.priority.is_searched else CLAIMS_AT_ONCE)
        if not claims.unread:
            return math.inf
        return CLAIM_PAUSE_S if self.priority.is_searched else 0.0

    def _save_summaries(self, kept: list[SummaryCache]) -> float:
        changed = [summaries for summaries in kept if summaries.is_changed]
        wait = self._summaries_due - self._monotonic()
        if not changed or wait > 0:
            return max(wait, 0.0) if changed else math.inf
        for summaries in changed:
            summaries.save()
        self._summaries_due = self._monotonic() + SUMMARIES_S
        return math.inf

    def _attempt(self, project: str, indexes: "StoreIndexes", embedder: Embedder) -> float:
        # A failure in one store must not stop the others.
        began = self._monotonic()
        rest = indexes.rests_until - began
        if rest > 0:
            return rest
        try:
            wait = self._update(indexes, embedder)
        except (OSError, UnavailableError) as error:
            indexes.problem = getattr(error, "strerror", None) or type(error).__name__
            log.warning("indexing postponed", extra={"project": project, "reason": str(error)})
        except BaseException as error:  # a panic of tantivy is no Exception
            log.exception("indexing failed", extra={"project": project})
            indexes.problem = type(error).__name__
            indexes.distrust(f"indexing failed ({type(error).__name__})")
        else:
            indexes.problem = None
            return wait
        now = self._monotonic()
        rest = max(RETRY_S, RETRY_FACTOR * (now - began))
        indexes.rests_until = now + rest
        return rest

    def _update(self, indexes: "StoreIndexes", embedder: Embedder) -> float:
        if indexes.wants_making:
            indexes.make(embedder)
        indexes.settle_edit()
        waiting = self._embed(indexes, embedder)
        indexes.compact()
        now = self._monotonic()
        quiet_for = now - self._changed_at
        is_quiet = quiet_for >= QUIET_S
        save_in = min(
            indexes.save_vectors(now, is_quiet=is_quiet), indexes.save_words(now, is_quiet=is_quiet)
        )
        if waiting or indexes.check_next():
            return 0.0
        indexes.return_to_disk()
        if indexes.wants_making:
            return 0.0
        wait = math.inf if is_quiet else QUIET_S - quiet_for
        return min(wait, save_in, MEMORY_RETRY_S if indexes.in_memory else math.inf)

    def _embed(self, indexes: "StoreIndexes", embedder: Embedder) -> int:
        if indexes.backlog:
            self.priority.wait_for_imports()
        before, began = indexes.backlog, self._monotonic()
        waiting = indexes.embed(embedder, EMBED_ENTRIES)
        if before:
            seconds, embedded = self._monotonic() - began, max(0, before - waiting)
            metrics.EMBEDDING_SECONDS.inc(seconds)
            metrics.EMBEDDED_ENTRIES.inc(embedded)
            self._rate.note(embedded, seconds)
        return waiting

    def _built(self, indexes: "StoreIndexes", deadline: Deadline) -> "Built | None":
        if not self._in_background and not indexes.is_ready:
            indexes.make(self._embedder().embedder)
        if not self._in_background:
            indexes.settle_edit()
        waited_s = 0.0
        # After a failure do not wait: that would only block a worker thread.
        while not indexes.is_ready and not indexes.problem and waited_s < WAIT_S:
            with deadline.pause():
                indexes.wait(WAIT_STEP_S)
            deadline.check()
            waited_s += WAIT_STEP_S
        return indexes.wait(0.0)

    def _embedder(self) -> Chosen:
        with self._opening:
            if self._chosen is None:
                self._chosen = self._open_embedder()
            return self._chosen

    def _chosen_reranker(self) -> ChosenReranker:
        with self._opening:
            if self._reranker is None:
                self._reranker = self._open_reranker()
            return self._reranker

    def _note_change(self) -> None:
        self._changed_at = self._monotonic()
        self.wake()
