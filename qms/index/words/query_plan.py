"""The keyword query plan: turns a search text into weighted clauses over fields.

A text is never parsed as a query language: parentheses, `NOT`, `*` and `field:` have no meaning.
Only quotation marks do. Files and overlay evaluate the same plan.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec

from qms.index.words.fields import (
    EXACT,
    KEYWORDS,
    NAMES,
    PARTS,
    STEM,
    TAGS,
    TITLE,
    WHEN,
    part_stem,
    word_stems,
)
from qms.text.dates import date_terms
from qms.text.names import is_path, names_and_humps, own_name
from qms.text.terms import is_wide, plain_words, small_words, words

MAX_QUERY_CHARACTERS = 4096
MAX_QUERY_WORDS = 64
MAX_QUERY_NAMES = 16
MAX_PHRASES = 8
MAX_DATES = 12
MAX_PHRASE_WORDS = 32
MAX_ADDED = 32

_OWN_NAME_WEIGHT = 100.0

_QUOTED = re.compile(r'"([^"]+)"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»')
_ID = re.compile(r"(?<!\.)(?:[A-Za-z0-9_-]++:)?(?:\.*+[A-Za-z0-9_~-]++)+")
_ID_MARKS = re.compile(r"[0-9:._~-]")


class KeywordWeights(msgspec.Struct, frozen=True, kw_only=True):
    """The weight of each clause of a plan; the first five are measured, the others set by them."""

    stem: float = 1.0
    exact: float = 0.2
    title: float = 1.5
    small_word: float = 0.3
    pair: float = 0.3
    pair_slop: int = 2
    tags: float = 1.5
    keywords: float = 1.5
    name: float = 2.0
    part: float = 0.5
    phrase: float = 1.0
    when: float = 1.5
    added: float = 0.3


DEFAULT_WEIGHTS = KeywordWeights()


class KeywordQuery(msgspec.Struct, frozen=True, kw_only=True):
    """An analysed search text; words are folded and distinct."""

    content: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    phrases: tuple[str, ...] = ()
    """An entry has to contain one of them, or all of them with `match_all`."""
    says_more: bool = False
    """Whether there are content words outside of the phrases."""
    names: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    """Expansion words: they add candidates, with a low weight."""
    match_all: bool = False

    @property
    def is_empty(self) -> bool:
        """Say whether it can match nothing."""
        return not (self.content or self.names)

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the names that are paths: entries that contain one are ranked first."""
        return tuple(name for name in self.names if is_path(name))


class Clause(msgspec.Struct, frozen=True):
    """A term or a phrase in a field; its score is `weight` times BM25."""

    field: str
    terms: tuple[str, ...]
    weight: float = 1.0
    slop: int = 0


class Plan(msgspec.Struct, frozen=True):
    """The scored clauses (their sum counts) and the required groups (one clause of each)."""

    scored: tuple[Clause, ...]
    required: tuple[tuple[Clause, ...], ...] = ()


def analyse(
    text: str, *, match_all: bool = False, max_words: int = MAX_QUERY_WORDS
) -> KeywordQuery:
    """Analyse a search text; what exceeds the limits is left out."""
    text = text[:MAX_QUERY_CHARACTERS]
    sequence = words(text)[: 2 * max_words]
    small = small_words(sequence)
    content = [word for word in sequence if word not in small] or sequence
    distinct = tuple(dict.fromkeys(content))[:max_words]
    kept = frozenset(distinct)
    names, humps = names_and_humps(text)
    return KeywordQuery(
        content=distinct,
        small=tuple(dict.fromkeys(word for word in sequence if word in small and word not in kept)),
        pairs=tuple(dict.fromkeys(pair for pair in pairwise(content) if pair[0] != pair[1]))[
            :max_words
        ],
        phrases=tuple(_quoted(text))[:MAX_PHRASES],
        says_more=any(word not in small for word in words(_QUOTED.sub(" ", text))),
        names=tuple(names)[:MAX_QUERY_NAMES],
        parts=tuple(hump for hump in humps if hump not in kept)[:max_words],
        ids=tuple(dict.fromkeys(_possible_ids(text)))[:MAX_QUERY_NAMES],
        dates=date_terms(text)[:MAX_DATES],
        match_all=match_all,
    )


def with_added(query: KeywordQuery, terms: Iterable[str]) -> KeywordQuery:
    """Return a query with the new words of expansion terms."""
    sequence = [word for term in terms for word in words(term)]
    known = {*query.content, *query.small, *small_words(sequence)}
    fresh = dict.fromkeys(word for word in sequence if word not in known)
    return msgspec.structs.replace(query, added=tuple(fresh)[:MAX_ADDED])


def _possible_ids(text: str) -> Iterator[str]:
    # A plain word may be an id too, but only if the text has nothing else.
    if _ID.fullmatch(text.strip()):
        yield text.strip()
    for found in _ID.findall(text):
        if _ID_MARKS.search(found):
            yield found


