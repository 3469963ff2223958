"""What a large import leaves is found before anybody has taken it apart."""

import random

import pytest

from qms.domain.queries import Filter
from qms.fsio.disk import Disk
from qms.index.changes import Change
from qms.index.documents import IndexDocument
from qms.index.glance import Tail, needle
from qms.index.keyword import FULL_FROM, KeywordIndex
from qms.index.keyword_fields import field_tokens
from qms.index.keyword_query import analyse
from qms.index.overlay import FEW_UNREAD
from qms.index.stop_words import STOP_WORDS
from tests.support.index_documents import index_note

TEXT = """
server index search memory reload guard journal commit vector keyword getUserName docs/spec.md
user_name running happiness relational Häuser Straße nicht база данных 東京都 naïve build-42
"""
WORDS = TEXT.split()

MANY = 3 * FEW_UNREAD


def notes(count: int, *, seed: int = 1) -> list[IndexDocument]:
    chance = random.Random(seed)
    return [
        index_note(
            f"n{number}",
            f"marker{number} " + " ".join(chance.choices(WORDS, k=12)),
            title=" ".join(chance.choices(WORDS, k=3)),
            tags=tuple(chance.choices(WORDS, k=2)),
        )
        for number in range(count)
    ]


def imported(documents: list[IndexDocument], *, committed: int = 0) -> KeywordIndex:
    index = KeywordIndex.open(None, disk=Disk())
    if committed:
        index.apply(1, documents[:committed], [])
        index.commit()
    index.apply(2, documents[committed:], [])
    return index


def ids(index: KeywordIndex, text: str, wanted: Filter | None = None, limit: int = 20) -> list[str]:
    return [found for found, _ in index.search(analyse(text), wanted, limit)]


@pytest.mark.parametrize("committed", [0, 200])
def test_every_entry_is_found_by_its_own_word_amid_an_import(committed: int) -> None:
    index = imported(notes(MANY), committed=committed)

    for number in range(0, MANY, 7):
        assert ids(index, f"marker{number}")[0] == f"p:n{number}"


def test_a_glance_finds_the_same_best_entries_as_a_commit() -> None:
    documents = [
        *notes(MANY),
        index_note("best", "the lighthouse keeper of the northern lighthouse"),
        index_note("good", "a lighthouse"),
        index_note("title", "nothing", title="lighthouses"),
        index_note("tag", "nothing", tags=("lighthouse",)),
        index_note("name", "see tools/lighthouse_run.py", title="x"),
    ]
    glanced, committed = imported(documents), imported(documents)
    committed.commit()

    for text in ("lighthouse", "the lighthouses of old", "tools/lighthouse_run.py"):
        assert set(ids(glanced, text)[:5]) == set(ids(committed, text)[:5])
    for text in ("northern keeper", "tools/lighthouse_run.py"):
        assert ids(glanced, text)[0] == ids(committed, text)[0]


def test_an_entry_is_called_by_its_id_amid_an_import() -> None:
    index = imported(notes(MANY))

    assert index.named(analyse("p:n77")) == ["p:n77"]


def test_filters_and_phrases_hold_amid_an_import() -> None:
    documents = [
        *notes(MANY),
        index_note("a", "quiet harbour lights", pinned=True),
        index_note("b", "lights of a quiet old harbour"),
    ]
    index = imported(documents)

    assert ids(index, "harbour", Filter(pinned=True)) == ["p:a"]
    assert ids(index, '"quiet harbour"') == ["p:a"]
    assert set(ids(index, "quiet harbour")) >= {"p:a", "p:b"}


def test_what_an_import_replaces_or_removes_is_not_found_any_more() -> None:
    documents = notes(MANY)
    index = imported(documents, committed=MANY - 1)
    index.apply(3, [index_note(f"n{number}", "changed") for number in range(MANY - 2)], ["p:n5"])
    index.apply(4, [], ["p:n6"])

    assert ids(index, "marker3") == []
    assert "p:n6" not in ids(index, "changed", limit=MANY)
    assert ids(index, f"marker{MANY - 1}") == [f"p:n{MANY - 1}"]


def test_generations_end_when_they_are_full_and_the_newest_state_counts() -> None:
    index = imported(notes(FULL_FROM))
    index.apply(3, [index_note("n1", "newest"), *notes(MANY, seed=2)[2:]], [])

    assert ids(index, "newest")[0] == "p:n1"
    assert "p:n1" not in ids(index, "marker1")
    index.commit()
    assert ids(index, "newest") == ["p:n1"]
    assert index.pending == 0


def test_a_commit_gives_way_again_and_again() -> None:
    index = imported(notes(200))
    stops = []

    index.commit(lambda: stops.append(len(stops)))

    assert len(stops) == 10


@pytest.mark.parametrize("language", sorted(set(STOP_WORDS) - {"turkish"}))
def test_a_needle_stands_in_the_text_of_whoever_holds_the_term(language: str) -> None:
    document = index_note("a", " ".join([*STOP_WORDS[language]] * 2))
    tail = Tail()
    tail.follow([Change(1, (document,))])

    for field, terms in field_tokens(document).fields.items():
        for term in terms:
            text = needle(field, term)
            assert text
            assert tail._mask(text).all(), (field, term, text)
