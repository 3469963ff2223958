"""Splits text into folded words, detects its language and stems the words.

Entries and queries use the same rules. Words are Unicode letters, digits and their marks,
case-folded, Latin and Greek without accents. A run of a script without spaces becomes overlapping
pairs of characters. Words are stemmed by the rules of the text's own language.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from qms.memory.texts import with_few_marks
from qms.text.stop_words import STOP_WORDS

if TYPE_CHECKING:
    from tantivy import TextAnalyzer

ENGLISH = "english"
NO_LANGUAGE = ""

_WIDE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
)
# Vowel signs of Indic scripts are not letters to `re`, yet a word does not end at one.
_LETTER = r"[^\W_]|[\u0300-\u036f\u0483-\u0487\u0900-\u0963\u0966-\u0dff]"
_WORD = re.compile(f"(?:{_LETTER})++")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_WIDE_RUN = re.compile(f"[{_WIDE}]+")
_WIDE_OR_WORD = re.compile(f"[{_WIDE}]+|(?:(?![{_WIDE}])(?:{_LETTER}))++")
# Accents of Latin and Greek, the dots of ё, the vowel points of Hebrew and Arabic.
_ACCENTS = re.compile(
    "(?<=[\u0000-\u02ff\u0370-\u03ff])[\u0300-\u036f]+|(?<=е)\u0308"
    "|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]+"
)
MAX_WORD_CHARACTERS = 64

_LANGUAGE_SAMPLE = 120
_LEAST_EVIDENCE = 1.0
_LEAST_EVIDENCE_A_WORD = 0.05
_CLEARLY_ENGLISH = 0.3
_STEMMED_BY_TANTIVY = frozenset(STOP_WORDS) - {"polish"} | {"arabic", "tamil"}
_CUT_AFTER = {"polish": 5}
_SCRIPT_LANGUAGES = (
    (re.compile("[\u0400-\u04ff]"), "russian"),
    (re.compile("[\u0370-\u03ff]"), "greek"),
    (re.compile("[\u0600-\u06ff]"), "arabic"),
    (re.compile("[\u0b80-\u0bff]"), "tamil"),
)
_CACHED_STEMS = 8192
"""Per language: nearly all words of a text are among the few thousand most frequent ones."""


def fold(text: str) -> str:
    """Return text in lower case, without accents and other optional marks."""
    if text.isascii():
        return text.lower()
    split = unicodedata.normalize("NFKD", with_few_marks(text).casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", split))


def words(text: str) -> list[str]:
    """Return the folded words of a text in order, scripts without spaces as overlapping pairs."""
    return _split(fold(text), 2)


def plain_words(text: str) -> list[str]:
    """Return the folded words of a text in order, scripts without spaces as single characters."""
    return _split(fold(text), 1)


def is_wide(word: str) -> bool:
    """Say whether a word is of a script that is written without spaces."""
    return not word.isascii() and _WIDE_RUN.match(word) is not None


def _split(folded: str, width: int) -> list[str]:
    if folded.isascii():
        return _shorten(_ASCII_WORD.findall(folded))
    if not _WIDE_RUN.search(folded):
        return _shorten(_WORD.findall(folded))
    found: list[str] = []
    for piece in _WIDE_OR_WORD.findall(folded):
        if not is_wide(piece) or len(piece) <= width:
            found.append(piece)
        else:
            found.extend(piece[at : at + width] for at in range(len(piece) - width + 1))
    return _shorten(found)


def _shorten(found: list[str]) -> list[str]:
    if max(map(len, found), default=0) <= MAX_WORD_CHARACTERS:
        return found
    return [word[:MAX_WORD_CHARACTERS] for word in found]


def _weigh_stop_words() -> dict[str, tuple[tuple[str, float], ...]]:
    # A stop word is evidence for each language that has it, divided by the number of languages.
    # Single Latin letters are left out: code and lists are full of them.
    languages_of: defaultdict[str, list[str]] = defaultdict(list)
    for language, stop_words in STOP_WORDS.items():
        for word in stop_words:
            if len(word) > 1 or not word.isascii():
                languages_of[word].append(language)
    return {
        word: tuple((language, 1 / len(languages)) for language in languages)
        for word, languages in languages_of.items()
    }


_EVIDENCE = _weigh_stop_words()
_ENGLISH_WORDS = STOP_WORDS[ENGLISH]


def language_of(found: list[str]) -> str:
    """Return the language whose stop words are most frequent among these words.

    Without clear evidence it is English for Latin letters, else the main language of the script.
    A wrong guess costs little: a query is stemmed by every language that its store holds.
    """
    sample = found[:_LANGUAGE_SAMPLE]
    if not sample:
        return NO_LANGUAGE
    if sum(map(_ENGLISH_WORDS.__contains__, sample)) > _CLEARLY_ENGLISH * len(sample):
        return ENGLISH
    evidence: dict[str, list[float]] = {ENGLISH: []}
    for word in set(sample):
        for language, weight in _EVIDENCE.get(word, ()):
            evidence.setdefault(language, []).append(weight)
    best = max(evidence, key=lambda language: sum(evidence[language]))
    least = max(_LEAST_EVIDENCE, _LEAST_EVIDENCE_A_WORD * len(sample))
    if best != ENGLISH and len(evidence[best]) > 1 and sum(evidence[best]) >= least:
        return best
    return _language_of_script(sample)


def _language_of_script(sample: list[str]) -> str:
    half = len(sample) / 2
    if sum(map(str.isascii, sample)) >= half:
        return ENGLISH
    for letters, language in _SCRIPT_LANGUAGES:
        if sum(letters.match(word) is not None for word in sample) >= half:
            return language
    return NO_LANGUAGE


def small_words(found: list[str]) -> frozenset[str]:
    """Return the stop words of the language of these words, or the English ones if unknown."""
    return STOP_WORDS.get(language_of(found), STOP_WORDS[ENGLISH])


def stems(found: list[str], language: str) -> list[str]:
    """Return the stem of each word by the rules of a language."""
    if not found or language == NO_LANGUAGE:
        return found
    return list(map(_stemming(language), found))


@lru_cache
def _stemming(language: str) -> Callable[[str], str]:
    """Return a cached function that stems a word: words repeat often."""
    cut_after = _CUT_AFTER.get(language)
    analyzer = _stemmer(language) if cut_after is None else None

    @lru_cache(maxsize=_CACHED_STEMS)
    def stem(word: str) -> str:
        found = word[:cut_after] if analyzer is None else "".join(analyzer.analyze(word))
        return found if found and found != word else word

    return stem


def _stemmer(language: str) -> "TextAnalyzer":
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    assert language in _STEMMED_BY_TANTIVY, language
    builder = TextAnalyzerBuilder(Tokenizer.whitespace())
    return builder.filter(Filter.stemmer(language.capitalize())).build()
