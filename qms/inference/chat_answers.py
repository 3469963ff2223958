"""Asking a language model for a value of one type, and taking nothing else for an answer."""

import re
from typing import TypeVar

import msgspec

from qms.domain.errors import UnavailableError
from qms.domain.ports import ChatModel

T = TypeVar("T")

MAX_TERM_CHARACTERS = 60

_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)


def ask(model: ChatModel, instructions: str, text: str, wanted: type[T]) -> T:
    """Return what a model answers, read strictly as JSON of a type.

    Raises:
        UnavailableError: there is no answer, or it is not of this type.
    """
    answer = _THOUGHT.sub("", model.complete(instructions, text))
    fenced = _FENCE.search(answer)
    try:
        return msgspec.json.decode((fenced[1] if fenced else answer).strip(), type=wanted)
    except (ValueError, RecursionError):
        raise UnavailableError("the language model does not answer in the form asked for") from None


def is_plain(text: str) -> bool:
    """Say whether a text has only characters that people see, and spaces between them."""
    return all(character.isprintable() or character in "\n\t" for character in text)


def clean_terms(terms: list[str]) -> list[str]:
    """Return the proposals that are short words, and nothing that hides or runs on."""
    spaced = (" ".join(term.split()) for term in terms)
    return [
        term
        for term in spaced
        if 0 < len(term) <= MAX_TERM_CHARACTERS and term.isprintable() and "," not in term
    ]
