"""The desk where a language model looks at what was written, and proposes tags and contradictions.

It hears of a commit after the answer: no write waits for it, and what it says changes nothing. A
bounded number of entries wait, the newest are kept, and a model that fails is left alone.
"""

import logging
import math
import threading
from collections.abc import Callable, Iterator
from datetime import datetime

from qms.domain.bodies import Kind, main_text
from qms.domain.changes import ChangeSet, Put
from qms.domain.errors import QmsError, UnavailableError
from qms.domain.lifecycle import is_expired
from qms.domain.ports import ChatModel
from qms.domain.queries import Filter
from qms.files.proposals import Proposal, ProposalKind
from qms.ingest.contradict_by_model import judge_by_model
from qms.ingest.enrich import tags_by_model
from qms.search.query import SearchQuery
from qms.service.library import Library
from qms.store.catalog import Catalog
from qms.store.memory_store import MemoryStore
from qms.store.view import Record

log = logging.getLogger(__name__)

WRITING = frozenset(
    {"upsertEntry", "patchEntry", "bulkImport", "handEdit", "memory_store", "memory_update"}
)
"""The commands with which somebody says something new."""

MAX_WAITING = 200
"""So many entries wait for the model; of a large import the last are looked at."""

REST_S = 60.0
"""How long the model is left alone after it gave no answer."""

ATTEMPTS = 2
ENOUGH_TAGS = 3
MAX_TAGS = 5
FOUND = 10
COMPARED = 2
"""Of the entries found first, so many of the same namespace are compared."""
_WORDS = 30
_CHARACTERS = 300
_CLAIMING = (Kind.FACT, Kind.NOTE, Kind.DECISION)

Noted = tuple[str, str]
"""A project and the id of an entry in it."""


class ProposalDesk:
    """What waits for the model, of all stores; any thread may call any method."""

    def __init__(
        self,
        catalog: Catalog,
        library: Library,
        *,
        clock: Callable[[], datetime],
        is_on: Callable[[], bool],
    ) -> None:
        self._catalog = catalog
        self._library = library
        self._clock = clock
        self._is_on = is_on
        self._lock = threading.Lock()
        self._waiting: dict[Noted, int] = {}
        self._is_stopping = False
        self.wake: Callable[[], None] = lambda: None
        catalog.subscribe(self._note)

    @property
    def waiting(self) -> int:
        """Return how many entries wait."""
        return len(self._waiting)

    def stop(self) -> None:
        """Let nothing come of what the model is asked now."""
        self._is_stopping = True

    def work(self) -> float:
        """Look at the entry that was written last; return for how many seconds nothing is due."""
        model = self._library.chat().model
        with self._lock:
            if not self._waiting:
                return math.inf
            noted, attempts = self._waiting.popitem()
        if model is None or self._is_stopping:
            return 0.0
        try:
            self._look(*noted, model)
        except UnavailableError:
            if attempts + 1 < ATTEMPTS:
                with self._lock:
                    self._waiting = {noted: attempts + 1, **self._waiting}
            return REST_S
        except QmsError as error:
            log.warning("nothing proposed", extra={"project": noted[0], "reason": str(error)})
        return 0.0

    def _note(self, project: str, change_set: ChangeSet) -> None:
        if change_set.command not in WRITING or not self._is_on():
            return
        if self._library.chat().model is None:
            return
        with self._lock:
            for change in change_set.changes:
                if isinstance(change, Put):
                    self._waiting.pop((project, change.id), None)
                    self._waiting[project, change.id] = 0
            while len(self._waiting) > MAX_WAITING:
                del self._waiting[next(iter(self._waiting))]
        self.wake()

    def _look(self, project: str, entry_id: str, model: ChatModel) -> None:
        store = self._catalog.get(project)
        record = store.view.get(entry_id)
        if record is None or is_expired(record.header, self._clock()):
            return
        made = [*self._tags(record, model), *self._contradictions(store, record, model)]
        if not self._is_stopping:
            store.proposals.replace(entry_id, made)

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
        claims = self._library.claims(store.project)
        known = {clash.entry_id for clash in claims.against(record)} if claims else set()
        known |= {one.target_id for one in record.header.relations}
        for other in self._alike(store, record):
            if other.header.id in known:
                continue
            verdict = judge_by_model(model, _said(record), _said(other))
            if verdict.contradicts:
                yield self._proposal(
                    record,
                    ProposalKind.CONTRADICTION,
                    model,
                    other_id=other.header.id,
                    why=verdict.why,
                )

    def _alike(self, store: MemoryStore, record: Record) -> list[Record]:
        """Return the entries most like one that could contradict it, of the same namespace."""
        from qms.search.pipeline import search  # numpy: after the port answers

        now = self._clock()
        found = search(
            [self._library.source(store, now=now, with_superseded=False)],
            SearchQuery(
                text=" ".join(_said(record).split()[:_WORDS])[:_CHARACTERS],
                max_results=FOUND,
                filter=Filter(kinds=_CLAIMING, namespace=record.header.namespace),
                expand=False,
            ),
            models=self._library.models(),
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


def _said(record: Record) -> str:
    return f"{record.header.title}\n{main_text(record.header.kind, record.document()['body'])}"
