"""The library: the indexes of every open store, and the embedder that they share.

In the background one thread calls `work` again and again and another `write_words`; without them,
as for a command on files, indexes are made when a search asks for them.
"""

import logging
import math
import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from qms.domain.errors import UnavailableError
from qms.domain.ports import Embedder
from qms.fsio.disk import Disk
from qms.inference.choose import Chosen, ChosenChat, ChosenReranker, EmbedderKind
from qms.ingest.claims import ClaimIndex
from qms.search.expander import Expander
from qms.service.precedence import PAUSE_S, Precedence
from qms.store.memory_store import MemoryStore
from qms.store.options import IndexStatus, Problem
from qms.store.summaries import SUMMARIES_FILE, SummaryCache
from qms.telemetry import metrics

if TYPE_CHECKING:
    from qms.search.pipeline import Models
    from qms.search.sources import Source
    from qms.store.index_making import Built
    from qms.store.indexes import StoreIndexes

log = logging.getLogger(__name__)

EMBED_ENTRIES = 32
"""So many entries are embedded at a time, so that other stores and newer entries get their turn.

Of 16 the texts differ so much in length that padding costs a seventh of the model's rate.
"""

QUIET_S = 1.0
"""Changes wait so long for others before they go into the keyword files."""

RETRY_S = 5.0
"""How long indexes that could not be made or written are left alone, at least."""

RETRY_FACTOR = 20
"""They rest so many times as long as the attempt took, so that no large store keeps a core busy."""

MEMORY_RETRY_S = 10.0
"""How often it is tried to bring words to disk that are in memory only."""

SUMMARIES_S = 5.0
"""Summaries that were made are written at most so often."""

ERASE_WAIT_S = 600.0
"""How long an erasure waits for indexes without the erased text."""

ERASE_PAUSE_S = 0.02

WAIT_S = 30.0
"""How long a search waits for indexes that are being made."""


