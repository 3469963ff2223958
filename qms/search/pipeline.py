"""The pipeline: expand → candidates → level → context → fuse → rerank → weigh → diversify."""

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial

import msgspec
import numpy as np

from qms.domain.limits import Limits
from qms.domain.ports import Embedder, Reranker
from qms.index.arrays import FloatArray
from qms.index.documents import index_document
from qms.index.vector_codes import unit_query
from qms.search.candidates import (
    find_candidates,
    find_latest,
    find_traits,
    find_vectors,
)
from qms.search.context import add_context
from qms.search.diversify import diversify
from qms.search.expander import Expansion
from qms.search.explain import Explanation, explain
from qms.search.fuse import DEFAULT_FUSION, HASH_FUSION, FusionWeights, fuse, trusting
from qms.search.hits import EXACTNESS, Exact, Hits
from qms.search.level import level
from qms.search.outcome import Mode, Skipped
from qms.search.query import Match, Question, SearchQuery, check_query, make_question
from qms.search.rerank import rerank
from qms.search.sources import Source
from qms.search.speaker import speaker_factors
from qms.search.weigh import weigh
from qms.store.view import Record

POOL = 100
POOL_PER_RESULT = 3
"""How many hits the later stages see: never fewer than `POOL`, else so many for each result."""
SPARE = 20
"""More hits than are answered: entries may be gone from the view that the indexes still know."""


class Models(msgspec.Struct, frozen=True, kw_only=True):
    """The models that serve; without any, words alone decide."""

    embedder: Embedder | None = None
    is_hash: bool = False
    reranker: Reranker | None = None
    reranker_problem: str | None = None
    """Why the reranker that was asked for does not serve."""
    expand: Callable[[str], Expansion] | None = None
    """Asks a language model for further words."""

    @property
    def fusion(self) -> FusionWeights:
        """The weights that suit the embedder."""
        return HASH_FUSION if self.is_hash else DEFAULT_FUSION

    def fusion_of(self, text: str) -> FusionWeights:
        """Return the weights that suit the embedder and the language of a text."""
        known = self.embedder.familiarity(text) if self.embedder and text else 1.0
        return trusting(self.fusion, known)


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One entry that was found; scores by name, those that say nothing left out."""

    record: Record
    source: Source
    score: float
    scores: dict[str, float]
    exact: Exact | None
    explanation: Explanation | None

    @property
    def id(self) -> str:
        """The entry's id."""
        return self.record.header.id


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a search."""

    results: list[Result]
    question: Question
    mode: Mode
    skipped: list[Skipped]
    expanded: tuple[str, ...]


def search(
    sources: Sequence[Source],
    query: SearchQuery,
    *,
    models: Models,
    limits: Limits,
    now: datetime,
) -> Found:
    """Return what the stores have for a query, best first.

    Its budget of tokens is for whoever writes the answer: only there is known what is sent.

    Raises:
        InvalidInputError: names the field, and the limit if it is over one.
    """
    check_query(query, limits)
    sources = [_comparable(source, models) for source in sources]
    vector = _query_vector(sources, query, models)
    expansion = _expansion(query, models)
    question = make_question(query, limits, vector=vector, now=now, added=expansion.terms)
    hits, unread = _ranked(sources, question, models)
    return Found(
        results=_results(hits, sources, question),
        question=question,
        mode=_mode(sources, question, models),
        skipped=[
            *([Skipped("expand", expansion.reason)] if expansion.reason else []),
            *_skipped(sources, question, models),
            *unread,
        ],
        expanded=expansion.terms,
    )


def _expansion(query: SearchQuery, models: Models) -> Expansion:
    """Return further terms for a query, or why it is searched for as it is."""
    text = (query.text or "").strip()
    if not query.expand:
        return Expansion(reason="it was not asked for")
    if not text:
        return Expansion(reason="there is no text")
    if query.match is Match.ALL:
        return Expansion(reason="every word has to match")
    return models.expand(text) if models.expand else Expansion(reason="there is no language model")


def _query_vector(
    sources: Sequence[Source], query: SearchQuery, models: Models
) -> FloatArray | None:
    """Return the vector that was given, else the text's, else None."""
    if query.embedding is not None:
        known = [models.embedder, *(source.vectors for source in sources)]
        dimension = next((one.dimension for one in known if one is not None), len(query.embedding))
        return unit_query(np.array(query.embedding, np.float64), dimension)
    if models.embedder is None or not (query.text or "").strip():
        return None
    vector = models.embedder.embed_query(query.text or "")
    return vector if vector.any() else None  # a text of which the embedder makes nothing


