"""Entities by name, as the MCP memory server knows them: stable ids, and relations of any type."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from qms.domain.bodies import Kind
from qms.domain.entry import Document
from qms.domain.ids import derived_local_id
from qms.domain.relations import RELATION_TYPE

PLACEHOLDER = "placeholder"
"""The key in the metadata of an entity that nobody made yet, though relations name it."""

RELATION_TEXT = "relationType"
"""The key in the metadata of a relation whose type is not one that an entry can carry."""

_TYPE_CHARACTERS = 48
_DIGEST_CHARACTERS = 12


def entity_local_id(name: str) -> str:
    """Return the local id that an entity of this name gets, wherever it is made."""
    return derived_local_id(hashlib.sha256(b"entity\0" + name.encode()).digest())


def entity_document(name: str, entity_type: str, observations: list[str]) -> Document:
    """Return an entity as a request would give it, without an id."""
    body = {"entityType": entity_type, "observations": observations}
    return {"kind": Kind.ENTITY.value, "title": name, "body": body}


def placeholder_document(name: str) -> Document:
    """Return what stands for an entity until somebody makes it."""
    return {
        "kind": Kind.ENTITY.value,
        "title": name,
        "body": {"observations": []},
        "metadata": {PLACEHOLDER: True},
    }


def is_placeholder(document: Document) -> bool:
    """Say whether an entity only stands for one that relations name."""
    return (document.get("metadata") or {}).get(PLACEHOLDER) is True


def relation_document(target_id: str, text: str) -> dict[str, Any]:
    """Return a relation of any type; one that an entry cannot carry is kept beside a short form."""
    if RELATION_TYPE.fullmatch(text):
        return {"type": text, "targetId": target_id}
    return {"type": _short_form(text), "targetId": target_id, "metadata": {RELATION_TEXT: text}}


def relation_text(type_: str, metadata: Mapping[str, Any] | None) -> str:
    """Return the type of a relation as it was given."""
    text = (metadata or {}).get(RELATION_TEXT)
    is_kept = isinstance(text, str) and _short_form(text) == type_
    return text if isinstance(text, str) and is_kept else type_


def _short_form(text: str) -> str:
    """Return a type for a text: readable where it can be, and different for every other text."""
    words = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[:_TYPE_CHARACTERS]
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARACTERS]
    return f"{words}-{digest}" if words[:1].isalpha() else f"relation-{digest}"
