"""The tantivy part of the keyword index: schema, writer and searches.

A writer exists for one commit only: after it no thread changes the folder, so that file checksums
stay valid, and between commits its buffers use no memory.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qms.index.entry_keys import KeyArray, key_of
from qms.index.indexed_entry import IndexDocument
from qms.index.words.fields import TEXT_FIELDS, FieldTokens
from qms.index.words.file_summary import Summary
from qms.index.words.filter_terms import (
    CONFIDENCE,
    CREATED,
    EXPIRES,
    PRIORITY,
    UPDATED,
    Conditions,
    Range,
    filter_terms,
    numbers,
    required_ranges,
    required_terms,
)
from qms.index.words.query_plan import Clause, Plan

if TYPE_CHECKING:
    from tantivy import Index, IndexWriter, Query, Schema, Searcher

_ID = "id"
_KEY = "key"
_IS = "is"
_TOKENIZER = "spaces"
_WRITER_BYTES = 48 * 1024 * 1024
_TERMS_TRIED = 20
_FEW_IDS = 128
"""Up to this many ids are looked up one by one; for more, reading all ids is cheaper."""
_INTEGER_FIELDS = (CREATED, UPDATED, EXPIRES, PRIORITY)

SCHEMA_FINGERPRINT = ",".join((*TEXT_FIELDS, _ID, _KEY, _IS, *_INTEGER_FIELDS, CONFIDENCE))
"""The fields that an index on disk must have; a change of analysis increases `FORMAT` instead."""

Written = tuple[IndexDocument, FieldTokens]
WriterFactory = Callable[["Index"], "IndexWriter"]


def open_writer(index: "Index") -> "IndexWriter":
    """Return a writer with one thread."""
    return index.writer(_WRITER_BYTES, 1)


class WriterDiedError(Exception):
    """Tantivy's writer could not finish; the message says why."""


class KeyHits(NamedTuple):
    """Entries by their keys, with their scores, best first."""

    keys: KeyArray
    scores: NDArray[np.float64]


