"""The place in a text that answers a query best, about a line long, its words marked."""

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from qms.index.keyword_query import KeywordQuery
from qms.index.terms import fold, language_of, stems, words

SNIPPET_CHARACTERS = 160
MARK = "**"

_SCANNED_CHARACTERS = 20_000
_LANGUAGE_CHARACTERS = 600
_MAX_MATCHES = 500
_SMALL_WORD_WORTH = 0.1
_LEAD_CHARACTERS = 40
_SPACES = re.compile(r"\s+")
_BORDER = re.compile(r"\s")


class _Match(msgspec.Struct, frozen=True):
    start: int
    end: int
    word: str
    worth: float


def snippet(query: KeywordQuery, text: str) -> str:
    """Return about 160 characters around the best match, cut at word borders; `**` marks words.

    Without any match it is the beginning of the text.
    """
    scanned = text[:_SCANNED_CHARACTERS]
    matches = list(_matches(query, scanned))
    start, end = _window(matches, scanned)
    return _render(text, start, end, [m for m in matches if start <= m.start and m.end <= end])


def _matches(query: KeywordQuery, text: str) -> Iterator[_Match]:
    worths = dict.fromkeys(query.small, _SMALL_WORD_WORTH) | dict.fromkeys(query.content, 1.0)
    if not worths:
        return
    language = language_of(words(text[:_LANGUAGE_CHARACTERS]))
    asked_stems = stems(list(worths), language)
    by_stem = dict(zip(asked_stems, worths.items(), strict=True))
    for count, found in enumerate(
        _candidates(tuple(worths), tuple(asked_stems), text.isascii()).finditer(text)
    ):
        if count >= _MAX_MATCHES:
            return
        for start, end, word in _words_in(found, worths):
            stem = stems([word], language)[0]
            if stem in by_stem:
                meant, worth = by_stem[stem]
                yield _Match(start, end, meant, worth)


@lru_cache(maxsize=64)
def _candidates(
    asked: tuple[str, ...], stemmed: tuple[str, ...], is_ascii: bool
) -> re.Pattern[str]:
    # Only words that begin like one that is asked for are looked at, and those with letters beyond
    # ASCII, which may be spelt with accents; the stem then decides.
    beginnings = {_common_beginning(word, stem) for word, stem in zip(asked, stemmed, strict=True)}
    alternatives = "|".join(sorted(map(re.escape, beginnings), key=len, reverse=True))
    beginning = rf"(?<![^\W_])(?:{alternatives})[^\W_]*"
    accented = r"[^\W_]*[^\W_\x00-\x7f][^\W_]*"
    return re.compile(beginning if is_ascii else f"{beginning}|{accented}", re.IGNORECASE)


def _common_beginning(word: str, stem: str) -> str:
    length = 0
    while length < min(len(word), len(stem)) and word[length] == stem[length]:
        length += 1
    return word[: max(1, length)]


def _words_in(found: re.Match[str], asked: dict[str, float]) -> Iterator[tuple[int, int, str]]:
    text = found.group()
    pieces = words(text)
    if len(pieces) == 1:
        yield found.start(), found.end(), pieces[0]
        return
    folded = fold(text)
    if len(folded) != len(text):
        return
    for word in asked:
        at = folded.find(word)
        while at >= 0:
            yield found.start() + at, found.start() + at + len(word), word
            at = folded.find(word, at + len(word))


def _window(matches: list[_Match], text: str) -> tuple[int, int]:
    best, best_worth = 0, 0.0
    for at, first in enumerate(matches):
        inside = {
            match.word: match.worth
            for match in matches[at : at + SNIPPET_CHARACTERS]
            if match.end <= first.start + SNIPPET_CHARACTERS - _LEAD_CHARACTERS
        }
        worth = sum(inside.values())
        if worth > best_worth:
            best, best_worth = max(0, first.start - _LEAD_CHARACTERS), worth
    start = _word_border(text, best) if best else 0
    end = start + SNIPPET_CHARACTERS
    if end >= len(text):
        return start, len(text)
    cut = max((found.start() for found in _BORDER.finditer(text, start, end)), default=end)
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
    shown = _SPACES.sub(" ", "".join(pieces)).strip()
    return f"{'… ' if start else ''}{shown}{' …' if end < len(text) else ''}"
