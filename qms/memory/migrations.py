"""Migrates entries of older schema versions, one step per version.

Version 0 is the draft format: a body given as plain text, and `createdUtc` and `updatedUtc` at the
top of the entry instead of in `timestamps`.
"""

from collections.abc import Callable

from qms.memory.bodies import Kind, body_from_text
from qms.memory.entry import SCHEMA_VERSION, Document


def is_older(document: Document) -> bool:
    """Say whether the document is of a version that `migrate` brings up to date."""
    version = document.get("schemaVersion")
    return type(version) is int and 0 <= version < SCHEMA_VERSION


def is_newer(document: Document) -> bool:
    """Say whether the document is of a version that this server does not know."""
    version = document.get("schemaVersion")
    return type(version) is int and version > SCHEMA_VERSION


def migrate(document: Document) -> Document:
    """Return the document in the schema version that this server writes."""
    while is_older(document):
        document = _STEPS[document["schemaVersion"]](document)
    return document


def _from_0(document: Document) -> Document:
    result = {**document, "schemaVersion": 1}
    given = result.get("timestamps") or {}
    times = {key: result.pop(key) for key in ("createdUtc", "updatedUtc") if key in result}
    if times and isinstance(given, dict):
        result["timestamps"] = {**times, **given}
    kind, body = result.get("kind"), result.get("body")
    if isinstance(body, str) and isinstance(kind, str) and kind in frozenset(Kind):
        result["body"] = body_from_text(Kind(kind), body)
    return result


_STEPS: tuple[Callable[[Document], Document], ...] = (_from_0,)
