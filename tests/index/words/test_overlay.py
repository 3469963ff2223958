"""Entries that wait for a commit are found, ranked and filtered like committed ones."""

import random
import threading
from collections.abc import Iterable
from typing import Any

import pytest

from qms.disk.disk import Disk
from qms.index.entry_keys import key_of
from qms.index.indexed_entry import IndexDocument
from qms.index.words import overlay
from qms.index.words.fields import field_tokens
from qms.index.words.keyword_index import Hit, KeywordIndex
from qms.index.words.overlay import Change, Generation, Overlay
from qms.index.words.query_plan import analyse
from qms.memory.filters import Filter
from tests.support.index_documents import index_note

TEXT = """
server index search memory reload guard journal commit vector keyword the of and in getUserName
docs/spec.md user_name running runs Häuser und das ist nicht база данных не 東京都
"""
VOCABULARY = TEXT.split()

QUERIES = (
    "the search index of the server",
    "reload guard",
    "run getUserName",
    "user_name in docs/spec.md",
    '"index search" memory',
    "das Haus und der Server",
    "база данных",
    "京都",
)


def random_documents(seed: int, count: int) -> list[IndexDocument]:
    chance = random.Random(seed)

    def text(longest: int) -> str:
        return " ".join(chance.choices(VOCABULARY, k=chance.randint(1, longest)))

    return [
        index_note(
            f"{number}",
            text(chance.choice([5, 30, 200])),
            title=text(4),
            tags=tuple(chance.choices(VOCABULARY, k=chance.randint(0, 2))),
            keywords=tuple(chance.choices(VOCABULARY, k=chance.randint(0, 2))),
        )
        for number in range(count)
    ]


def open_in_ram() -> KeywordIndex:
    return KeywordIndex.open(None, disk=Disk())


def filled(documents: Iterable[IndexDocument], *, commit: bool) -> KeywordIndex:
    index = open_in_ram()
    for sequence, document in enumerate(documents, 1):
        index.apply(sequence, [document], [])
    if commit:
        index.commit()
    return index


