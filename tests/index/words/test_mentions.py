"""Which words of a query count as mentioned in an entry."""

from typing import Any

import pytest

from qms.features.recall.recall import mentions
from qms.index.indexed_entry import index_document
from qms.index.words.query_plan import analyse, with_added
from tests.support.searching import record

ENTRY = record(
    "roses",
    "Roses are planted in the garden behind the house; see plantRoses in src/garden.py",
    tags=["flowers"],
    keywords=["hedge row"],
)
DOCUMENT = index_document(ENTRY.header, ENTRY.document())


@pytest.mark.parametrize(
    ("text", "is_mentioned"),
    [
        ("what was planting in spring", True),
        ("a FLOWER for the moon", True),
        ("hedges", True),
        ("where is src/garden.py", True),
        ("plant_roses", True),
        ("who is in the office of the moon", False),
        ("the", True),
        ("(((((", False),
        ("", False),
    ],
)
def test_a_word_that_says_something_counts_in_any_form(text: str, is_mentioned: bool) -> None:
    assert mentions(analyse(text), DOCUMENT) is is_mentioned


def test_words_that_a_model_added_count_too() -> None:
    query: Any = with_added(analyse("shrubs"), ["rose bush"])

    assert mentions(query, DOCUMENT)