def _comparable(source: Source, models: Models) -> Source:
    """Return the store without vectors of another model, which are about to be replaced."""
    vectors, embedder = source.vectors, models.embedder
    if vectors is None or embedder is None or vectors.model_id == embedder.model_id:
        return source
    return msgspec.structs.replace(source, vectors=None)


def _ranked(
    sources: Sequence[Source], question: Question, models: Models
) -> tuple[Hits, list[Skipped]]:
    pool = max(POOL, POOL_PER_RESULT * question.limit)
    fusion = models.fusion_of(question.text)
    hits = _fused(sources, question, fusion, pool)
    reranked = rerank(
        hits,
        question.text,
        models.reranker,
        share=question.profile.rerank_share,
        texts_of=partial(_texts, sources=sources),
    )
    hits, late = reranked.hits, reranked.skipped
    hits = weigh(hits, find_traits(sources, hits), question.profile, now=question.now)
    balance, most = question.profile.mmr_lambda, question.limit + SPARE
    if balance is not None and question.vector is not None:
        vectors = find_vectors(sources, hits, len(question.vector))
        hits = diversify(hits, vectors, balance=balance, limit=most)
    if question.explain:
        hits = hits.ranked()
    chosen = hits.take(np.arange(min(most, len(hits))))
    return chosen, [Skipped("rerank", late)] if late else []


def _fused(
    sources: Sequence[Source], question: Question, weights: FusionWeights, pool: int
) -> Hits:
    find = find_latest if question.is_blank else find_candidates
    levelled = level(find(sources, question))
    speakers = [speaker_factors(one.candidates.roles, question.words) for one in levelled]
    # A place is told among all candidates; without it, those behind the pool need not be sorted.
    most = None if question.explain else pool
    hits = fuse([add_context(one) for one in levelled], speakers, weights, most=most)
    return hits.ranked() if question.explain else hits


def _texts(hits: Hits, sources: Sequence[Source]) -> list[str]:
    """Return what a reranker reads of each hit; nothing of one that is gone."""
    return [
        _text(sources[number].view.get(entry_id))
        for number, entry_id in zip(hits.sources.tolist(), hits.ids, strict=True)
    ]


def _text(record: Record | None) -> str:
    if record is None:
        return ""
    document = index_document(record.header, record.document())
    return f"{document.own_title}\n{document.text}".strip()


def _results(hits: Hits, sources: Sequence[Source], question: Question) -> list[Result]:
    """Return the first hits; an entry that is gone from the view is none."""
    results: list[Result] = []
    columns = [column.tolist() for column in hits.scores.values()]
    owners = zip(hits.sources.tolist(), hits.slots.tolist(), strict=True)
    for row, (number, slot) in enumerate(owners):
        if len(results) == question.limit:
            break
        record = sources[number].view.get(hits.tables[number].id_of(slot))
        if record is None:
            continue
        scores = zip(hits.scores, (column[row] for column in columns), strict=True)
        results.append(
            Result(
                record=record,
                source=sources[number],
                score=float(hits.scores["score"][row]),
                scores={name: value for name, value in scores if not math.isnan(value)},
                exact=EXACTNESS[hits.classes[row]],
                explanation=explain(hits, row, question.profile) if question.explain else None,
            )
        )
    return results


def _mode(sources: Sequence[Source], question: Question, models: Models) -> Mode:
    if question.vector is None or not any(source.vectors for source in sources):
        return Mode.KEYWORD
    return Mode.KEYWORD_HASH if models.is_hash else Mode.HYBRID


def _skipped(sources: Sequence[Source], question: Question, models: Models) -> Iterator[Skipped]:
    if question.is_blank:
        yield Skipped("candidates", "the query has no words; the latest entries are shown")
    elif question.vector is None:
        yield Skipped("vector", "there is no text to embed" if models.embedder else "no embedder")
    for source in sources:
        if question.vector is not None and not source.vectors and len(source.view):
            yield Skipped("vector", f"no vectors of this model in {source.project} yet")
    if models.reranker is None:
        yield Skipped("rerank", models.reranker_problem or "no reranker is configured")
    elif not question.text:
        yield Skipped("rerank", "there is no text to read")
    elif not question.profile.rerank_share:
        yield Skipped("rerank", "the profile does without it")
    if question.profile.mmr_lambda is None:
        yield Skipped("diversify", "the profile does without it")
    elif question.vector is None:
        yield Skipped("diversify", "likeness needs vectors")
