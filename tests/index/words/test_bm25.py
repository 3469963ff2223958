"""BM25 in Python equals tantivy's."""

import random

import pytest
from tantivy import Document, Index, Query, SchemaBuilder, TextAnalyzerBuilder, Tokenizer

from qms.index.words.bm25 import K1, idf, norm_line, phrase_frequency, stored_length


@pytest.mark.parametrize("length", [0, 1, 23, 24, 39, 40])
def test_short_lengths_are_remembered_exactly(length: int) -> None:
    assert stored_length(length) == length


@pytest.mark.parametrize(
    ("length", "stored"), [(41, 40), (57, 56), (100, 96), (10**12, 2013265944)]
)
def test_long_lengths_are_rounded_down(length: int, stored: int) -> None:
    assert stored_length(length) == stored


def test_exact_phrases_are_counted_by_their_starts() -> None:
    assert phrase_frequency([[0, 5, 9], [1, 6, 20], [2, 7]], 0) == 2
    assert phrase_frequency([[3], [2]], 0) == 0


@pytest.mark.parametrize(
    ("terms", "slop"),
    [("a", 0), ("ab", 0), ("aa", 0), ("aba", 0), ("ab", 1), ("ab", 2), ("bc", 2), ("dd", 2)],
)
def test_scores_are_those_of_tantivy(terms: str, slop: int) -> None:
    chance = random.Random(7)
    texts = [chance.choices("abcdefgh", k=chance.choice([1, 5, 30, 100, 900])) for _ in range(200)]
    builder = SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="spaces")
    builder.add_unsigned_field("number", fast=True)
    schema = builder.build()
    index = Index(schema)
    index.register_tokenizer("spaces", TextAnalyzerBuilder(Tokenizer.whitespace()).build())
    writer = index.writer(15_000_000, 1)
    for number, text in enumerate(texts):
        fields = {"text": " ".join(text), "number": number}
        writer.add_document(Document.from_dict(fields, schema))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    query = (
        Query.phrase_query(schema, "text", list(terms), slop)
        if len(terms) > 1
        else Query.term_query(schema, "text", terms)
    )
    hits = searcher.search(query, len(texts)).hits
    numbers = searcher.fast_field_values("number", [address for _, address in hits])
    theirs = dict(zip(numbers, [score for score, _ in hits], strict=True))

    holders = [sum(term in text for text in texts) for term in terms]
    average = sum(map(len, texts)) / len(texts)
    weight = sum(idf(count, len(texts)) for count in holders)
    least, slope = norm_line(average)
    ours = {}
    for number, text in enumerate(texts):
        places = [[at for at, found in enumerate(text) if found == term] for term in terms]
        frequency = (
            phrase_frequency(places, slop, int(holders[-1] < holders[0]))
            if len(terms) > 1
            else len(places[0])
        )
        if frequency:
            norm = least + slope * stored_length(len(text))
            ours[number] = weight * (K1 + 1) * frequency / (frequency + norm)

    assert theirs == pytest.approx(ours, abs=1e-4)
