"""Contradictions by rules: what an entry claims, and whether two claims cannot both be true.

A claim is the first sentence of a fact, a note or a decision. Two claims are compared when they are
about the same subject or stand under the same title; they disagree when one denies what the other
says, or names another value or date. A rule cannot know: what it finds is a potential contradiction
for somebody to look at, and changes nothing.
"""

import re
from enum import StrEnum

import msgspec

from qms.domain.bodies import Kind, main_text
from qms.domain.entry import Document, Header
from qms.index.dates import date_terms, is_month
from qms.index.stop_words import STOP_WORDS
from qms.index.terms import ENGLISH, fold, stems
from qms.store.titles import title_key

CLAIMING_KINDS = frozenset({Kind.FACT, Kind.NOTE, Kind.DECISION})

MAX_CHARACTERS = 300
"""So much of a sentence is looked at."""

_SHORT_VALUE = 4
"""A value of more words is a description, and two descriptions of a thing may both be true."""
_LEAST_SHARED = 0.5
"""Claims that share nothing but a title must share so many of their words to deny each other."""

_SENTENCE = re.compile(r"(?<=[.!?])\s|\n|(?<=[。！？])")
_JOINED_NOT = re.compile(r"n['’]t\b|(?<=\bcan)not\b")
_COLON = re.compile(r":(?=\s)")
_TOKEN = re.compile(r"[^\s,;()\[\]{}\"“”«»!?]+")
_AROUND = ".'’`*_"
_NUMBER = re.compile(r"[v$€£#~<>≤≥+-]*\d.*")
_DATE = re.compile(r"(?:19|20)\d\d(?:[-/.]\d{1,2}){0,2}(?:t[\d:.z+-]+)?|\d{1,2}(?:st|nd|rd|th)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_IN_NAMES = 3
"""A number among so many first words is part of a name: `test 7 passes`."""

_EQUATIONS = frozenset(("is", "are", "was", "were", "be", "equals", "=", ":")) | {
    *("ist", "sind", "war", "waren", "est", "sont", "es", "son")
}
"""Words between a subject and its value."""
_NEGATIONS = frozenset(("not", "no", "never", "without", "none", "nothing", "neither", "nor")) | {
    *("nicht", "kein", "keine", "keinen", "nie", "niemals", "ohne"),
    *("pas", "jamais", "sans", "nunca", "sin", "mai", "senza", "nao"),
}
_OPPOSITES = {
    "disabled": "enabled",
    "false": "true",
    "off": "on",
    "inactive": "active",
    "invalid": "valid",
    "unsupported": "supported",
    "unavailable": "available",
    "forbidden": "allowed",
    "disallowed": "allowed",
    "optional": "required",
    "closed": "open",
    "stopped": "running",
    "unsafe": "safe",
    "impossible": "possible",
}
"""Words that deny another one."""
_SMALL = (
    STOP_WORDS["english"]
    | STOP_WORDS["german"]
    | _EQUATIONS
    | {"always", "still", "already", "currently", "only", "just", "any", "anymore", "longer"}
)
"""Words that say nothing about a subject or its value."""


class Disagreement(StrEnum):
    """Why two entries cannot both be true: a relation states it, or a rule suspects it."""

    STATED = "stated"
    NEGATION = "negation"
    VALUE = "value"
    DATE = "date"


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What one sentence says, taken apart."""

    title_key: int
    subject_key: int | None
    """Equal for claims about the same subject; None for a sentence too short to have one."""
    words: frozenset[str]
    value: frozenset[str]
    """What the subject is said to be, where the sentence has that form."""
    numbers: frozenset[str]
    dates: frozenset[str]
    is_negative: bool

    @property
    def keys(self) -> tuple[int, ...]:
        """Return by what claims find one another."""
        return (self.title_key,) if self.subject_key is None else (self.title_key, self.subject_key)


class _Parts(msgspec.Struct, frozen=True):
    about: frozenset[str]
    value: frozenset[str]
    said: list[str]
    """The part of the sentence in which numbers are values, and not names."""


def claim_of(header: Header, document: Document) -> Claim | None:
    """Return what an entry claims, or None for one that claims nothing."""
    if header.kind not in CLAIMING_KINDS:
        return None
    text = _SENTENCE.split(main_text(header.kind, document["body"]).strip(), maxsplit=1)[0]
    text = text[:MAX_CHARACTERS]
    tokens, is_negative = _without_denial(_tokens(text))
    is_dated = _YEAR.search(text) is not None or any(map(is_month, tokens))
    dates = frozenset(date_terms(text) if is_dated else ())
    parts = _parts(tokens)
    numbers = (one for one in parts.said if _is_number(one))
    return Claim(
        title_key=title_key(header.kind, header.namespace, header.title),
        subject_key=hash((header.namespace, parts.about)) if parts.about else None,
        words=parts.about | parts.value or _content(tokens),
        value=parts.value,
        numbers=frozenset(one for one in numbers if not (dates and _DATE.fullmatch(one))),
        dates=dates,
        is_negative=is_negative,
    )


def disagreement(one: Claim, other: Claim) -> Disagreement | None:
    """Return why two claims cannot both be true, or None when a rule sees no reason."""
    is_same_subject = one.subject_key is not None and one.subject_key == other.subject_key
    if not is_same_subject and one.title_key != other.title_key:
        return None
    if _differ(one.numbers, other.numbers) or (is_same_subject and _differ(one.value, other.value)):
        # What is not 1 may well be 2.
        return None if one.is_negative or other.is_negative else Disagreement.VALUE
    if not (one.dates <= other.dates or other.dates <= one.dates):
        return Disagreement.DATE
    if one.is_negative != other.is_negative and (is_same_subject or _are_near(one, other)):
        return Disagreement.NEGATION
    return None


def _tokens(text: str) -> list[str]:
    folded = _COLON.sub(" :", _JOINED_NOT.sub(" not", fold(text)))
    return [token for found in _TOKEN.findall(folded) if (token := found.strip(_AROUND))]


def _without_denial(tokens: list[str]) -> tuple[list[str], bool]:
    """Return what is said or denied, and whether it is denied."""
    kept = [_OPPOSITES.get(token, token) for token in tokens if token not in _NEGATIONS]
    turns = sum(token in _OPPOSITES for token in tokens)
    return kept, (len(kept) < len(tokens)) != (turns % 2 == 1)


def _parts(tokens: list[str]) -> _Parts:
    for place, token in enumerate(tokens):
        if token in _EQUATIONS:
            about, said = _content(tokens[:place], with_numbers=True), tokens[place + 1 :]
            value = _content(said)
            if about and len(value) <= _SHORT_VALUE:
                return _Parts(about, value, said)
            break
    names = [one for one in tokens[1:_IN_NAMES] if _is_number(one)]
    words = _content(tokens)
    about = words | frozenset(names) if len(words) > 1 else frozenset()
    return _Parts(about, frozenset(), [one for one in tokens if one not in names])


def _content(tokens: list[str], *, with_numbers: bool = False) -> frozenset[str]:
    kept = [one for one in tokens if one not in _SMALL and (with_numbers or not _is_number(one))]
    return frozenset(stems(kept, ENGLISH))


def _is_number(token: str) -> bool:
    return not token.isalpha() and _NUMBER.fullmatch(token) is not None


def _differ(some: frozenset[str], others: frozenset[str]) -> bool:
    return bool(some) and bool(others) and some.isdisjoint(others)


def _are_near(one: Claim, other: Claim) -> bool:
    smaller = min(len(one.words), len(other.words))
    return smaller > 0 and len(one.words & other.words) >= _LEAST_SHARED * smaller
