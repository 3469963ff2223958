"""Proposes tags for an entry: by a language model, or by a rule from the words of its text."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec

from qms.memory.ports import ChatModel
from qms.models.chat_answers import ask, clean_terms
from qms.text.stop_words import STOP_WORDS
from qms.text.terms import fold

_PROMPT = Path(__file__).with_name("tags.prompt.md").read_text(encoding="utf-8")
_PARTS = re.compile(r"[-_\s]")
_WORD = re.compile(r"[^\W\d_][\w+#.-]*[\w+#]")
_KNOWN_WEIGHT = 4
_TITLE_WEIGHT = 2
_LEAST_WEIGHT = 2
_LEAST_LETTERS = 3
_SMALL = STOP_WORDS["english"] | STOP_WORDS["german"]


class _Tags(msgspec.Struct):
    tags: list[str]


def tags_by_model(model: ChatModel, title: str, text: str, limit: int) -> list[str]:
    """Return the tags that a model proposes for a text.

    Raises:
        UnavailableError: the model has no usable answer.
    """
    proposed = clean_terms(ask(model, _PROMPT, f"{title}\n\n{text}", _Tags).tags)
    return list(dict.fromkeys(fold(tag).replace(" ", "-") for tag in proposed))[:limit]


def tags_by_rule(title: str, text: str, known: Mapping[str, int], limit: int) -> list[str]:
    """Return words of a text as tags; existing tags of the project are preferred."""
    weights: Counter[str] = Counter(_WORD.findall(fold(text)))
    for word in set(_WORD.findall(fold(title))):
        weights[word] += _TITLE_WEIGHT
    for tag in known:
        if all(word in weights for word in _PARTS.split(fold(tag))):
            weights[tag] += _KNOWN_WEIGHT + known[tag].bit_length()
    likely = (
        word
        for word, weight in weights.most_common()
        if weight >= _LEAST_WEIGHT and (word in known or len(word) >= _LEAST_LETTERS)
    )
    return [word for word in likely if word not in _SMALL][:limit]
