"""Contradiction rules: parses the claim of an entry, and decides whether two claims disagree.

A claim is the first sentence of a fact, a note or a decision. Two claims are compared when they
have the same subject or the same title. They disagree when one negates the other, names another
value or date, or chooses another alternative for the same use. The result is only a potential
contradiction for a person to review, and changes nothing.
"""

import re
from enum import StrEnum

import msgspec

from qms.index.claims.alternatives import CHOOSING, GROUP_OF, spelled
from qms.memory.bodies import Kind, main_text
from qms.memory.entry import Document, Header
from qms.store.titles import title_key
from qms.text.dates import date_terms, is_month
from qms.text.stop_words import STOP_WORDS
from qms.text.terms import ENGLISH, fold, stems

CLAIMING_KINDS = frozenset({Kind.FACT, Kind.NOTE, Kind.DECISION})

MAX_CHARACTERS = 300
"""How much of a sentence is parsed."""

_SHORT_VALUE = 4
"""A value of more words is a description, and two descriptions may both be true."""
_LEAST_SHARED = 0.5
"""Claims that share only a title need this share of common words to negate each other."""

_SENTENCE = re.compile(r"(?<=[.!?])\s|\n|(?<=[。！？])")
_JOINED_NOT = re.compile(r"n['’]t\b|(?<=\bcan)not\b")
_COLON = re.compile(r":(?=\s)")
_TOKEN = re.compile(r"[^\s,;()\[\]{}\"“”«»!?]+")
_AROUND = ".'’`*_"
_NUMBER = re.compile(r"[v$€£#~<>≤≥+-]*\d.*")
_DATE = re.compile(r"(?:19|20)\d\d(?:[-/.]\d{1,2}){0,2}(?:t[\d:.z+-]+)?|\d{1,2}(?:st|nd|rd|th)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_IN_NAMES = 3
"""A number among the first words, up to this one, is part of a name: `test 7 passes`."""
_BEFORE_CHOICE = 4
"""The verb of a choice is among this many first words: `the whole team uses tabs`."""
_CHOOSERS = frozenset(("project", "team", "app", "please", "wir"))
"""Words for the one who chooses; they are not part of the subject."""

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
"""Antonyms: each word negates its value."""
_SMALL = (
    STOP_WORDS["english"]
    | STOP_WORDS["german"]
    | _EQUATIONS
    | {"always", "still", "already", "currently", "only", "just", "any", "anymore", "longer"}
)
"""Words that are part of neither a subject nor a value."""


class Disagreement(StrEnum):
    """Why two entries contradict each other: a relation says so, or a rule found it."""

    STATED = "stated"
    NEGATION = "negation"
    VALUE = "value"
    DATE = "date"


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed sentence."""

    title_key: int
    subject_key: int | None
    """Equal for claims about the same subject; None for a sentence too short to have one."""
    words: frozenset[str]
    value: frozenset[str]
    """The value of the subject, if the sentence has that form."""
    numbers: frozenset[str]
    dates: frozenset[str]
    is_negative: bool
    is_choice: bool = False
    """Whether the value is one of a group of alternatives."""

    @property
    def keys(self) -> tuple[int, ...]:
        """Return the keys by which claims are indexed."""
        return (self.title_key,) if self.subject_key is None else (self.title_key, self.subject_key)


class _Parts(msgspec.Struct, frozen=True):
    about: frozenset[str]
    value: frozenset[str]
    said: list[str]
    """The part of the sentence in which numbers are values, not parts of names."""
    is_choice: bool = False


def claim_of(header: Header, document: Document) -> Claim | None:
    """Return the claim of an entry, or None if its kind makes no claims."""
    if header.kind not in CLAIMING_KINDS:
        return None
    return _claim(header, main_text(header.kind, document["body"]))


def title_choice(header: Header) -> Claim | None:
    """Return the choice in the title of an entry, or None.

    Titles are labels: other differences between two titles are no contradiction.
    """
    found = _claim(header, header.title) if header.kind in CLAIMING_KINDS else None
    return found if found is not None and found.is_choice else None


def _claim(header: Header, said: str) -> Claim:
    text = _SENTENCE.split(said.strip(), maxsplit=1)[0][:MAX_CHARACTERS]
    tokens, is_negative = _without_negation(_tokens(text))
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
        is_choice=parts.is_choice,
    )


def disagreement(one: Claim, other: Claim) -> Disagreement | None:
    """Return why two claims disagree, or None if no rule applies."""
    is_same_subject = one.subject_key is not None and one.subject_key == other.subject_key
    if not is_same_subject and one.title_key != other.title_key:
        return None
    if _differ(one.numbers, other.numbers) or (is_same_subject and _differ(one.value, other.value)):
        # "Not 1" does not contradict "2".
        return None if one.is_negative or other.is_negative else Disagreement.VALUE
    if not (one.dates <= other.dates or other.dates <= one.dates):
        return Disagreement.DATE
    if one.is_negative != other.is_negative and (is_same_subject or _are_near(one, other)):
        return Disagreement.NEGATION
    return None


def _tokens(text: str) -> list[str]:
    folded = _COLON.sub(" :", _JOINED_NOT.sub(" not", fold(text)))
    return [token for found in _TOKEN.findall(folded) if (token := found.strip(_AROUND))]


def _without_negation(tokens: list[str]) -> tuple[list[str], bool]:
    """Return the tokens in positive form, and whether the sentence is negative."""
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
    return _choice(tokens) or _plain(tokens)


def _choice(tokens: list[str]) -> _Parts | None:
    """Parse `use PostgreSQL 15 for orders` as a choice: for orders, of a database, PostgreSQL."""
    verb = next((one for one in tokens[:_BEFORE_CHOICE] if one in CHOOSING), None)
    chosen = [one for one in tokens if one in GROUP_OF]
    if verb is None or len(chosen) != 1:
        return None
    [name] = chosen
    said = tokens[tokens.index(verb) + 1 :]
    around = [one for one in tokens if one not in {verb, name, *_CHOOSERS}]
    about = _content(around) | {f"choice of {GROUP_OF[name]}"}
    return _Parts(about, frozenset((spelled(name),)), said, is_choice=True)


def _plain(tokens: list[str]) -> _Parts:
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
