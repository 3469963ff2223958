"""Where sentences end, without changing the text: a cut there begins the next one."""

import re
from collections.abc import Iterator

_END = re.compile(r"[.!?…][\"')\]”’»]{0,3}\s|[。！？]")
_WORD_BEFORE = 16
_LOOK_AHEAD = 64

_ABBREVIATIONS = frozenset({
    "e.g", "i.e", "etc", "cf", "vs", "dr", "mr", "mrs", "ms", "prof", "st", "no", "nr", "fig",
    "al", "ca", "bzw", "z.b", "d.h", "usw", "vgl", "abb", "inc", "ltd", "co", "approx", "vol", "pp",
})  # fmt: skip


def sentence_ends(text: str) -> Iterator[int]:
    """Yield the places after each sentence and its white space, without the end of the text."""
    for found in _END.finditer(text):
        if found[0][0] in "。！？":
            place = found.end()
        else:
            place = _after_spaces(text, found.end())
            if _goes_on(text, found.start(), place):
                continue
        if place < len(text):
            yield place


def first_sentence_end(text: str, start: int) -> int:
    """Return the first end of a sentence at or after `start`, or the end of the text."""
    return next((place for place in sentence_ends(text) if place >= start), len(text))


def _after_spaces(text: str, place: int) -> int:
    rest = text[place : place + _LOOK_AHEAD]
    return place + len(rest) - len(rest.lstrip())


def _goes_on(text: str, stop: int, following: int) -> bool:
    """Say whether a full stop belongs to an abbreviation, or a small letter follows."""
    if text[following : following + 1].islower():
        return True
    if text[stop] != ".":
        return False
    words = text[max(0, stop - _WORD_BEFORE) : stop].split()
    word = words[-1].lstrip("([\"'").lower() if words else ""
    return word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha())
