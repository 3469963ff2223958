"""Candidates: what the indexes of each store find, and all that later stages want to know of it.

The only stage that touches an index. Words and vectors bring their best entries, both under the
filter; the graph brings the neighbours of strong ones; a conversation the turns around them. The
candidates that count then get each score, whichever way they came in.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec
import numpy as np

from qms.domain.entry import split_id
from qms.index.arrays import BoolArray, FloatArray, IntArray
from qms.index.keyword_query import KeywordQuery
from qms.index.vector_moments import Moments
from qms.search.hits import NOBODY, Candidates, Column, Exact, Hits
from qms.search.query import Question
from qms.search.sources import Source

PER_INDEX = 200
"""How many entries words and vectors bring each."""
SCORED_BY_WORDS = 32
"""How many entries that only vectors brought are looked up in the keyword index once more."""
NEGLIGIBLE_TAIL = 0.25
"""Where the last hit of words is this much weaker than the first, the others count as having none.

On stores of a few hundred entries this changes nothing; in large ones the words of an entry that
vectors brought may be worth a good place. Looking them up costs as much as the search itself.
"""
NAMED = 10
STRONG = 10
"""How many hits of words and of vectors lend score to what they are linked with."""
EDGES = 50
"""How many relations of a strong hit are looked at."""
LATEST = 200
_EDGES = ".:!?*`"


class _Found(msgspec.Struct):
    """What one store's indexes have found so far, by slot."""

    source: Source
    allowed: BoolArray
    text: dict[int, float]
    vector: dict[int, float]
    named: dict[int, Exact]
    graph: dict[int, float]
    moments: Moments

    def slot_of(self, entry_id: str) -> int | None:
        """Return the slot of an entry that may be shown, else None."""
        return next(iter(self.shown([(entry_id, 0.0)])), None)

    def shown(self, hits: Sequence[tuple[str, float]]) -> dict[int, float]:
        """Return the scores by slot of the entries that may be shown."""
        find, last = self.source.columns.slots.find, len(self.allowed)
        slots = [(find(entry_id), score) for entry_id, score in hits]
        known = [(slot, score) for slot, score in slots if slot is not None and slot < last]
        allowed = self.allowed[[slot for slot, _ in known]].tolist() if known else []
        return {slot: score for (slot, score), may in zip(known, allowed, strict=True) if may}


def find_candidates(sources: Sequence[Source], question: Question) -> list[Candidates]:
    """Return what each store has to say, in the order of the stores."""
    found = [_search(source, question) for source in sources]
    by_project = {one.source.project: one for one in found}
    if not question.match_all:
        for one in found:
            for entry_id, strength in _strong(one):
                _lend(entry_id, strength, one, by_project)
    return [_completed(one, question, needs_ideal=len(found) > 1) for one in found]


def find_latest(sources: Sequence[Source], question: Question) -> list[Candidates]:
    """Return the entries that were changed last, for a query that asks for nothing."""
    found = []
    for source in sources:
        allowed = _allowed(source, question)
        slots = source.columns.latest(allowed, LATEST).tolist()
        found.append(
            _Found(source, allowed, dict.fromkeys(slots, 0.0), {}, {}, {}, Moments(0.0, 0.0, 0))
        )
    return [_completed(one, question, needs_ideal=False) for one in found]


def find_vectors(sources: Sequence[Source], hits: Hits, dimension: int) -> FloatArray:
    """Return the vector of each hit (the middle of its pieces), zeros where it has none."""
    result = np.zeros((len(hits), dimension), np.float32)
    owners = np.array(hits.sources, np.int64)
    for number, source in enumerate(sources):
        rows = np.flatnonzero(owners == number)
        found = [source.columns.slots.find(hits.ids[row]) for row in rows.tolist()]
        if source.vectors is not None and len(rows):
            slots = np.array([NOBODY if slot is None else slot for slot in found], np.int64)
            result[rows] = source.vectors.centres(slots)
    return result


def _search(source: Source, question: Question) -> _Found:
    allowed = _allowed(source, question)
    found = _Found(source, allowed, {}, {}, {}, {}, Moments(0.0, 0.0, 0))
    if not question.keyword.is_empty:
        _search_words(found, question)
    if question.vector is not None and source.vectors is not None and len(source.vectors):
        found.moments = source.vectors.moments(question.vector, allowed)
        if not question.match_all:
            slots, cosines = source.vectors.nearest(question.vector, PER_INDEX, allowed)
            found.vector = dict(zip(slots.tolist(), cosines.tolist(), strict=True))
    return found


def _allowed(source: Source, question: Question) -> BoolArray:
    allowed = source.columns.allowed(question.wanted, now=question.now)
    if not question.include_superseded:
        for entry_id in source.superseded:
            slot = source.columns.slots.find(entry_id)
            if slot is not None and slot < len(allowed):
                allowed[slot] = False
    return allowed


def _search_words(found: _Found, question: Question) -> None:
    keyword, query = found.source.keyword, question.keyword
    hits = keyword.search(
        query,
        question.wanted,
        PER_INDEX,
        now=question.now,
        without=() if question.include_superseded else found.source.superseded,
    )
    found.text = found.shown(hits)
    if query.phrases:
        found.named = dict.fromkeys(found.text, Exact.PHRASE)
    calling = _calling(query)
    for entry_id in keyword.named(calling, question.wanted, NAMED, now=question.now):
        slot = found.slot_of(entry_id)
        if slot is not None:
            found.named[slot] = Exact.ID if _is_called(entry_id, calling.ids) else Exact.PATH


