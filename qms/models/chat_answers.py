"""Asks a language model for JSON of one type, and rejects any other answer."""

from typing import TypeVar

import msgspec

from qms.memory.errors import UnavailableError
from qms.memory.ports import ChatModel
from qms.memory.texts import without_parts

T = TypeVar("T")

MAX_TERM_CHARACTERS = 60

_FENCE = "```"
_LANGUAGE = "json"


def ask(model: ChatModel, instructions: str, text: str, wanted: type[T]) -> T:
    """Return the answer of a model, decoded strictly as JSON of a type.

    Raises:
        UnavailableError: there is no answer, or it is not of this type.
    """
    answer = _unfenced(without_parts(model.complete(instructions, text), "<think>", "</think>"))
    try:
        return msgspec.json.decode(answer.strip(), type=wanted)
    except (ValueError, RecursionError):
        raise UnavailableError("the language model did not answer in the requested form") from None


def _unfenced(answer: str) -> str:
    """Return the content of the first fenced block of an answer, or all of it."""
    _, _, after = answer.partition(_FENCE)
    inside, closing, _ = after.partition(_FENCE)
    if not closing:
        return answer
    is_named = inside[: len(_LANGUAGE)].lower() == _LANGUAGE
    return inside[len(_LANGUAGE) :] if is_named else inside


def is_plain(text: str) -> bool:
    """Say whether a text has only printable characters, line breaks and tabs."""
    return all(character.isprintable() or character in "\n\t" for character in text)


def clean_terms(terms: list[str]) -> list[str]:
    """Return the terms that are short, printable and without a comma."""
    spaced = (" ".join(term.split()) for term in terms)
    return [
        term
        for term in spaced
        if 0 < len(term) <= MAX_TERM_CHARACTERS and term.isprintable() and "," not in term
    ]
