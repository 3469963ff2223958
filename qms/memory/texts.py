"""Yields every text of a document with its path, and replaces texts."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

from qms.memory.entry import Document

NO_TEXT = frozenset({"schemaVersion", "id", "project", "kind", "timestamps", "embedding"})
"""Fields that hold no free text."""


_MOST_MARKS = 64
_MANY_SIGNS = re.compile(rf"(?<![^\w\s])[^\w\s]{{{_MOST_MARKS + 1},}}+")
SHOWN_KEY = 128
"""At most this many characters of a key are in a path: every text below the key repeats them."""


def texts_of(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the path and the content of every text."""
    for field, value in document.items():
        if field not in NO_TEXT:
            yield from _texts(field, value)


def with_texts(document: Document, change: Callable[[str], str]) -> Document:
    """Return the document with every text changed."""
    return {
        field: value if field in NO_TEXT else _changed(value, change)
        for field, value in document.items()
    }


def with_few_marks(text: str) -> str:
    """Return a text with its long runs of combining marks cut, ready to be normalised.

    `unicodedata.normalize` sorts marks in quadratic time: 64 KiB of them took three seconds.
    """
    return _MANY_SIGNS.sub(_cut_marks, text)


def _cut_marks(signs: re.Match[str]) -> str:
    has_marks = any(map(unicodedata.combining, signs[0]))
    return signs[0][:_MOST_MARKS] if has_marks else signs[0]


def without_parts(text: str, opening: str, closing: str) -> str:
    """Return a text without the parts between two markers, and without the markers.

    A part that is never closed stays.
    """
    kept = []
    place = 0
    while (start := text.find(opening, place)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        kept.append(text[place:start])
        place = end + len(closing)
    return "".join(kept) + text[place:]


def _texts(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(f"{path}.{key[:SHOWN_KEY]}", item)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _texts(f"{path}[{position}]", item)


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _changed(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_changed(item, change) for item in value]
    return value