class Library:
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
        self.precedence = Precedence(monotonic)
        self.wake: Callable[[], None] = lambda: None
        self.wake_writer: Callable[[], None] = lambda: None

    @property
    def chosen(self) -> Chosen | None:
        """Return the embedder in use, or None while it is being opened."""
        return self._chosen

    @property
    def reranker(self) -> str | None:
        """Return the name of the reranker that serves, if one does."""
        reranker = self._reranker.reranker if self._reranker else None
        return reranker.model_id if reranker else None

    @property
    def reranker_problem(self) -> str | None:
        """Return why the reranker that was asked for does not serve, as far as it is known."""
        return self._reranker.reason if self._reranker else None

    def add(self, store: MemoryStore, folder: Path) -> None:
        """Keep the indexes of a store that was opened, in this folder."""
        from qms.store.indexes import StoreIndexes  # numpy: after the port answers

        indexes = StoreIndexes(store, folder, self._disk)
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
        """Save and forget the indexes of a store that was closed."""
        with self._lock:
            indexes = self._indexes.pop(project, None)
            summaries = self._summaries.pop(project, None)
            self._claims.pop(project, None)
        if indexes is not None:
            indexes.close()
        if summaries is not None:
            summaries.save()

    def summaries(self, project: str) -> SummaryCache | None:
        """Return the summaries that are kept of a project."""
        return self._summaries.get(project)

    def claims(self, project: str) -> ClaimIndex | None:
        """Return what the entries of a project claim."""
        return self._claims.get(project)

    def backlog(self, project: str) -> int:
        """Return how many entries of a project wait for their vectors."""
        indexes = self._indexes.get(project)
        return indexes.backlog if indexes else 0

    def status(self, project: str) -> IndexStatus | None:
        """Return how far the indexes of a project are."""
        indexes = self._indexes.get(project)
        return indexes.status() if indexes else None

    def problems(self, project: str) -> list[Problem]:
        """Return what a person should know of the indexes of a project."""
        indexes = self._indexes.get(project)
        return indexes.problems() if indexes else []

    def rebuild(self, project: str, *, vectors: bool) -> int:
        """Have indexes made anew in the background; return the number of this rebuild.

        Raises:
            UnavailableError: the project has none now.
        """
        indexes = self._indexes.get(project)
        if indexes is None:
            raise UnavailableError(f"the indexes of {project} are closed", project=project)
        number = indexes.ask_rebuild(vectors=vectors)
        self.wake()
        return number

    def forget_texts(self, project: str) -> None:
        """Have everything made anew that holds texts, and return once it is.

        Raises:
            UnavailableError: that takes too long, or fails; it is tried again.
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
                    f"the indexes of {project} still hold what was erased: see health"
                )
            time.sleep(ERASE_PAUSE_S)

    def distrust(self, project: str, reason: str) -> None:
        """Have indexes made anew because something is wrong with them."""
        indexes = self._indexes.get(project)
        if indexes is not None:
            indexes.distrust(reason)
            self.wake()

    def embedder(self) -> Embedder:
        """Return the embedder in use, opening it if need be."""
        return self._embedder().embedder

    def is_made(self, project: str) -> bool:
        """Say whether a search finds the indexes of a project without waiting for them."""
        indexes = self._indexes.get(project)
        return indexes is None or indexes.is_ready

    def models(self) -> "Models":
        """Return the models that a search works with."""
        from qms.search.pipeline import Models  # numpy: after the port answers

        chosen, reranker = self._embedder(), self._chosen_reranker()
        return Models(
            embedder=chosen.embedder,
            is_hash=chosen.kind is EmbedderKind.HASH,
            reranker=reranker.reranker,
            reranker_problem=reranker.reason,
            expand=self._expand,
        )

    def source(self, store: MemoryStore, *, now: datetime, with_superseded: bool) -> "Source":
        """Return what a search reads of a store, waiting until its indexes are made.

        Raises:
            UnavailableError: that takes too long; the message says what to do.
        """
        from qms.search.sources import Source  # numpy: after the port answers

        indexes = self._indexes.get(store.project)
        built = self._built(indexes) if indexes else None
        if indexes is None or built is None:
            state = "cannot be made now" if indexes and indexes.problem else "are still being made"
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
        )

    def work(self) -> float:
        """Do the next piece of what waits; return for how many seconds nothing will."""
        if self.precedence.is_import_alone:
            return PAUSE_S
        embedder = self._embedder().embedder
        self._chosen_reranker()
        with self._lock:
            everything = list(self._indexes.items())
            kept = list(self._summaries.values())
            claims = list(self._claims.values())
        waits = [self._attempt(project, indexes, embedder) for project, indexes in everything]
        for one in claims:
            one.read()
        waits += [0.0 for one in claims if one.unread]
        return min([*waits, self._save_summaries(kept)])

    def write_words(self) -> float:
        """Bring what a large import has left into the keyword files; return when to look again.

        This is another thread's work, of full priority: it is all Python, so that searches would
        wait for a thread that gives way. What fails is left to `work`, which knows how to go on.
        """
        if self.precedence.is_import_alone:
            return PAUSE_S
        with self._lock:
            everything = list(self._indexes.items())
        for project, indexes in everything:
            if indexes.has_many_words and self._monotonic() >= indexes.rests_until:
                try:
                    indexes.commit(self.precedence.give_way)
                except (OSError, UnavailableError) as error:
                    extra = {"project": project, "reason": str(error)}
                    log.warning("words not written", extra=extra)
                    return RETRY_S
        return math.inf

    def wait_for_words(self, project: str) -> None:
        """Have an import wait while searches meet too much that it has left to them."""
        with self._lock:
            indexes = self._indexes.get(project)
        if indexes is not None and self._in_background:
            self.precedence.wait_for(lambda: indexes.waiting_words)

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
        # Indexes that cannot be made or written must not keep other stores from theirs.
        began = self._monotonic()
        rest = indexes.rests_until - began
        if rest > 0:
            return rest
        try:
            wait = self._tend(indexes, embedder)
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

    def _tend(self, indexes: "StoreIndexes", embedder: Embedder) -> float:
        if indexes.wants_making:
            indexes.make(embedder)
        waiting = self._embed(indexes, embedder)
        indexes.compact()
        now = self._monotonic()
        quiet_for = now - self._changed_at
        is_quiet = quiet_for >= QUIET_S
        save_in = min(
            indexes.save_vectors(now, is_quiet=is_quiet), self._save_words(indexes, now, is_quiet)
        )
        if waiting or indexes.check_next():
            return 0.0
        indexes.return_to_disk()
        if indexes.wants_making:
            return 0.0
        wait = math.inf if is_quiet else QUIET_S - quiet_for
        return min(wait, save_in, MEMORY_RETRY_S if indexes.in_memory else math.inf)

    def _save_words(self, indexes: "StoreIndexes", now: float, is_quiet: bool) -> float:
        if not indexes.has_many_words or is_quiet:
            return indexes.save_words(now, is_quiet=is_quiet)
        if not self._in_background:
            indexes.commit()
        return math.inf  # else they are for `write_words`

    def _embed(self, indexes: "StoreIndexes", embedder: Embedder) -> int:
        before, began = indexes.backlog, self._monotonic()
        waiting = indexes.embed(embedder, EMBED_ENTRIES)
        if before:
            metrics.EMBEDDING_SECONDS.inc(self._monotonic() - began)
            metrics.EMBEDDED_ENTRIES.inc(max(0, before - waiting))
        return waiting

    def _built(self, indexes: "StoreIndexes") -> "Built | None":
        if not self._in_background and not indexes.is_ready:
            indexes.make(self._embedder().embedder)
        # Whoever waited for what has failed would only keep a worker from other searches.
        return indexes.wait(0.0 if indexes.problem else WAIT_S)

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
        if any(indexes.has_many_words for indexes in list(self._indexes.values())):
            self.wake_writer()
