"""The candidate stage: searches the indexes of each store and collects all data for later stages.

Only this stage reads an index. Keyword index and vectors give their best entries under the filter,
the graph adds the neighbours of strong hits, a conversation the turns beside them. Then every
candidate gets every score, however it was found.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

import msgspec
import numpy as np

from qms.index.arrays import BoolArray, FloatArray, IntArray, distinct
from qms.index.columns.traits import Traits
from qms.index.sources import Source
from qms.index.vectors.cosine_stats import Moments
from qms.index.words.query_plan import KeywordQuery
from qms.index.words.segments import KeyHits
from qms.memory.bodies import Kind
from qms.memory.entry import Header, split_id
from qms.search.hits import NOBODY, Candidates, Column, Exact, Hits
from qms.search.query import Question

PER_INDEX = 100
"""How many entries keyword index and vectors give each, at least; more if more are requested."""
SHARE_OF_TAIL = 0.5
"""The assumed text score of an entry that is no keyword hit, as a share of the weakest hit.

Measured with few candidates on stores of some hundred entries: 0.5 is about as good as the real
score, 0 and 0.8 lose about a point.
"""
NAMED = 10
STRONG = 10
"""How many keyword hits and vector hits pass score on to linked entries."""
EDGES = 50
"""How many relations of a strong hit are followed."""
LATEST = 200
FEW_EXPIRED = 100
_ID_BORDERS = ".:!?*`"


class _Scored(NamedTuple):
    """Slots and their scores, best first."""

    slots: IntArray
    scores: Column

    def placed(self, slots: IntArray, missing: float) -> Column:
        """Return a score for each of the ascending `slots`, which include these."""
        column = np.full(len(slots), missing)
        column[np.searchsorted(slots, self.slots)] = self.scores
        return column

    def joined(self, others: "_Scored") -> "_Scored":
        """Return the union with others, best first; these scores win."""
        fresh = np.flatnonzero(~np.isin(others.slots, self.slots))
        slots = np.concatenate((self.slots, others.slots[fresh]))
        scores = np.concatenate((self.scores, others.scores[fresh]))
        order = np.argsort(-scores, kind="stable")
        return _Scored(slots[order], scores[order])


_NOTHING = _Scored(np.zeros(0, np.int64), np.zeros(0))


class _Found(msgspec.Struct):
    """The hits of one store so far, by slot."""

    source: Source
    allowed: BoolArray
    text: _Scored = _NOTHING
    vector: _Scored = _NOTHING
    named: dict[int, Exact] = {}
    graph: dict[int, float] = {}
    moments: Moments = Moments(0.0, 0.0, 0)

    def slot_of(self, entry_id: str) -> int | None:
        """Return the slot of an allowed entry, else None."""
        slot = self.source.columns.slots.find(entry_id)
        may_be_shown = slot is not None and slot < len(self.allowed) and self.allowed[slot]
        return slot if may_be_shown else None

    def shown(self, hits: KeyHits) -> _Scored:
        """Return the allowed hits."""
        slots = self.source.columns.keys.find(hits.keys)
        inside = np.flatnonzero((slots >= 0) & (slots < len(self.allowed)))
        inside = inside[self.allowed[slots[inside]]]
        return _Scored(slots[inside], hits.scores[inside])


def find_candidates(sources: Sequence[Source], question: Question) -> list[Candidates]:
    """Return the candidates of each store, in the order of the stores."""
    found = [_search(source, question) for source in sources]
    by_project = {one.source.project: one for one in found}
    if not question.match_all:
        for one in found:
            for entry_id, strength in _strong(one):
                _pass_on(entry_id, strength, one, by_project)
    return [_completed(one, question, needs_ideal=len(found) > 1) for one in found]


def find_latest(sources: Sequence[Source], question: Question) -> list[Candidates]:
    """Return the entries that changed last, for a query without text."""
    found = []
    for source in sources:
        allowed = _allowed(source, question)
        slots = source.columns.latest(allowed, LATEST)
        found.append(_Found(source, allowed, _Scored(slots, np.zeros(len(slots)))))
    return [_completed(one, question, needs_ideal=False) for one in found]


def find_vectors(sources: Sequence[Source], hits: Hits, dimension: int) -> FloatArray:
    """Return the vector of each hit (the mean of its pieces), zeros where it has none."""
    result = np.zeros((len(hits), dimension), np.float32)
    for number, source in enumerate(sources):
        rows = np.flatnonzero(hits.sources == number)
        if source.vectors is not None and len(rows):
            result[rows] = source.vectors.centres(hits.slots[rows])
    return result


def find_traits(sources: Sequence[Source], hits: Hits) -> Traits:
    """Return the traits of each hit."""
    traits = Traits.empty(len(hits))
    for number, source in enumerate(sources):
        rows = np.flatnonzero(hits.sources == number)
        slots = hits.slots[rows]
        source.columns.fill_traits(traits, rows, slots)
        if source.usage:
            ids = source.columns.slots.ids_of(slots.tolist())
            traits.usage[rows] = [source.usage.get(entry_id, 0) for entry_id in ids]
    return traits


def find_chunks(sources: Sequence[Source], hits: Hits) -> Iterator[tuple[int, Header]]:
    """Yield row and header of each hit that is a chunk of a document, in the order of the hits."""
    are_chunks = np.zeros(len(hits), np.bool_)
    for number, source in enumerate(sources):
        rows = np.flatnonzero(hits.sources == number)
        are_chunks[rows] = source.columns.are_kind(hits.slots[rows], Kind.CHUNK)
    for row in np.flatnonzero(are_chunks).tolist():
        number, slot = int(hits.sources[row]), int(hits.slots[row])
        record = sources[number].view.get(hits.tables[number].id_of(slot))
        if record is not None:
            yield row, record.header


def _search(source: Source, question: Question) -> _Found:
    found = _Found(source, _allowed(source, question))
    if not question.keyword.is_empty:
        _search_words(found, question)
    if question.vector is not None and source.vectors is not None and len(source.vectors):
        wanted = 0 if question.match_all else _per_index(question)
        slots, cosines, found.moments = source.vectors.around(
            question.vector, wanted, found.allowed
        )
        found.vector = _Scored(slots, cosines.astype(np.float64))
    return found


def _per_index(question: Question) -> int:
    return max(PER_INDEX, question.limit)


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
    now, without = _unwanted(found.source, question)
    found.text = _find_words(found, question, query, now, without)
    if query.phrases:
        found.named = dict.fromkeys(found.text.slots.tolist(), Exact.PHRASE)
        if not query.match_all and (query.says_more or not found.named):
            loose = msgspec.structs.replace(query, phrases=())
            found.text = found.text.joined(_find_words(found, question, loose, now, without))
    naming = _without_plain_ids(query)
    for entry_id in keyword.named(naming, question.wanted, NAMED, now=now, without=without):
        slot = found.slot_of(entry_id)
        if slot is not None:
            found.named[slot] = Exact.ID if _is_named(entry_id, naming.ids) else Exact.PATH


def _find_words(
    found: _Found,
    question: Question,
    query: KeywordQuery,
    now: datetime | None,
    without: Collection[str],
) -> _Scored:
    most = _per_index(question)
    keyword = found.source.keyword
    return found.shown(keyword.find(query, question.wanted, most, now=now, without=without))


def _unwanted(source: Source, question: Question) -> tuple[datetime | None, Collection[str]]:
    """Return the conditions that exclude expired and superseded entries from keyword hits.

    Naming a few expired entries is cheaper than comparing every hit's time.
    """
    superseded = () if question.include_superseded else source.superseded
    expired = source.columns.expired(question.now)
    if len(expired) > FEW_EXPIRED:
        return question.now, superseded
    if not len(expired):
        return None, superseded
    return None, {*superseded, *source.columns.slots.ids_of(expired.tolist())}


def _without_plain_ids(query: KeywordQuery) -> KeywordQuery:
    """Return the query without ids that are plain words or numbers, unless it has one word."""
    words = len(query.content) + len(query.small)
    ids = tuple(name for name in query.ids if words == 1 or not _is_plain(name.strip(_ID_BORDERS)))
    return msgspec.structs.replace(query, ids=ids)


def _is_plain(name: str) -> bool:
    return name.isalpha() or name.isdecimal()


def _is_named(entry_id: str, names: Sequence[str]) -> bool:
    local = split_id(entry_id)[1]
    folded = {name.strip(_ID_BORDERS).casefold() for name in names}
    return entry_id.casefold() in folded or local.casefold() in folded


def _strong(found: _Found) -> Iterator[tuple[str, float]]:
    """Yield the best keyword hits and vector hits, each with its strength from 0 to 1."""
    strengths: dict[int, float] = dict.fromkeys(found.named, 1.0)
    mean = found.moments.mean
    for hits, floor in ((found.text, 0.0), (found.vector, mean)):
        best = float(hits.scores.max(initial=floor))
        if best <= floor:
            continue
        slots, scores = hits.slots[:STRONG].tolist(), hits.scores[:STRONG].tolist()
        for slot, score in zip(slots, scores, strict=True):
            strength = (score - floor) / (best - floor)
            strengths[slot] = max(strengths.get(slot, 0.0), strength)
    for slot, strength in strengths.items():
        yield found.source.columns.slots.id_of(slot), strength


def _pass_on(entry_id: str, strength: float, found: _Found, by_project: dict[str, _Found]) -> None:
    """Give an entry's neighbours its strength, multiplied by the weight of the relation."""
    for neighbour, weight in _neighbours(entry_id, found, by_project):
        other = by_project.get(split_id(neighbour)[0])
        slot = other.slot_of(neighbour) if other else None
        if other is not None and slot is not None:
            passed_on = strength * min(1.0, max(0.0, weight))
            other.graph[slot] = max(other.graph.get(slot, 0.0), passed_on)


