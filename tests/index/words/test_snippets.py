"""Snippets show the best place of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.index.words.query_plan import analyse
from qms.index.words.snippets import MARK, snippet

LONG = " ".join(f"filler{number}" for number in range(200))


def test_words_are_marked_by_their_stem() -> None:
    assert snippet(analyse("restarting server"), "The servers were restarted, all of them") == (
        "The **servers** were **restarted**, all of them"
    )


def test_the_place_with_most_different_words_is_shown() -> None:
    text = f"index index index {LONG} the reload guard of the index {LONG}"

    shown = snippet(analyse("the reload guard of an index"), text)

    assert "**reload** **guard** of the **index**" in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert len(shown.replace(MARK, "")) <= 165


def test_small_words_are_marked_only_when_there_are_no_others() -> None:
    text = "The parser of the login is checked"

    assert snippet(analyse("how is the parser"), text) == "The **parser** of the login is checked"
    assert "**The**" in snippet(analyse("the"), text)


def test_accents_and_other_scripts_are_marked() -> None:
    assert snippet(analyse("hauser"), "Die Häuser sind alt") == "Die **Häuser** sind alt"
    assert "**東京**" in snippet(analyse("東京"), "私は東京に住んでいます")
    assert snippet(analyse("таблица"), "Мы открыли таблицы") == "Мы открыли **таблицы**"


@pytest.mark.parametrize("text", ["", "short", LONG])
def test_without_a_match_it_is_the_beginning(text: str) -> None:
    shown = snippet(analyse("nothing"), text)

    assert text.startswith(shown.removesuffix(" …"))
    assert len(shown) <= 165


def test_lines_and_spaces_become_one_line() -> None:
    assert snippet(analyse("two"), "one\n\n  two\tthree") == "one **two** three"


@given(st.text(), st.text(max_size=50))
def test_any_text_and_query_give_a_short_line(text: str, query: str) -> None:
    shown = snippet(analyse(query), text)

    assert len(shown.replace(MARK, "")) <= 170
    assert "\n" not in shown
