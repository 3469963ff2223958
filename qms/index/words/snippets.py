"""Snippets: the part of a text that matches a query best, about one line, its words marked."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from qms.index.words.query_plan import KeywordQuery
from qms.text.terms import MAX_WORD_CHARACTERS, fold, language_of, stems, words

SNIPPET_CHARACTERS = 100
MARK = "**"

_SCANNED_CHARACTERS = 20_000
_LANGUAGE_CHARACTERS = 600
_MAX_MATCHES = 500
_KEPT_LANGUAGES = 1024
"""How many beginnings of texts keep their language: 0.6 MB."""

_KEPT_WORDS = 4096
"""How many words keep their stems: hits of one query have the same words."""

_SMALL_WORD_WORTH = 0.1
_LEAD_CHARACTERS = 30
_END_OF_WORD = re.compile(r"[^a-z0-9]")
_BORDER = re.compile(r"\s")


_Meant = tuple[str, float]
"""A word of the query, and what a match of it is worth."""


class _Match(NamedTuple):
    start: int
    end: int
    word: str
    worth: float


def snippet(query: KeywordQuery, text: str) -> str:
    """Return about 100 characters around the best match, cut at word borders; `**` marks words.

    Small words such as `the` help to choose the place and are not marked, unless the query has
    no others. Without a match it is the beginning of the text.
    """
    scanned = text[:_SCANNED_CHARACTERS]
    matches = list(_matches(query, scanned))
    start, end = _window(matches, scanned)
    shown = [m for m in matches if m.worth == 1.0 and start <= m.start and m.end <= end]
    return _render(text, start, end, shown)


def _matches(query: KeywordQuery, text: str) -> Iterator[_Match]:
    if not query.small and not query.content:
        return
    asked = _asked(query.small, query.content, _language(text[:_LANGUAGE_CHARACTERS]))
    # Lower case keeps the places of an ASCII text.
    found = _in_plain_text(text.lower(), asked) if text.isascii() else _in_any_text(text, asked)
    for start, end, meant in found:
        if meant is not None:
            yield _Match(start, end, *meant)


@lru_cache(maxsize=_KEPT_LANGUAGES)
def _language(beginning: str) -> str:
    return language_of(words(beginning))


class _Asked(NamedTuple):
    """The words of a query in one language: what to look for, and what a match is worth.

    Only words with the beginning of a query word are stemmed; the stem then decides.
    """

    words: tuple[str, ...]
    language: str
    by_stem: dict[str, _Meant]
    by_word: dict[str, _Meant]
    beginnings: tuple[str, ...]

    def meant_by(self, word: str) -> _Meant | None:
        """Return the query word that a word of a text stands for."""
        return self.by_word.get(word) or self.by_stem.get(stems([word], self.language)[0])


@lru_cache(maxsize=64)
def _asked(small: tuple[str, ...], content: tuple[str, ...], language: str) -> _Asked:
    worths = dict.fromkeys(small, _SMALL_WORD_WORTH) | dict.fromkeys(content, 1.0)
    stemmed = stems(list(worths), language)
    beginnings = dict.fromkeys(map(_common_beginning, worths, stemmed))
    by_stem = dict(zip(stemmed, worths.items(), strict=True))
    by_word = {word: by_stem[stem] for word, stem in zip(worths, stemmed, strict=True)}
    return _Asked(tuple(worths), language, by_stem, by_word, tuple(beginnings))


def _common_beginning(word: str, stem: str) -> str:
    if word.startswith(stem):
        return stem
    length = 0
    while length < min(len(word), len(stem)) and word[length] == stem[length]:
        length += 1
    return word[: max(1, length)]


def _in_plain_text(text: str, asked: _Asked) -> Iterator[tuple[int, int, _Meant | None]]:
    """Yield start, end and meaning of the words of an ASCII text that may be meant."""
    ends: dict[int, int] = {}
    for beginning in asked.beginnings:
        at = text.find(beginning)
        while at >= 0:
            if not at or not text[at - 1].isalnum():
                end_of_word = _END_OF_WORD.search(text, at)
                ends[at] = end_of_word.start() if end_of_word else len(text)
            at = text.find(beginning, at + 1)
    for at, end in sorted(ends.items())[:_MAX_MATCHES]:
        yield at, end, asked.meant_by(text[at : min(end, at + MAX_WORD_CHARACTERS)])


def _in_any_text(text: str, asked: _Asked) -> Iterator[tuple[int, int, _Meant | None]]:
    """Yield start, end and meaning of the words of a text that may be meant."""
    for found in islice(_accented(asked.beginnings).finditer(text), _MAX_MATCHES):
        for at, length, stem in _stems_in(found.group(), asked.words, asked.language):
            start = found.start() + at
            yield start, start + length, asked.by_stem.get(stem)


@lru_cache(maxsize=64)
def _accented(beginnings: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of words with these beginnings, and of words that may have accents."""
    alternatives = "|".join(sorted(map(re.escape, beginnings), key=len, reverse=True))
    beginning = rf"(?<![^\W_])(?:{alternatives})[^\W_]*"
    accented = r"(?<![^\W_])[A-Za-z0-9]*+[^\W_\x00-\x7f][^\W_]*+"
    return re.compile(f"{beginning}|{accented}", re.IGNORECASE)


@lru_cache(maxsize=_KEPT_WORDS)
def _stems_in(text: str, asked: tuple[str, ...], language: str) -> tuple[tuple[int, int, str], ...]:
    """Return place, length and stem of each word that may be meant in a candidate."""
    found = tuple(_words_in(text, asked))
    stemmed = stems([word for _, _, word in found], language)
    return tuple((at, length, stem) for (at, length, _), stem in zip(found, stemmed, strict=True))


def _words_in(text: str, asked: tuple[str, ...]) -> Iterator[tuple[int, int, str]]:
    pieces = words(text)
    if len(pieces) == 1:
        yield 0, len(text), pieces[0]
        return
    folded = fold(text)
    if len(folded) != len(text):
        return
    for word in asked:
        at = folded.find(word)
        while at >= 0:
            yield at, len(word), word
            at = folded.find(word, at + len(word))


def _window(matches: list[_Match], text: str) -> tuple[int, int]:
    best, best_worth = 0, 0.0
    most = sum({match.word: match.worth for match in matches}.values())
    for at, first in enumerate(matches):
        if best_worth >= most:
            break
        last = first.start + SNIPPET_CHARACTERS - _LEAD_CHARACTERS
        near = matches[at : at + SNIPPET_CHARACTERS]
        worth = sum({match.word: match.worth for match in near if match.end <= last}.values())
        if worth > best_worth:
            best, best_worth = max(0, first.start - _LEAD_CHARACTERS), worth
    start = _word_border(text, best) if best else 0
    end = start + SNIPPET_CHARACTERS
    if end >= len(text):
        return start, len(text)
    cut = end - 1
    while cut > start and not text[cut].isspace():
        cut -= 1
    return start, cut if cut > start else end


def _word_border(text: str, at: int) -> int:
    found = _BORDER.search(text, at, at + _LEAD_CHARACTERS)
    return found.end() if found else at


def _render(text: str, start: int, end: int, matches: list[_Match]) -> str:
    pieces, at = [], start
    for match in sorted(matches, key=lambda match: (match.start, -match.end)):
        if match.start < at:
            continue
        pieces += [text[at : match.start], MARK, text[match.start : match.end], MARK]
        at = match.end
    pieces.append(text[at:end])
    shown = " ".join("".join(pieces).split())
    return f"{'… ' if start else ''}{shown}{' …' if end < len(text) else ''}"