def _neighbours(
    entry_id: str, found: _Found, by_project: dict[str, _Found]
) -> Iterator[tuple[str, float]]:
    record = found.source.view.get(entry_id)
    if record is None:
        return
    if record.header.relations:
        # Relations to stores out of scope do not count for the limit.
        known = (one for one in record.header.relations if split_id(one.target_id)[0] in by_project)
        for relation in islice(known, EDGES):
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
    previous, following = columns.neighbours(slots)
    return Candidates(
        slots=slots,
        table=columns.slots,
        text=_texts(found, slots, _per_index(question)),
        vector=_cosines(found, question, slots),
        graph=_by_slot(found.graph).placed(slots, 0.0),
        exact={int(np.searchsorted(slots, slot)): how for slot, how in found.named.items()},
        conversation=columns.conversations(slots),
        previous=_rows_of(previous, slots),
        following=_rows_of(following, slots),
        roles=columns.roles(slots),
        ideal_text=keyword.ideal(question.keyword) if needs_ideal else 1.0,
        moments=found.moments,
    )


def _slots(found: _Found, *, with_turns: bool) -> IntArray:
    """Return the slots of all candidates and of the turns beside them, ascending."""
    others = np.array([*found.named, *found.graph], np.int64)
    first = np.concatenate((found.text.slots, found.vector.slots, others))
    if not with_turns:
        return distinct(first)
    previous, following = found.source.columns.neighbours(first)
    beside = np.concatenate((previous, following))
    beside = beside[(beside >= 0) & (beside < len(found.allowed))]
    return distinct(np.concatenate((first, beside[found.allowed[beside]])))


