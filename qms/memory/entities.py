"""Entities addressed by name, as in the MCP memory server: stable ids, relations of any type."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from qms.memory.bodies import Kind
from qms.memory.entry import Document
from qms.memory.ids import derived_local_id
from qms.memory.relations import RELATION_TYPE

PLACEHOLDER = "placeholder"
"""The metadata key of an entity that relations name and that was not created yet."""

RELATION_TEXT = "relationType"
"""The metadata key of the original type, where that is not a valid relation type."""

_NOT_ALPHANUMERIC = re.compile(r"[^A-Za-z0-9]+")
_TYPE_CHARACTERS = 48
_DIGEST_CHARACTERS = 12


def entity_local_id(name: str) -> str:
    """Return the local id of the entity of this name; the same in every project."""
    return derived_local_id(hashlib.sha256(b"entity\0" + name.encode()).digest())


def entity_document(name: str, entity_type: str, observations: list[str]) -> Document:
    """Return an entity as a request would give it, without an id."""
    body = {"entityType": entity_type, "observations": observations}
    return {"kind": Kind.ENTITY.value, "title": name, "body": body}


def placeholder_document(name: str) -> Document:
    """Return the placeholder of an entity that was not created yet."""
    return {
        "kind": Kind.ENTITY.value,
        "title": name,
        "body": {"observations": []},
        "metadata": {PLACEHOLDER: True},
    }


def is_placeholder(document: Document) -> bool:
    """Say whether an entity is a placeholder: named by relations and not created yet."""
    return (document.get("metadata") or {}).get(PLACEHOLDER) is True


def relation_document(target_id: str, text: str) -> dict[str, Any]:
    """Return a relation of any type; an invalid type is kept in the metadata of a valid one."""
    if RELATION_TYPE.fullmatch(text):
        return {"type": text, "targetId": target_id}
    return {"type": _short_form(text), "targetId": target_id, "metadata": {RELATION_TEXT: text}}


def relation_text(type_: str, metadata: Mapping[str, Any] | None) -> str:
    """Return the type of a relation as it was given."""
    text = (metadata or {}).get(RELATION_TEXT)
    is_kept = isinstance(text, str) and _short_form(text) == type_
    return text if isinstance(text, str) and is_kept else type_


def _short_form(text: str) -> str:
    """Return a valid type for a text: readable if possible, and unique by its digest."""
    words = _NOT_ALPHANUMERIC.sub("_", text).strip("_")[:_TYPE_CHARACTERS]
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARACTERS]
    return f"{words}-{digest}" if words[:1].isalpha() else f"relation-{digest}"