def _quoted(text: str) -> Iterator[str]:
    for found in _QUOTED.finditer(text):
        phrase = next(filter(None, found.groups()))
        if words(phrase):
            yield phrase


def make_plan(
    query: KeywordQuery, languages: tuple[str, ...], weights: KeywordWeights = DEFAULT_WEIGHTS
) -> Plan:
    """Return the clauses of a query for a store with entries in these languages."""
    scored = [
        *(clause for word in query.content for clause in _word_clauses(word, languages, weights)),
        *(
            Clause(STEM, (stem,), weights.small_word)
            for word in query.small
            for stem in word_stems(word, languages)
        ),
        *(clause for pair in query.pairs for clause in _pair_clauses(pair, languages, weights)),
        *(Clause(NAMES, (name,), weights.name) for name in query.names),
        *(clause for part in query.parts for clause in _part_clauses(part, languages, weights)),
        *(Clause(WHEN, (term,), weights.when) for term in query.dates),
        *(clause for word in query.added for clause in _added_clauses(word, languages, weights)),
    ]
    phrases = [_phrase_clauses(phrase, languages, weights) for phrase in query.phrases]
    scored.extend(clause for group in phrases for clause in group if len(clause.terms) > 1)
    if query.match_all:
        every = [_word_clauses(word, languages, weights) for word in query.content]
        return Plan(tuple(scored), (*phrases, *every))
    any_phrase = tuple(clause for group in phrases for clause in group)
    return Plan(tuple(scored), (any_phrase,) if any_phrase else ())


def name_plan(query: KeywordQuery) -> Plan:
    """Return the plan that finds entries by the ids and paths in a query."""
    return Plan(
        (
            *(Clause(NAMES, (own_name(found),), _OWN_NAME_WEIGHT) for found in query.ids),
            *(Clause(NAMES, (path,)) for path in query.paths),
        )
    )


def _word_clauses(
    word: str, languages: tuple[str, ...], weights: KeywordWeights
) -> tuple[Clause, ...]:
    if is_wide(word):
        return _wide_clauses(word, weights)
    found = word_stems(word, languages)
    return (
        *(Clause(STEM, (stem,), weights.stem) for stem in found),
        Clause(EXACT, (word,), weights.exact),
        *(Clause(TITLE, (stem,), weights.title) for stem in found),
        *(Clause(TAGS, (stem,), weights.tags) for stem in found),
        *(Clause(KEYWORDS, (stem,), weights.keywords) for stem in found),
        Clause(PARTS, (part_stem(word),), weights.part),
    )


def _wide_clauses(word: str, weights: KeywordWeights) -> tuple[Clause, ...]:
    # Text without spaces is indexed as pairs and as single characters; neither has stems. A single
    # character may be inside any pair; only the field `exact` has single characters.
    text = Clause(STEM, (word,), weights.stem)
    if len(word) == 1:
        text = Clause(EXACT, (word,), weights.stem)
    return (
        text,
        Clause(TITLE, (word,), weights.title),
        Clause(TAGS, (word,), weights.tags),
        Clause(KEYWORDS, (word,), weights.keywords),
    )


def _pair_clauses(
    pair: tuple[str, str], languages: tuple[str, ...], weights: KeywordWeights
) -> Iterator[Clause]:
    stemmed = {
        (word_stems(pair[0], (language,))[0], word_stems(pair[1], (language,))[0]): None
        for language in languages
    }
    for terms in stemmed:
        yield Clause(STEM, terms, weights.pair, weights.pair_slop)


def _part_clauses(
    part: str, languages: tuple[str, ...], weights: KeywordWeights
) -> Iterator[Clause]:
    yield Clause(PARTS, (part_stem(part),), weights.part)
    for stem in word_stems(part, languages):
        yield Clause(STEM, (stem,), weights.part)


def _added_clauses(
    word: str, languages: tuple[str, ...], weights: KeywordWeights
) -> Iterator[Clause]:
    for stem in word_stems(word, languages):
        for field in (STEM, TITLE, TAGS):
            yield Clause(field, (stem,), weights.added)


def _phrase_clauses(
    phrase: str, languages: tuple[str, ...], weights: KeywordWeights
) -> tuple[Clause, ...]:
    plain = tuple(plain_words(phrase)[:MAX_PHRASE_WORDS])
    names = names_and_humps(phrase)[0][:1] if len(phrase.split()) == 1 else []
    paired = words(phrase)[:MAX_PHRASE_WORDS]
    stemmed = {
        tuple(word_stems(word, (language,))[0] for word in paired): None for language in languages
    }
    return (
        Clause(EXACT, plain, weights.phrase),
        *(
            Clause(field, terms, weights.phrase)
            for field in (TITLE, TAGS, KEYWORDS)
            for terms in stemmed
        ),
        *(Clause(NAMES, (name,), weights.phrase) for name in names),
    )
