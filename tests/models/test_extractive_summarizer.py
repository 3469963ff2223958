"""Extractive summaries: sentences of the text, the central ones, each thing once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qms.models.extractive_summarizer import (
    MAX_CHARACTERS,
    MAX_SENTENCES,
    ExtractiveSummarizer,
    split_sentences,
)
from qms.models.hash_embedder import HashEmbedder

SUMMARIZER = ExtractiveSummarizer(HashEmbedder())

STORY = """
The keyword index of the store is rebuilt every night by the librarian thread.
Lunch was late. The librarian thread rebuilds the keyword index when the store is quiet at night.
A rebuild of the keyword index takes two minutes for a store of a hundred thousand entries.
Somebody left an umbrella in the hall. The store stays readable while the index is rebuilt.
It rained. Parking is free on Sundays. The coffee machine on the third floor is broken again.
"""


def test_a_summary_is_made_of_central_sentences_in_their_order() -> None:
    summary = SUMMARIZER.summarize(STORY)

    chosen = split_sentences(summary)
    assert 1 <= len(chosen) <= MAX_SENTENCES
    assert all("index" in sentence for sentence in chosen)
    places = [STORY.index(sentence) for sentence in chosen]
    assert places == sorted(places)


def test_the_same_thing_is_not_said_twice() -> None:
    twice = "The index is rebuilt every night at three."
    text = f"{twice} {twice} {twice[:-1]}! Backups are kept for fourteen days on another disk. " * 3

    assert SUMMARIZER.summarize(text).count("rebuilt every night") < 3
    assert "Backups" in SUMMARIZER.summarize(text)


def test_a_text_without_ends_of_sentences_is_cut_between_words() -> None:
    summary = SUMMARIZER.summarize("word " * 500)

    assert len(summary) <= MAX_CHARACTERS
    assert summary.endswith("word…")


def test_signs_of_lists_and_scripts_without_spaces_are_read() -> None:
    assert split_sentences("# Plan\n- first step\n- second step\n\n---") == [
        "Plan",
        "first step",
        "second step",
    ]
    assert split_sentences("It was\nwrapped here.\n\n| a | b |\nThe end") == [
        "It was wrapped here.",
        "The end",
    ]
    text = "数据库在昨天晚上失败了。我们重新启动了数据库。数据库现在运行正常。今天下雨。" * 5
    assert "数据库" in SUMMARIZER.summarize(text)


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=2000).filter(str.strip))
def test_any_text_has_a_short_summary_of_its_own_words(text: str) -> None:
    summary = SUMMARIZER.summarize(text)

    assert len(summary) <= MAX_CHARACTERS
    assert set("".join(summary.split())) <= {*text, "…"}


@pytest.mark.parametrize("size", [100, 3000])
def test_a_long_text_costs_few_embeddings(size: int) -> None:
    asked: list[int] = []

    class Counting(HashEmbedder):
        def embed(self, texts):  # type: ignore[no-untyped-def]  # as the embedder has it
            asked.append(len(texts))
            return super().embed(texts)

    text = " ".join(
        f"Sentence number {n} is about subject {n % 7} of the list." for n in range(size)
    )
    ExtractiveSummarizer(Counting()).summarize(text)

    assert sum(asked) <= 8
