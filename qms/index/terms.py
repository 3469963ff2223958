"""From text to terms: words, stems, identifiers; the same for entries and for queries.

Words are Unicode letters and digits, case-folded, Latin letters without their accents; a run of
Chinese, Japanese or Korean characters becomes overlapping pairs. Stems are of the language that
the text is in, so that no text is cut by the rules of another language.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from qms.index.stop_words import STOP_WORDS

if TYPE_CHECKING:
    from tantivy import TextAnalyzer

ENGLISH = "english"
NO_LANGUAGE = ""

_WORD = re.compile(r"[^\W_]+")
_WIDE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]+"
)
_IDENTIFIER = re.compile(r"[^\W_][\w./\\:#@$+-]*[\w]|[^\W_]")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_A-Za-z]+")
_LETTER_SAMPLE = 400
_MAX_WORD_CHARACTERS = 64
_MAX_IDENTIFIER_CHARACTERS = 256


def fold(text: str) -> str:
    """Return text in one case, Latin letters without accents."""
    if text.isascii():
        return text.lower()
    split = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize(
        "NFC", "".join(c for c in split if not unicodedata.combining(c) or not c < "\u0370")
    )


def words(text: str) -> list[str]:
    """Return the folded words of a text, in order."""
    folded = fold(text)
    if folded.isascii() or not _WIDE.search(folded):
        return [word[:_MAX_WORD_CHARACTERS] for word in _WORD.findall(folded)]
    found: list[str] = []
    for word in _WORD.findall(_WIDE.sub(lambda run: f" {' '.join(_pairs(run.group()))} ", folded)):
        found.append(word[:_MAX_WORD_CHARACTERS])
    return found


def _pairs(run: str) -> Iterable[str]:
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]


def language_of(found: list[str]) -> str:
    """Return the language that words are most likely in: the one whose small words they use.

    Without any, words in Latin letters count as English and others as no language in particular.
    """
    sample = found[:_LETTER_SAMPLE]
    best, most = NO_LANGUAGE, 0
    for language, small_words in STOP_WORDS.items():
        hits = sum(word in small_words for word in sample)
        if hits > most:
            best, most = language, hits
    if most:
        return best
    latin = sum(word.isascii() for word in sample)
    return ENGLISH if latin * 2 >= len(sample) else NO_LANGUAGE


def stems(found: list[str], language: str) -> list[str]:
    """Return the stem of each word by the rules of a language."""
    if not found or language == NO_LANGUAGE:
        return found
    cut: list[str] = _stemmer(language).analyze(" ".join(found))
    return cut


@lru_cache
def _stemmer(language: str) -> "TextAnalyzer":
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    builder = TextAnalyzerBuilder(Tokenizer.whitespace())
    return builder.filter(Filter.stemmer(language.capitalize())).build()


def identifiers(text: str) -> list[str]:
    """Return what looks like the name of something in a program, whole and in its parts.

    `getUserName` gives itself, get, user and name; `docs/spec.md` gives itself, docs, spec and md.
    Plain words are left out: they are words.
    """
    found: dict[str, None] = {}
    for match in _IDENTIFIER.finditer(text):
        name = match.group()
        parts = _PARTS.findall(name)
        if len(parts) < 2 or len(name) > _MAX_IDENTIFIER_CHARACTERS:
            continue
        found[name.lower()] = None
        if "." in name or "/" in name or ":" in name or "\\" in name:
            for piece in re.split(r"[./\\:]", name):
                if len(_PARTS.findall(piece)) > 1:
                    found[piece.lower()] = None
        for part in parts:
            found[fold(part)] = None
    return list(found)
