"""Scores chunks of documents, with and without heading path and left context in their vectors.

The memories of a store become one Markdown document: a heading for each conversation or titled
memory, a paragraph for each turn. A question is answered by a chunk that holds a gold memory.
"""

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import msgspec
import numpy as np

from qms.disk.disk import Disk
from qms.features.documents.chunks import Chunk, chunks_of
from qms.features.documents.parsers import plain
from qms.features.documents.store_document import chunk_entry
from qms.index.columns.columns import Columns
from qms.index.embedding import embedded_text
from qms.index.indexed_entry import IndexDocument, index_document
from qms.index.sources import Source
from qms.index.vectors.vector_index import Embedded, VectorIndex
from qms.index.words.keyword_index import KeywordIndex
from qms.memory.bodies import Kind
from qms.memory.filters import Filter
from qms.memory.limits import DEFAULT_LIMITS
from qms.memory.lines import encode_line
from qms.memory.parts import BEFORE
from qms.memory.validation import complete, normalise
from qms.models.in_use import Models
from qms.search.pipeline import search
from qms.search.query import SearchQuery
from qms.store.view import Record, bulk_view
from tools.benchmarks.retrieval_sets import MemorySet, Question, read_sets
from tools.benchmarks.retrieval_stores import PROJECT, START
from tools.benchmarks.retrieval_vectors import KeptVectors, Vectors

TOP = 10
NOW = START + timedelta(days=30)
_PLACES = (1, 3, 5, 10)


class Forms(msgspec.Struct, frozen=True):
    """One way to make the text of a vector."""

    name: str
    text: Callable[[IndexDocument], str]


class DocumentRow(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of one way on one set: share of questions whose answer is in the first k."""

    set: str
    way: str
    vectors: str
    """Whether vectors are searched alone, or with words as a search does."""
    questions: int
    chunks: int
    scores: tuple[float, ...]


class _Text(msgspec.Struct, frozen=True):
    """A document, its chunks, and the names of the memories that each of them holds."""

    chunks: list[Chunk]
    names: list[frozenset[str]]


def _without_before(document: IndexDocument) -> str:
    kept = {key: one for key, one in document.metadata.items() if key != BEFORE}
    return embedded_text(msgspec.structs.replace(document, metadata=kept))


def _without_heading(document: IndexDocument) -> str:
    before = document.metadata.get(BEFORE)
    return f"{before} {document.text}" if before else document.text


WAYS = (
    Forms("heading path and left context", embedded_text),
    Forms("heading path", _without_before),
    Forms("left context", _without_heading),
    Forms("neither", lambda document: document.text),
)


def measure(files: Sequence[Path], vectors: KeptVectors, most: int) -> Iterator[DocumentRow]:
    """Yield the scores of every way on every set; of each set at most `most` stores."""
    for path in files:
        found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
        name, chunks = path.name, 0
        for given, _ in zip(read_sets(path), range(most), strict=False):
            name = given.set
            text = _document(given)
            chunks += len(text.chunks)
            for key, scores in _answers(given, text, vectors):
                found.setdefault(key, []).extend(scores)
            print(f"{given.set} {given.store}: {len(text.chunks)} chunks", file=sys.stderr)
        for (way, alone), scores in found.items():
            means = tuple(100 * float(one) for one in np.mean(np.array(scores), axis=0))
            yield DocumentRow(
                set=name,
                way=way,
                vectors=alone,
                questions=len(scores),
                chunks=chunks,
                scores=means,
            )


def table(rows: Sequence[DocumentRow]) -> str:
    """Return the rows as a table for a page."""
    head = ["set", "questions", "chunks", "searched", "in the vector"]
    head += [f"first {place}" for place in _PLACES]
    lines = [head, ["---"] * len(head)]
    for row in rows:
        cells = [row.set, f"{row.questions:,}", f"{row.chunks:,}", row.vectors, row.way]
        lines.append([*cells, *(f"{one:.1f}" for one in row.scores)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _document(given: MemorySet) -> _Text:
    """Return the memories of a store as one Markdown document in chunks."""
    parts: list[str] = []
    starts: list[int] = []
    length, above = 0, None
    for item in given.docs:
        heading = item.title or item.when or item.conversation_id or ""
        if heading != above:
            parts.append(f"## {heading}\n\n")
            length += len(parts[-1])
            above = heading
        starts.append(length)
        parts.append(f"{plain.unified(item.text).strip()}\n\n")
        length += len(parts[-1])
    chunks = chunks_of(plain.markdown("".join(parts)))
    names = [
        frozenset(
            item.id
            for item in given.docs[
                max(0, bisect_right(starts, one.start) - 1) : bisect_right(starts, one.end - 1)
            ]
        )
        for one in chunks
    ]
    return _Text(chunks, names)


def _answers(
    given: MemorySet, text: _Text, vectors: KeptVectors
) -> Iterator[tuple[tuple[str, str], list[tuple[float, ...]]]]:
    records = [_record(one) for one in _entries(given, text)]
    names = dict(zip((one.header.id for one in records), text.names, strict=True))
    documents = [index_document(one.header, one.document()) for one in records]
    columns = Columns()
    columns.apply(documents)
    keyword = KeywordIndex.open(None, disk=Disk())
    keyword.rebuild(documents, sequence=1)
    view = bulk_view(PROJECT, records, 1)
    queries = vectors.of_queries([one.text for one in given.questions])
    for way in WAYS:
        rows = vectors.of_texts([way.text(one) for one in documents])
        index = VectorIndex(
            vectors.embedder.dimension, vectors.embedder.model_id, slots=columns.slots
        )
        index.put_all(
            Embedded(one.id, found)
            for one, found in zip(documents, rows, strict=True)
            if len(found)
        )
        source = Source(view=view, columns=columns, keyword=keyword, vectors=index)
        yield (
            (way.name, "words and vectors"),
            [_score(names, _searched(source, one, vectors), one) for one in given.questions],
        )
        yield (
            (way.name, "vectors alone"),
            [
                _score(names, _nearest(records, rows, queries[one.text]), one)
                for one in given.questions
            ],
        )


def _entries(given: MemorySet, text: _Text) -> Iterator[dict[str, object]]:
    seen: dict[str, int] = {}
    for ordinal, chunk in enumerate(text.chunks):
        title = f"Conversation {given.store}"
        yield chunk_entry(chunk, ordinal, f"{PROJECT}:conversation", title, seen)


def _record(entry: dict[str, object]) -> Record:
    local_id = str(entry["id"]).partition(":")[2]
    document = complete(entry, project=PROJECT, local_id=local_id, instant=START)
    return Record.from_line(encode_line(normalise(document)))


def _searched(source: Source, question: Question, vectors: KeptVectors) -> list[str]:
    models = Models(embedder=vectors.embedder)
    wanted = SearchQuery(
        text=question.text, max_results=TOP, filter=Filter(kinds=frozenset({Kind.CHUNK}))
    )
    found = search([source], wanted, models=models, limits=DEFAULT_LIMITS, now=NOW)
    return [one.id for one in found.results]


def _nearest(records: Sequence[Record], rows: Sequence[Vectors], query: Vectors) -> list[str]:
    best = np.array([float((found @ query).max()) if len(found) else -1.0 for found in rows])
    return [records[place].header.id for place in np.argsort(-best)[:TOP]]


def _score(
    names: Mapping[str, frozenset[str]], found: Sequence[str], question: Question
) -> tuple[float, ...]:
    gold = {name for name, gain in question.gold.items() if gain > 0}
    hits = [bool(names[one] & gold) for one in found]
    return tuple(float(any(hits[:place])) for place in _PLACES)