class Tally:
    """Collects ids and a summary of the documents that are written."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.summary = Summary({}, {})

    def count(self, written: Iterable[Written]) -> Iterator[Written]:
        """Yield the documents unchanged, and record ids, languages and sample terms."""
        languages, samples = self.summary.languages, self.summary.samples
        for document, tokens in written:
            self.ids.append(document.id)
            languages[tokens.language] = languages.get(tokens.language, 0) + 1
            samples.update((field, found[-1]) for field, found in tokens.fields.items() if found)
            yield document, tokens


class FileStatistics:
    """The statistics of the files for BM25, as tantivy counts them."""

    def __init__(self, searcher: "Searcher", schema: "Schema", summary: Summary) -> None:
        self._searcher = searcher
        self.summary = summary
        self.documents = 0
        self._averages: dict[str, float] = {}
        for field in TEXT_FIELDS:
            self._read_average(field, schema)

    def _read_average(self, field: str, schema: "Schema") -> None:
        # Tantivy shows its averages only in the explanation of a score, so one is requested.
        from tantivy import Query

        for term in self._known_terms(field):
            query = Query.term_query(schema, field, term)
            hits = self._searcher.search(query, 1, count=False).hits
            if hits:
                figures = _figures(json.loads(query.explain(self._searcher, hits[0][1]).to_json()))
                self.documents = int(figures["N"])
                self._averages[field] = figures["avgdl"]
                return

    def _known_terms(self, field: str) -> Iterator[str]:
        # Listing terms reads all of them, so that the sample is tried first.
        if field in self.summary.samples:
            yield self.summary.samples[field]
        for term, _ in self._searcher.terms_with_prefix(field, "", limit=_TERMS_TRIED):
            yield term

    def holders(self, field: str, term: str) -> int:
        """Return how many entries in the files contain a term."""
        return self._searcher.doc_freq(field, term)

    def tokens(self, field: str) -> float:
        """Return how many tokens a field has in the files."""
        return self._averages.get(field, 0.0) * self.documents


def _figures(explanation: dict[str, Any]) -> dict[str, float]:
    name = str(explanation.get("description", "")).split(",", 1)[0]
    found = {name: float(explanation["value"])}
    for detail in explanation.get("details", ()):
        found.update(_figures(detail))
    return found


class Segments:
    """A tantivy index in a folder, or in RAM when there is none."""

    def __init__(self, folder: Path | None, make_writer: WriterFactory = open_writer) -> None:
        from tantivy import Index, TextAnalyzerBuilder, Tokenizer

        self._make_writer = make_writer
        self.schema = _build_schema()
        self._index = Index(self.schema, None if folder is None else str(folder))
        spaces = TextAnalyzerBuilder(Tokenizer.whitespace()).build()
        self._index.register_tokenizer(_TOKENIZER, spaces)
        # `searcher` reloads explicitly: no thread has to watch the folder and take its lock.
        self._index.config_reader("manual")

    def searcher(self) -> "Searcher":
        """Return an immutable searcher over the last commit."""
        self._index.reload()
        return self._index.searcher()

    def write(self, removed: Iterable[str] | None, put: Iterable[Written]) -> Tally:
        """Commit changes: first delete `removed` (None: everything), then add `put`.

        Raises:
            WriterDiedError: tantivy or the disk failed; nothing was committed.
        """
        tally = Tally()
        reason = self._try_to_write(removed, tally.count(put))
        if reason is not None:
            raise WriterDiedError(reason)
        return tally

    def _try_to_write(self, removed: Iterable[str] | None, put: Iterable[Written]) -> str | None:
        # An error's traceback would keep the dead writer alive, and with it the lock that the next
        # one needs: only the message leaves this function.
        try:
            writer = self._make_writer(self._index)
            if removed is None:
                writer.delete_all_documents()
            for entry_id in removed or ():
                writer.delete_documents_by_term(_ID, entry_id)
            for document, tokens in put:
                self._add(writer, document, tokens)
            writer.commit()
            writer.wait_merging_threads()
        except (ValueError, OSError) as error:
            return str(error)
        return None

    def _add(self, writer: "IndexWriter", document: IndexDocument, tokens: FieldTokens) -> None:
        from tantivy import Document

        fields: dict[str, Any] = {field: " ".join(found) for field, found in tokens.fields.items()}
        fields[_ID] = document.id
        fields[_KEY] = key_of(document.id)
        fields[_IS] = filter_terms(document)
        fields.update(numbers(document))
        writer.add_document(Document.from_dict(fields, self.schema))

    def ids(self, searcher: "Searcher") -> list[str]:
        """Return every id in the files, including ids of removed entries."""
        return [entry_id for entry_id, _ in searcher.terms_with_prefix(_ID, "")]

    def search(self, searcher: "Searcher", query: "Query", limit: int) -> "KeyHits":
        """Return the keys and scores of the best hits, best first."""
        hits = searcher.search(query, limit, count=False).hits
        keys = searcher.fast_field_values(_KEY, [address for _, address in hits])
        return KeyHits(np.array(keys, np.uint64), np.array([score for score, _ in hits]))

    def query(
        self,
        plan: Plan,
        conditions: Conditions,
        boost: Callable[[Clause], float] | None = None,
    ) -> "Query":
        """Return the tantivy query of a plan, limited to entries that meet the conditions."""
        from tantivy import Occur, Query

        should = Occur.Should
        scored = Query.boolean_query(
            [
                (
                    should,
                    self._clause(Query, clause, clause.weight * (boost(clause) if boost else 1)),
                )
                for clause in plan.scored
            ]
        )
        required = [*self._required(conditions), *map(self._group, plan.required)]
        if not required and not conditions.without:
            return scored
        parts = [(Occur.Must, scored)]
        parts += [(Occur.Must, Query.const_score_query(found, 0.0)) for found in required]
        if conditions.without:
            parts.append((Occur.MustNot, self._any_of(conditions.without)))
        return Query.boolean_query(parts)

    def _required(self, conditions: Conditions) -> Iterator["Query"]:
        for limits in required_ranges(conditions.wanted, conditions.now):
            yield self._range(limits)
        if conditions.wanted is not None:
            yield from map(self._one_of, required_terms(conditions.wanted))

    def _group(self, clauses: Iterable[Clause]) -> "Query":
        from tantivy import Occur, Query

        return Query.boolean_query(
            [(Occur.Should, self._clause(Query, found, 1.0)) for found in clauses]
        )

    def _clause(self, make: "type[Query]", clause: Clause, weight: float) -> "Query":
        if len(clause.terms) == 1:
            found = make.term_query(self.schema, clause.field, clause.terms[0])
        else:
            found = make.phrase_query(self.schema, clause.field, list(clause.terms), clause.slop)
        return found if weight == 1.0 else make.boost_query(found, weight)

    def _one_of(self, terms: list[str]) -> "Query":
        from tantivy import Occur, Query

        found = [Query.term_query(self.schema, _IS, term, "basic") for term in terms]
        if len(found) == 1:
            return found[0]
        return Query.boolean_query([(Occur.Should, query) for query in found])

    def _any_of(self, ids: Collection[str]) -> "Query":
        from tantivy import Occur, Query

        if len(ids) > _FEW_IDS:
            return Query.term_set_query(self.schema, _ID, list(ids))
        found = [Query.term_query(self.schema, _ID, entry_id, "basic") for entry_id in ids]
        return Query.boolean_query([(Occur.Should, query) for query in found])

    def _range(self, limits: Range) -> "Query":
        from tantivy import FieldType, Query

        kind = FieldType.Float if limits.field == CONFIDENCE else FieldType.Integer
        return Query.range_query(
            self.schema,
            limits.field,
            kind,
            limits.low,
            limits.high,
            include_upper=limits.high is None,
        )


def _build_schema() -> "Schema":
    from tantivy import SchemaBuilder

    builder = SchemaBuilder()
    for field in TEXT_FIELDS:
        builder.add_text_field(field, tokenizer_name=_TOKENIZER, index_option="position")
    builder.add_text_field(_ID, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(_IS, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field(_KEY, fast=True)
    for field in _INTEGER_FIELDS:
        builder.add_integer_field(field, fast=True)
    builder.add_float_field(CONFIDENCE, fast=True)
    return builder.build()
