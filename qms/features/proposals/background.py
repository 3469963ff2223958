"""The background queue in which a language model proposes tags and contradictions for new entries.

Entries are queued when they are committed: no write waits for the model, and no proposal changes
an entry. The queue is bounded and keeps the newest entries; after a failure the model pauses.
"""

import logging
import math
import threading
from collections.abc import Callable, Iterator
from datetime import datetime

from qms.features.proposals.proposals_file import Proposal, ProposalKind, Proposals
from qms.index.indexer import Indexer
from qms.memory.bodies import Kind, main_text
from qms.memory.changes import ChangeSet, Put
from qms.memory.errors import QmsError, UnavailableError
from qms.memory.filters import Filter
from qms.memory.ports import ChatModel
from qms.memory.retention import is_expired
from qms.models.chat_contradictions import judge_by_model
from qms.models.tags import tags_by_model
from qms.search.query import SearchQuery
from qms.store.catalog import Catalog
from qms.store.memory_store import MemoryStore
from qms.store.view import Record

log = logging.getLogger(__name__)

WRITING = frozenset(
    {"upsertEntry", "patchEntry", "bulkImport", "handEdit", "memory_store", "memory_update"}
)
"""The commands that write new content."""

MAX_WAITING = 200
"""At most this many entries wait for the model; of a large import, the last ones."""

REST_S = 60.0
"""The pause after the model gave no answer."""

ATTEMPTS = 2
ENOUGH_TAGS = 3
MAX_TAGS = 5
FOUND = 10
COMPARED = 2
"""At most this many of the best results of the same namespace are compared."""
_WORDS = 30
_CHARACTERS = 300
_CLAIMING = frozenset({Kind.FACT, Kind.NOTE, Kind.DECISION})

Noted = tuple[str, str]
"""A project and the id of an entry in it."""


class ProposalWorker:
    """The queue of entries of all stores for the model; any thread may call any method."""

    def __init__(
        self,
        catalog: Catalog,
        indexer: Indexer,
        *,
        clock: Callable[[], datetime],
        is_on: Callable[[], bool],
    ) -> None:
        self._catalog = catalog
        self._indexer = indexer
        self._clock = clock
        self._is_on = is_on
        self._lock = threading.Lock()
        self._waiting: dict[Noted, int] = {}
        self._is_stopping = False
        self.wake: Callable[[], None] = lambda: None
        catalog.subscribe(self._note)

    @property
    def waiting(self) -> int:
        """Return the number of queued entries."""
        return len(self._waiting)

    def stop(self) -> None:
        """Discard the result of the model's current request, and make no more."""
        self._is_stopping = True

    def work(self) -> float:
        """Process the entry written last; return the seconds until the next call."""
        model = self._indexer.chat().model
        with self._lock:
            if not self._waiting:
                return math.inf
            noted, attempts = self._waiting.popitem()
        if model is None or self._is_stopping:
            return 0.0
        try:
            self._propose(*noted, model)
        except UnavailableError:
            if attempts + 1 < ATTEMPTS:
                with self._lock:
                    self._waiting = {noted: attempts + 1, **self._waiting}
            return REST_S
        except QmsError as error:
            log.warning("proposals not made", extra={"project": noted[0], "reason": str(error)})
        return 0.0

    def _note(self, project: str, change_set: ChangeSet) -> None:
        if change_set.command not in WRITING or not self._is_on():
            return
        if self._indexer.chat().model is None:
            return
        with self._lock:
            for change in change_set.changes:
                if isinstance(change, Put):
                    self._waiting.pop((project, change.id), None)
                    self._waiting[project, change.id] = 0
            while len(self._waiting) > MAX_WAITING:
                del self._waiting[next(iter(self._waiting))]
        self.wake()

    def _propose(self, project: str, entry_id: str, model: ChatModel) -> None:
        store = self._catalog.get(project)
        record = store.view.get(entry_id)
        if record is None or is_expired(record.header, self._clock()):
            return
        made = [*self._tags(record, model), *self._contradictions(store, record, model)]
        if not self._is_stopping:
            store.features.get(Proposals).replace(entry_id, made)

    def _tags(self, record: Record, model: ChatModel) -> Iterator[Proposal]:
        header = record.header
        if len(header.tags) >= ENOUGH_TAGS:
            return
        text = main_text(header.kind, record.document()["body"])
        proposed = tags_by_model(model, header.title, text, MAX_TAGS)
        new = tuple(tag for tag in proposed if tag not in header.tags)
        if new:
            yield self._proposal(record, ProposalKind.TAGS, model, tags=new)

    def _contradictions(
        self, store: MemoryStore, record: Record, model: ChatModel
    ) -> Iterator[Proposal]:
        if record.header.kind not in _CLAIMING:
            return
        claims = self._indexer.claims(store.project)
        known = {clash.entry_id for clash in claims.against(record)} if claims else set()
        known |= {one.target_id for one in record.header.relations}
        for other in self._alike(store, record):
            if other.header.id in known:
                continue
            verdict = judge_by_model(model, _claim_text(record), _claim_text(other))
            if verdict.contradicts:
                yield self._proposal(
                    record,
                    ProposalKind.CONTRADICTION,
                    model,
                    other_id=other.header.id,
                    why=verdict.why,
                )

    def _alike(self, store: MemoryStore, record: Record) -> list[Record]:
        """Return the most similar entries of the same namespace that could contradict one."""
        from qms.search.pipeline import search  # numpy: after the port answers

        now = self._clock()
        found = search(
            [self._indexer.source(store, now=now, with_superseded=False)],
            SearchQuery(
                text=" ".join(_claim_text(record).split()[:_WORDS])[:_CHARACTERS],
                max_results=FOUND,
                filter=Filter(kinds=_CLAIMING, namespace=record.header.namespace),
                expand=False,
            ),
            models=self._indexer.models(),
            limits=store.limits,
            now=now,
        )
        others = [
            one.record
            for one in found.results
            if one.id != record.header.id and one.record.header.namespace == record.header.namespace
        ]
        return others[:COMPARED]

    def _proposal(
        self,
        record: Record,
        kind: ProposalKind,
        model: ChatModel,
        *,
        tags: tuple[str, ...] = (),
        other_id: str | None = None,
        why: str = "",
    ) -> Proposal:
        return Proposal(
            entry_id=record.header.id,
            version=record.version(),
            kind=kind,
            model=model.model_id,
            proposed_utc=self._clock(),
            tags=tags,
            other_id=other_id,
            why=why,
        )


def _claim_text(record: Record) -> str:
    return f"{record.header.title}\n{main_text(record.header.kind, record.document()['body'])}"
