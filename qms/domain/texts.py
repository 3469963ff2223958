"""Every text of a document and where it stands, for whoever judges or changes texts."""

from collections.abc import Callable, Iterator
from typing import Any

from qms.domain.entry import Document

_NO_TEXT = frozenset({"schemaVersion", "id", "project", "kind", "timestamps", "embedding"})
"""Fields that have a form of their own."""


def texts_of(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the path and the content of every text."""
    for field, value in document.items():
        if field not in _NO_TEXT:
            yield from _texts(field, value)


def with_texts(document: Document, change: Callable[[str], str]) -> Document:
    """Return the document with every text changed."""
    return {
        field: value if field in _NO_TEXT else _changed(value, change)
        for field, value in document.items()
    }


def _texts(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(f"{path}.{key}", item)
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
