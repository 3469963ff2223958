"""Where sentences end."""

from itertools import pairwise

import pytest

from qms.text.sentences import first_sentence_end, sentence_ends


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One. ", "Two! ", "Three?"]),
        ("He said “no.” She left.", ["He said “no.” ", "She left."]),
        ("See Fig. 3 and e.g. Paris. Done.", ["See Fig. 3 and e.g. Paris. ", "Done."]),
        ("Version 1.2 runs. It works.", ["Version 1.2 runs. ", "It works."]),
        ("J. Smith came. He saw.", ["J. Smith came. ", "He saw."]),
        ("一つ。二つ。", ["一つ。", "二つ。"]),
        ("no end", ["no end"]),
    ],
)
def test_a_text_falls_into_its_sentences_without_loss(text: str, parts: list[str]) -> None:
    places = [0, *sentence_ends(text), len(text)]

    assert [text[a:b] for a, b in pairwise(places)] == parts


def test_the_first_end_after_a_place_is_found() -> None:
    assert first_sentence_end("One two. Three.", 2) == 9
    assert first_sentence_end("One two", 2) == 7
