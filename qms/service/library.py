"""The library: the indexes of every open store, and the embedder that they share.

In the background one thread calls `work` again and again; without it, as for a command on files,
indexes are made when a search asks for them.
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
from qms.inference.choose import Chosen, EmbedderKind
from qms.store.memory_store import MemoryStore
from qms.telemetry import metrics

if TYPE_CHECKING:
    from qms.search.pipeline import Models
    from qms.search.sources import Source
    from qms.store.indexes import Built, StoreIndexes

log = logging.getLogger(__name__)

EMBED_ENTRIES = 16
"""So many entries are embedded at a time, so that other stores and newer entries get their turn."""

QUIET_S = 1.0
"""Changes wait so long for others before they go into the keyword files."""

RETRY_S = 5.0
"""How long indexes that could not be made or written are left alone, at least."""

RETRY_FACTOR = 20
"""They rest so many times as long as the attempt took, so that no large store keeps a core busy."""

WAIT_S = 30.0
"""How long a search waits for indexes that are being made."""


class Library:
    """Every store's indexes, by project; any thread may call any method."""

    def __init__(
        self,
        open_embedder: Callable[[], Chosen],
        disk: Disk,
        *,
        in_background: bool = True,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open_embedder = open_embedder
        self._disk = disk
        self._in_background = in_background
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._indexes: dict[str, StoreIndexes] = {}
        self._chosen: Chosen | None = None
        self._changed_at = -math.inf
        self.wake: Callable[[], None] = lambda: None

    @property
    def chosen(self) -> Chosen | None:
        """Return the embedder in use, or None while it is being opened."""
        return self._chosen

    def add(self, store: MemoryStore, folder: Path) -> None:
        """Keep the indexes of a store that was opened, in this folder."""
        from qms.store.indexes import StoreIndexes  # numpy: after the port answers

        indexes = StoreIndexes(store, folder, self._disk)
        with self._lock:
            self._indexes[store.project] = indexes
        store.subscribe(lambda _sequence, _changes: self._note_change())
        self.wake()

    def drop(self, project: str) -> None:
        """Save and forget the indexes of a store that was closed."""
        with self._lock:
            indexes = self._indexes.pop(project, None)
        if indexes is not None:
            indexes.close()

    def backlog(self, project: str) -> int:
        """Return how many entries of a project wait for their vectors."""
        indexes = self._indexes.get(project)
        return indexes.backlog if indexes else 0

    def models(self) -> "Models":
        """Return the models that a search works with."""
        from qms.search.pipeline import Models  # numpy: after the port answers

        chosen = self._embedder()
        return Models(embedder=chosen.embedder, is_hash=chosen.kind is EmbedderKind.HASH)

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
            superseded=() if with_superseded else indexes.superseded(now),
        )

    def work(self) -> float:
        """Do the next piece of what waits; return for how many seconds nothing will."""
        embedder = self._embedder().embedder
        with self._lock:
            everything = list(self._indexes.items())
        waits = [self._attempt(project, indexes, embedder) for project, indexes in everything]
        return min(waits, default=math.inf)

    def _attempt(self, project: str, indexes: "StoreIndexes", embedder: Embedder) -> float:
        # Indexes that cannot be made or written must not keep other stores from theirs.
        began = self._monotonic()
        rest = indexes.rests_until - began
        if rest > 0:
            return rest
        try:
            wait = self._tend(indexes, embedder)
        except Exception as error:
            log.exception("indexing failed", extra={"project": project})
            indexes.problem = type(error).__name__
            now = self._monotonic()
            rest = max(RETRY_S, RETRY_FACTOR * (now - began))
            indexes.rests_until = now + rest
            return rest
        indexes.problem = None
        return wait

    def _tend(self, indexes: "StoreIndexes", embedder: Embedder) -> float:
        if not indexes.is_ready:
            indexes.build(embedder)
        waiting = self._embed(indexes, embedder)
        indexes.compact()
        quiet_for = self._monotonic() - self._changed_at
        indexes.commit(is_quiet=quiet_for >= QUIET_S)
        if waiting:
            return 0.0
        return math.inf if quiet_for >= QUIET_S else QUIET_S - quiet_for

    def _embed(self, indexes: "StoreIndexes", embedder: Embedder) -> int:
        before, began = indexes.backlog, self._monotonic()
        waiting = indexes.embed(embedder, EMBED_ENTRIES)
        if before:
            metrics.EMBEDDING_SECONDS.inc(self._monotonic() - began)
            metrics.EMBEDDED_ENTRIES.inc(max(0, before - waiting))
        return waiting

    def _built(self, indexes: "StoreIndexes") -> "Built | None":
        if not self._in_background and not indexes.is_ready:
            indexes.build(self._embedder().embedder)
        # Whoever waited for what has failed would only keep a worker from other searches.
        return indexes.wait(0.0 if indexes.problem else WAIT_S)

    def _embedder(self) -> Chosen:
        with self._opening:
            if self._chosen is None:
                self._chosen = self._open_embedder()
            return self._chosen

    def _note_change(self) -> None:
        self._changed_at = self._monotonic()
        self.wake()
