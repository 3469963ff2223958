"""Plain keyword engines on the same questions, as the baseline of retrieval.

SQLite's full-text search with and without its stemmer, and tantivy with its own: title and text in
one field, any word of the question, BM25.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence

from tools.benchmarks.retrieval_scores import TOP, Answered, score
from tools.benchmarks.retrieval_sets import MemorySet

_WORD = re.compile(r"\w+")

Search = Callable[[str], list[int]]


def keyword_answers(stores: Sequence[MemorySet]) -> list[list[Answered]]:
    """Return the scores of each engine on all questions."""
    return [
        [answered for given in stores for answered in _answers(given, make)]
        for make in (_sqlite("unicode61"), _sqlite("porter unicode61"), _tantivy)
    ]


def _answers(given: MemorySet, make: Callable[[list[str]], Search]) -> Iterator[Answered]:
    search = make([f"{item.title}\n{item.kept_text}" for item in given.docs])
    for question in given.questions:
        found = [given.docs[place].id for place in search(question.text)]
        yield question, score(found, question.gold)


def _sqlite(tokenizer: str) -> Callable[[list[str]], Search]:
    def make(texts: list[str]) -> Search:
        connection = sqlite3.connect(":memory:")
        connection.execute(f"CREATE VIRTUAL TABLE t USING fts5(text, tokenize='{tokenizer}')")
        connection.executemany(
            "INSERT INTO t(rowid, text) VALUES (?, ?)", enumerate(texts, start=1)
        )

        def search(asked: str) -> list[int]:
            words = " OR ".join(f'"{word}"' for word in _WORD.findall(asked))
            ranked = "SELECT rowid FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT ?"
            return [row - 1 for (row,) in connection.execute(ranked, (words, TOP))] if words else []

        return search

    return make


def _tantivy(texts: list[str]) -> Search:
    from tantivy import (
        Document,
        Filter,
        Index,
        Occur,
        Query,
        SchemaBuilder,
        TextAnalyzerBuilder,
        Tokenizer,
    )

    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.lowercase())
    analyzer = builder.filter(Filter.stemmer("English")).build()
    schema = (
        SchemaBuilder()
        .add_text_field("text", tokenizer_name="stemmed")
        .add_unsigned_field("place", stored=True)
        .build()
    )
    index = Index(schema)
    index.register_tokenizer("stemmed", analyzer)
    writer = index.writer(50_000_000, 1)
    for place, text in enumerate(texts):
        writer.add_document(Document.from_dict({"text": text, "place": place}, schema))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def search(asked: str) -> list[int]:
        terms = dict.fromkeys(analyzer.analyze(asked))
        parts = [(Occur.Should, Query.term_query(schema, "text", term)) for term in terms]
        hits = searcher.search(Query.boolean_query(parts), TOP).hits if parts else []
        return [int(searcher.doc(address)["place"][0]) for _, address in hits]

    return search