def assert_same_ranking(first: list[Hit], second: list[Hit]) -> None:
    assert dict(first) == pytest.approx(dict(second), rel=1e-4)
    assert [score for _, score in first] == pytest.approx([score for _, score in second], rel=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_pending_entries_score_what_they_will_score_when_committed(seed: int) -> None:
    documents = random_documents(seed, 120)
    pending, committed = filled(documents, commit=False), filled(documents, commit=True)

    for text in QUERIES:
        query = analyse(text)
        before = pending.search(query, limit=500)

        assert before
        assert_same_ranking(before, committed.search(query, limit=500))


def test_what_an_entry_said_before_counts_in_no_score() -> None:
    documents = random_documents(5, 60)
    rewritten = open_in_ram()
    rewritten.apply(1, [index_note(f"{n}", f"{TEXT * 3} {n}") for n in range(80)], [])
    assert rewritten.search(analyse("server"))
    rewritten.apply(2, documents, [f"p:{number}" for number in range(60, 80)])

    once = filled(documents, commit=False)
    for text in QUERIES:
        query = analyse(text)
        found = rewritten.search(query, limit=500)
        assert_same_ranking(found, once.search(query, limit=500))


def test_a_language_counts_as_many_entries_as_are_written_in_it_now() -> None:
    german, english = "Das ist der Text, und er ist nicht lang", "This is the text of the entry"
    generation = Generation()
    for sequence, text in enumerate([german, english], 1):
        generation.add(Change(sequence, (index_note("a", text),), ()))
        generation.take_in()

    assert {one: count for one, count in generation.languages.items() if count} == {"english": 1}


def test_hits_of_files_and_overlay_can_be_compared() -> None:
    documents = random_documents(9, 400)
    mixed = filled(documents[:300], commit=True)
    mixed.apply(301, documents[300:], [])
    committed = filled(documents, commit=True)

    for text in QUERIES:
        ours = dict(mixed.search(analyse(text), limit=500))
        theirs = dict(committed.search(analyse(text), limit=500))
        # The files' own average lengths stay, and those of a random part differ a little.
        assert ours == pytest.approx(theirs, rel=0.1)


def test_a_replaced_entry_is_found_by_its_new_text_only() -> None:
    index = filled([index_note("a", "old words"), index_note("b", "other")], commit=True)
    index.apply(3, [index_note("a", "new text")], [])

    assert index.search(analyse("old")) == []
    assert [found for found, _ in index.search(analyse("new"))] == ["p:a"]
    index.apply(4, [index_note("a", "newest text")], [])
    assert index.search(analyse("new")) == []
    index.commit()
    assert [found for found, _ in index.search(analyse("newest"))] == ["p:a"]
    assert index.search(analyse("old new")) == []


def test_a_removed_entry_is_gone_at_once_and_stays_gone() -> None:
    index = filled([index_note("a", "words"), index_note("b", "words")], commit=True)
    index.apply(3, [], ["p:a"])

    assert [found for found, _ in index.search(analyse("words"))] == ["p:b"]
    index.commit()
    assert [found for found, _ in index.search(analyse("words"))] == ["p:b"]
    index.apply(4, [index_note("a", "words")], [])
    assert {found for found, _ in index.search(analyse("words"))} == {"p:a", "p:b"}


def test_many_replaced_entries_do_not_crowd_out_the_others() -> None:
    documents = [index_note(f"{number}", "word") for number in range(300)]
    index = filled(
        [*documents, index_note("last", "a longer text with the word in it")], commit=True
    )
    index.apply(400, [index_note(f"{number}", "changed") for number in range(300)], [])

    assert [found for found, _ in index.search(analyse("word"), limit=5)] == ["p:last"]


def test_filters_hold_in_overlay_and_files() -> None:
    pinned = index_note("a", "word", pinned=True, tags=("x",))
    index = filled([pinned, index_note("b", "word")], commit=False)

    for _ in range(2):
        assert index.search(analyse("word"), Filter(tag="x")) == index.search(
            analyse("word"), Filter(pinned=True)
        )
        assert [found for found, _ in index.search(analyse("word"), Filter(tag="x"))] == ["p:a"]
        index.commit()


def test_a_search_sees_every_change_that_was_applied_before_it() -> None:
    index = filled([index_note("start", "nothing")], commit=True)
    done = threading.Event()

    def keep_committing() -> None:
        while not done.is_set():
            index.commit()

    committer = threading.Thread(target=keep_committing)
    committer.start()
    misses = []
    try:
        for number in range(1_000):
            word = f"word{number}"
            index.apply(number, [index_note(f"{number % 50}", word)], [])
            if [found for found, _ in index.search(analyse(word))] != [f"p:{number % 50}"]:
                misses.append(number)
            if number >= 50 and index.search(analyse(f"word{number - 50}")):
                misses.append(number)
    finally:
        done.set()
        committer.join()

    assert misses == []


def test_what_a_commit_forgets_meanwhile_is_outdated_all_the_same() -> None:
    class ForgottenAfterOneLook(dict[int, str]):
        def keys(self) -> Any:
            found = dict(self).keys()
            self.clear()
            return found

    index = open_in_ram()
    index.apply(1, [index_note("a", "pear")], [])
    state = index._state

    overlay = Overlay(state.generations, state.files)

    assert overlay.outdated(ForgottenAfterOneLook({key_of("p:a"): "p:a"})) == ["p:a"]


def test_readers_and_one_writer_never_disturb_each_other() -> None:
    index = open_in_ram()
    done = threading.Event()
    failures: list[BaseException] = []

    def keep_searching() -> None:
        try:
            while not done.is_set():
                for text in QUERIES:
                    index.search(analyse(text))
        except BaseException as error:
            failures.append(error)

    readers = [threading.Thread(target=keep_searching) for _ in range(3)]
    for reader in readers:
        reader.start()
    for sequence, document in enumerate(random_documents(5, 400)):
        index.apply(sequence, [document], [f"p:{sequence - 10}"])
        if sequence % 100 == 0:
            index.commit()
    done.set()
    for reader in readers:
        reader.join()

    assert failures == []


def test_an_entry_that_was_written_many_times_is_analysed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    analysed: list[IndexDocument] = []
    analyse_fields = field_tokens

    def counted(document: IndexDocument) -> Any:
        analysed.append(document)
        return analyse_fields(document)

    monkeypatch.setattr(overlay, "field_tokens", counted)
    index = open_in_ram()
    for number in range(100):
        index.apply(number, [index_note("a", f"word{number}")], [])
    index.apply(100, [index_note("b", "other")], ["p:c"])

    assert [found for found, _ in index.search(analyse("word99"))] == ["p:a"]
    assert [document.id for document in analysed] == ["p:a", "p:b"]
    assert index.search(analyse("word98")) == []