def _texts(found: _Found, slots: IntArray, limit: int) -> Column:
    """Return the text score of every candidate.

    A candidate that is no keyword hit scores less than the last hit; if the hit list is full, its
    score is rarely 0. Looking it up would cost as much as the search.
    """
    is_full = len(found.text.slots) >= limit
    unknown = SHARE_OF_TAIL * float(found.text.scores.min()) if is_full else 0.0
    return found.text.placed(slots, unknown)


def _by_slot(scores: dict[int, float]) -> _Scored:
    slots, values = np.array([*scores], np.int64), np.array([*scores.values()], np.float64)
    return _Scored(slots, values)


def _cosines(found: _Found, question: Question, slots: IntArray) -> Column:
    vectors = found.source.vectors
    result = found.vector.placed(slots, np.nan)
    if question.vector is not None and vectors is not None and len(vectors):
        unknown = np.flatnonzero(np.isnan(result))
        result[unknown] = vectors.cosines(question.vector, slots[unknown])
    return result


def _rows_of(wanted: IntArray, slots: IntArray) -> IntArray:
    """Return the row of each wanted slot in the ascending `slots`, `NOBODY` if it is missing."""
    if not len(slots):
        return np.zeros(0, np.int64)
    rows = np.minimum(np.searchsorted(slots, wanted), len(slots) - 1)
    return np.where((slots[rows] == wanted) & (wanted >= 0), rows, NOBODY)