def _calling(query: KeywordQuery) -> KeywordQuery:
    """Return the query without ids that are plain words or numbers, unless it says nothing else."""
    words = len(query.content) + len(query.small)
    ids = tuple(name for name in query.ids if words == 1 or not _is_plain(name.strip(_EDGES)))
    return msgspec.structs.replace(query, ids=ids)


def _is_plain(name: str) -> bool:
    return name.isalpha() or name.isdecimal()


def _is_called(entry_id: str, names: Sequence[str]) -> bool:
    local = split_id(entry_id)[1]
    called = {name.strip(_EDGES).casefold() for name in names}
    return entry_id.casefold() in called or local.casefold() in called


def _strong(found: _Found) -> Iterator[tuple[str, float]]:
    """Yield the best hits of words and vectors, each with its strength from 0 to 1."""
    strengths: dict[int, float] = dict.fromkeys(found.named, 1.0)
    mean = found.moments.mean
    for scores, floor in ((found.text, 0.0), (found.vector, mean)):
        best = max(scores.values(), default=floor)
        if best <= floor:
            continue
        for slot, score in islice(scores.items(), STRONG):
            strength = (score - floor) / (best - floor)
            strengths[slot] = max(strengths.get(slot, 0.0), strength)
    for slot, strength in strengths.items():
        yield found.source.columns.slots.id_of(slot), strength


def _lend(entry_id: str, strength: float, found: _Found, by_project: dict[str, _Found]) -> None:
    """Let an entry's neighbours have its strength, as far as the relation's weight lets it."""
    for neighbour, weight in _neighbours(entry_id, found, by_project):
        other = by_project.get(split_id(neighbour)[0])
        slot = other.slot_of(neighbour) if other else None
        if other is not None and slot is not None:
            lent = strength * min(1.0, max(0.0, weight))
            other.graph[slot] = max(other.graph.get(slot, 0.0), lent)


def _neighbours(
    entry_id: str, found: _Found, by_project: dict[str, _Found]
) -> Iterator[tuple[str, float]]:
    record = found.source.view.get(entry_id)
    if record is None:
        return
    for relation in islice(record.header.relations, EDGES):
        yield relation.target_id, relation.weight
    for one in by_project.values():
        for source_id in islice(one.source.view.incoming.get(entry_id, ()), EDGES):
            other = one.source.view.get(source_id)
            for relation in other.header.relations if other else ():
                if relation.target_id == entry_id:
                    yield source_id, relation.weight


def _completed(found: _Found, question: Question, *, needs_ideal: bool) -> Candidates:
    columns, keyword = found.source.columns, found.source.keyword
    slots = _slots(found, with_turns=not question.match_all)
    numbers = slots.tolist()
    ids = columns.slots.ids_of(numbers)
    previous, following = columns.neighbours(slots)
    return Candidates(
        ids=ids,
        text=_texts(found, question, numbers),
        vector=_cosines(found, question, slots),
        graph=np.array([found.graph.get(slot, 0.0) for slot in numbers], np.float64),
        exact=[found.named.get(slot) for slot in numbers],
        conversation=columns.conversations(slots),
        previous=_rows_of(previous, slots),
        following=_rows_of(following, slots),
        roles=columns.roles(slots),
        ideal_text=keyword.ideal(question.keyword) if needs_ideal else 1.0,
        moments=found.moments,
    )


def _slots(found: _Found, *, with_turns: bool) -> IntArray:
    """Return the slots of all candidates, and of the turns beside them, in ascending order."""
    first = np.array([*found.text, *found.vector, *found.named, *found.graph], np.int64)
    if not with_turns:
        return np.unique(first)
    previous, following = found.source.columns.neighbours(first)
    beside = np.concatenate((previous, following))
    beside = beside[(beside >= 0) & (beside < len(found.allowed))]
    return np.unique(np.concatenate((first, beside[found.allowed[beside]])))


def _texts(found: _Found, question: Question, slots: Sequence[int]) -> Column:
    scores = found.text
    if len(scores) >= PER_INDEX and _tail(scores) > NEGLIGIBLE_TAIL:
        near = islice((slot for slot in found.vector if slot not in scores), SCORED_BY_WORDS)
        others = [slot for slot in (*found.named, *found.graph) if slot not in scores]
        missing = list(dict.fromkeys((*near, *others)))
        ids = found.source.columns.slots.ids_of(missing)
        more = found.source.keyword.scores(question.keyword, ids)
        scores = scores | {slot: more[i] for slot, i in zip(missing, ids, strict=True)}
    return np.array([scores.get(slot, 0.0) for slot in slots], np.float64)


def _tail(scores: dict[int, float]) -> float:
    """Return the weakest score as a share of the best, 0 where nothing was asked for."""
    best = max(scores.values())
    return min(scores.values()) / best if best > 0 else 0.0


def _cosines(found: _Found, question: Question, slots: IntArray) -> Column:
    vectors = found.source.vectors
    if question.vector is None or vectors is None or not len(vectors):
        return np.full(len(slots), np.nan)
    result = np.array([found.vector.get(slot, np.nan) for slot in slots.tolist()], np.float64)
    unknown = np.flatnonzero(np.isnan(result))
    result[unknown] = vectors.cosines(question.vector, slots[unknown])
    return result


def _rows_of(wanted: IntArray, slots: IntArray) -> IntArray:
    """Return where in the ascending `slots` each wanted one stands, `NOBODY` if it does not."""
    if not len(slots):
        return np.zeros(0, np.int64)
    rows = np.minimum(np.searchsorted(slots, wanted), len(slots) - 1)
    return np.where((slots[rows] == wanted) & (wanted >= 0), rows, NOBODY)
