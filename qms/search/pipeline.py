"""The pipeline: expand → candidates → normalise → context → fuse → rerank → weigh → diversify."""

import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial

import msgspec
import numpy as np

from qms.index.arrays import FloatArray
from qms.index.indexed_entry import index_document
from qms.index.sources import Source
from qms.index.vectors.codes import unit_query
from qms.memory.deadline import NO_DEADLINE, Deadline
from qms.memory.limits import Limits
from qms.models.expander import Expansion
from qms.models.in_use import Models
from qms.search.candidates import (
    find_candidates,
    find_chunks,
    find_latest,
    find_traits,
    find_vectors,
)
from qms.search.context import add_context
from qms.search.diversify import diversify
from qms.search.document_parts import limit_parts
from qms.search.explain import Explanation, explain
from qms.search.fuse import FusionWeights, fuse, fusion_of
from qms.search.hits import EXACTNESS, Exact, Hits
from qms.search.normalize import level
from qms.search.outcome import Mode, Skipped
from qms.search.query import Match, Question, SearchQuery, make_question
from qms.search.rerank import rerank
from qms.search.speaker import speaker_factors
from qms.search.weigh import weigh
from qms.store.options import VectorStatus
from qms.store.view import Record

POOL = 100
POOL_PER_RESULT = 3
"""How many hits the later stages get: this number per result, at least `POOL`."""
SPARE = 20
"""Extra hits beyond the limit: indexes may still have entries that the view no longer has."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One entry that was found: a row of the hits."""

    record: Record
    source: Source
    hits: Hits
    row: int
    """Its row in `hits`."""
    score: float
    exact: Exact | None
    explanation: Explanation | None

    @property
    def scores(self) -> dict[str, float]:
        """The scores of all stages that gave one; most answers need none of them."""
        columns = ((name, float(column[self.row])) for name, column in self.hits.scores.items())
        return {name: value for name, value in columns if not math.isnan(value)}

    @property
    def id(self) -> str:
        """The entry's id."""
        return self.record.header.id


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a search."""

    results: list[Result]
    question: Question
    mode: Mode
    skipped: list[Skipped]
    expanded: tuple[str, ...]
    vectors: VectorStatus | None = None
    """How many entries of the searched stores have vectors; None if all have."""


def search(
    sources: Sequence[Source],
    query: SearchQuery,
    *,
    models: Models,
    limits: Limits,
    now: datetime,
    deadline: Deadline = NO_DEADLINE,
) -> Found:
    """Return the results of a query, best first.

    The caller has checked the query with `check_query` before it waited for any index. The token
    budget is applied where the answer is written: only there its size is known.

    Raises:
        InvalidInputError: the embedding does not fit the model.
    """
    sources = [_comparable(source, models) for source in sources]
    vector = _query_vector(sources, query, models)
    deadline.check()
    expansion = _expansion(query, models)
    deadline.check()
    question = make_question(query, limits, vector=vector, now=now, added=expansion.terms)
    hits, unread = _ranked(sources, question, models, deadline)
    deadline.check()
    return Found(
        results=_results(hits, sources, question),
        question=question,
        mode=_mode(hits, models),
        skipped=[
            *([Skipped("expand", expansion.reason)] if expansion.reason else []),
            *_skipped_vectors(sources, question, hits, models),
            *_skipped(question, models),
            *unread,
        ],
        expanded=expansion.terms,
        vectors=_vectors_of(sources),
    )


def _expansion(query: SearchQuery, models: Models) -> Expansion:
    """Return the expansion of a query, or why there is none."""
    text = (query.text or "").strip()
    if not query.expand:
        return Expansion(reason="not requested")
    if not text:
        return Expansion(reason="the query has no text")
    if query.match is Match.ALL:
        return Expansion(reason="every word has to match")
    return models.expand(text) if models.expand else Expansion(reason="there is no language model")


def _query_vector(
    sources: Sequence[Source], query: SearchQuery, models: Models
) -> FloatArray | None:
    """Return the given vector, else the vector of the text, else None."""
    if query.embedding is not None:
        known = [models.embedder, *(source.vectors for source in sources)]
        dimension = next((one.dimension for one in known if one is not None), len(query.embedding))
        return unit_query(np.array(query.embedding, np.float64), dimension)
    if models.embedder is None or not (query.text or "").strip():
        return None
    vector = models.embedder.embed_query(query.text or "")
    return vector if vector.any() else None  # the embedder may return zeros


def _comparable(source: Source, models: Models) -> Source:
    """Return the store, without its vectors if they are of another model."""
    vectors, embedder = source.vectors, models.embedder
    if vectors is None or embedder is None or vectors.model_id == embedder.model_id:
        return source
    return msgspec.structs.replace(source, vectors=None)


def _ranked(
    sources: Sequence[Source], question: Question, models: Models, deadline: Deadline
) -> tuple[Hits, list[Skipped]]:
    pool = max(POOL, POOL_PER_RESULT * question.limit)
    fusion = fusion_of(models, question.text)
    hits = _fused(sources, question, fusion, pool)
    deadline.check()
    reranked = rerank(
        hits,
        question.text,
        models.reranker,
        share=question.profile.rerank_share,
        texts_of=partial(_texts, sources=sources),
    )
    deadline.check()
    hits, late = reranked.hits, reranked.skipped
    hits = weigh(hits, find_traits(sources, hits), question.profile, now=question.now)
    if question.wanted is None or not question.wanted.names_kinds:
        hits = limit_parts(hits, find_chunks(sources, hits))
    balance, most = question.profile.mmr_lambda, question.limit + SPARE
    if balance is not None and question.vector is not None:
        vectors = find_vectors(sources, hits, len(question.vector))
        hits = diversify(hits, vectors, balance=balance, limit=most)
    if question.explain:
        hits = hits.ranked()
    return hits.take(slice(most)), [Skipped("rerank", late)] if late else []


def _fused(
    sources: Sequence[Source], question: Question, weights: FusionWeights, pool: int
) -> Hits:
    find = find_latest if question.is_blank else find_candidates
    levelled = level(find(sources, question))
    speakers = [speaker_factors(one.candidates.roles, question.words) for one in levelled]
    # Ranks are computed over all candidates; without them only the pool needs to be sorted.
    most = None if question.explain else pool
    hits = fuse([add_context(one) for one in levelled], speakers, weights, most=most)
    return hits.ranked() if question.explain else hits


def _texts(hits: Hits, sources: Sequence[Source]) -> list[str]:
    """Return the text of each hit for a reranker; empty for a removed entry."""
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
    """Return the first hits, without entries that the view no longer has."""
    results: list[Result] = []
    totals = hits.scores["score"].tolist()
    owners = zip(hits.sources.tolist(), hits.slots.tolist(), strict=True)
    for row, (number, slot) in enumerate(owners):
        if len(results) == question.limit:
            break
        record = sources[number].view.get(hits.tables[number].id_of(slot))
        if record is None:
            continue
        results.append(
            Result(
                record=record,
                source=sources[number],
                hits=hits,
                row=row,
                score=totals[row],
                exact=EXACTNESS[hits.classes[row]],
                explanation=explain(hits, row, question.profile) if question.explain else None,
            )
        )
    return results


def _mode(hits: Hits, models: Models) -> Mode:
    if not hits.is_compared:
        return Mode.KEYWORD
    return Mode.KEYWORD_HASH if models.is_hash else Mode.HYBRID


def _vectors_of(sources: Sequence[Source]) -> VectorStatus | None:
    known = [one.vector_status for one in sources if one.vector_status]
    if not any(one.missing for one in known):
        return None
    times = [one.seconds_left for one in known if one.seconds_left is not None]
    return VectorStatus(
        done=sum(one.done for one in known),
        total=sum(one.total for one in known),
        seconds_left=max(times) if len(times) == len(known) else None,
    )


def _skipped_vectors(
    sources: Sequence[Source], question: Question, hits: Hits, models: Models
) -> list[Skipped]:
    """Return why entries were not compared by vectors."""
    if question.is_blank:
        return []
    if question.vector is None:
        reason = "there is no text to embed" if models.embedder else "no embedder"
        return [Skipped("vector", reason)]
    reasons = [lacking for source in sources if (lacking := _lacking(source))]
    if not reasons and not hits.is_compared:
        reasons = ["no entry in scope has a vector"]
    return [Skipped("vector", reason) for reason in reasons]


def _lacking(source: Source) -> str | None:
    """Return why a store cannot be compared by vectors, or not completely."""
    if source.vectors is None and len(source.view):
        return f"no vectors of this model in {source.project} yet"
    status = source.vector_status
    if status is None or not status.missing:
        return None
    return f"{status.missing} of {status.total} entries of {source.project} wait for their vectors"


def _skipped(question: Question, models: Models) -> Iterator[Skipped]:
    if question.is_blank:
        yield Skipped("candidates", "the query has no words; the latest entries are shown")
    if models.reranker is None:
        yield Skipped("rerank", models.reranker_problem or "no reranker is configured")
    elif not question.text:
        yield Skipped("rerank", "there is no text to read")
    elif not question.profile.rerank_share:
        yield Skipped("rerank", "the profile does not use it")
    if question.profile.mmr_lambda is None:
        if question.explain:  # the default profile never uses it
            yield Skipped("diversify", "the profile does not use it")
    elif question.vector is None:
        yield Skipped("diversify", "it needs vectors")
