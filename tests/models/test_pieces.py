import re

from hypothesis import given
from hypothesis import strategies as st

from qms.models.pieces import PieceShape, Word, cut, is_surely_short

SHAPE = PieceShape(tokens=20, overlap=4, most=6, longest=26)


def words_of(text: str, tokens: int = 1) -> list[Word]:
    return [Word(found.start(), found.end(), tokens) for found in re.finditer(r"\S+", text)]


def numbered(count: int) -> str:
    return " ".join(f"w{number}" for number in range(count))


def test_a_text_that_fits_is_one_piece() -> None:
    assert cut(f"  {numbered(20)}\n", words_of(f"  {numbered(20)}\n"), SHAPE) == [numbered(20)]


def test_a_blank_text_has_no_piece() -> None:
    assert cut(" \n ", [], SHAPE) == []


def test_neighbouring_pieces_overlap() -> None:
    pieces = cut(numbered(50), words_of(numbered(50)), SHAPE)

    assert [piece.split()[0] for piece in pieces] == ["w0", "w16", "w32"]
    assert [piece.split()[-1] for piece in pieces] == ["w19", "w35", "w49"]


def test_a_text_beyond_the_most_pieces_gets_longer_ones() -> None:
    text = numbered(120)

    pieces = cut(text, words_of(text), SHAPE)

    assert len(pieces) <= 6
    assert max(len(piece.split()) for piece in pieces) == 26
    assert {word for piece in pieces for word in piece.split()} == set(text.split())


def test_a_text_beyond_all_reach_is_sampled_to_its_end() -> None:
    text = numbered(1000)

    pieces = cut(text, words_of(text), SHAPE)

    assert len(pieces) == 6
    assert pieces[0].startswith("w0 ")
    assert pieces[-1].endswith(" w999")
    assert {len(piece.split()) for piece in pieces[:-1]} == {26}


def test_a_word_longer_than_a_piece_stands_alone() -> None:
    text = "a giant b"

    assert cut(text, [Word(0, 1, 1), Word(2, 7, 90), Word(8, 9, 1)], SHAPE) == ["a", "giant", "b"]


@given(st.lists(st.integers(1, 15), min_size=1, max_size=60))
def test_no_word_is_lost_and_no_piece_too_long_while_the_pieces_suffice(counts: list[int]) -> None:
    text = numbered(len(counts))
    spans = words_of(text)
    words = [Word(span.start, span.end, count) for span, count in zip(spans, counts, strict=True)]
    cost = dict(zip(text.split(), counts, strict=True))

    pieces = cut(text, words, PieceShape(tokens=20, overlap=4, most=1000, longest=26))

    assert {word for piece in pieces for word in piece.split()} == set(text.split())
    assert all(sum(cost[word] for word in piece.split()) <= 20 for piece in pieces)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=400))
def test_there_are_never_too_many_pieces_and_all_are_of_the_text(counts: list[int]) -> None:
    text = numbered(len(counts))
    spans = words_of(text)
    words = [Word(span.start, span.end, count) for span, count in zip(spans, counts, strict=True)]

    pieces = cut(text, words, SHAPE)

    assert 1 <= len(pieces) <= SHAPE.most
    assert all(piece in text for piece in pieces)


def test_size_alone_tells_a_short_text() -> None:
    assert is_surely_short("x" * 20, SHAPE)
    assert not is_surely_short("x" * 21, SHAPE)
    assert not is_surely_short("語" * 7, SHAPE)
