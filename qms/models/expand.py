"""Query expansion: further terms from a language model, or from the best entries of the store."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from qms.memory.ports import ChatModel
from qms.models.chat_answers import ask, clean_terms
from qms.text.stop_words import STOP_WORDS
from qms.text.terms import fold

_PROMPT = Path(__file__).with_name("expand.prompt.md").read_text(encoding="utf-8")
_TAG_WEIGHT = 3
_LEAST_LETTERS = 3


class _Terms(msgspec.Struct):
    terms: list[str]


def expand_by_model(model: ChatModel, query: str, limit: int) -> list[str]:
    """Return a model's expansion terms for a query.

    Raises:
        UnavailableError: the model has no usable answer.
    """
    return _new(query, clean_terms(ask(model, _PROMPT, query, _Terms).terms), limit)


def expand_by_rule(query: str, found: Iterable[tuple[str, Sequence[str]]], limit: int) -> list[str]:
    """Return the tags and title words that the best entries for a query have in common."""
    counts: Counter[str] = Counter()
    for title, tags in found:
        counts.update({fold(tag): _TAG_WEIGHT for tag in tags})
        counts.update(dict.fromkeys(fold(title).split(), 1))
    small = STOP_WORDS["english"]
    likely = [
        term
        for term, count in counts.most_common()
        if count > 1 and len(term) >= _LEAST_LETTERS and term not in small and term.isprintable()
    ]
    return _new(query, likely, limit)


def _new(query: str, terms: Iterable[str], limit: int) -> list[str]:
    known = set(fold(query).split()) | {fold(query)}
    kept = {fold(term): term for term in reversed(list(terms)) if fold(term) not in known}
    return list(kept.values())[::-1][:limit]
