"""Converts entries to memories of ai-memory, and writes lists of them as rows."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.answers import Rendered
from qms.commands.call import Call
from qms.commands.toon import head_line, header_line, row_line
from qms.dropins.ai_memory.ai_memory_types import Memory, TextFormat
from qms.memory.bodies import main_text
from qms.memory.entry import Document, split_id
from qms.memory.lines import encode_line
from qms.memory.validation import header_of, instant_text
from qms.text.flags import flags_of

_COMPACT = ("id", "title", "tier", "namespace", "priority", "score", "tags")
_COLUMNS = {
    TextFormat.TOON_COMPACT: _COMPACT,
    TextFormat.TOON: (
        *("id", "title", "tier", "namespace", "priority", "confidence", "score", "access_count"),
        *("tags", "source", "created_at", "updated_at"),
    ),
}
_DEFAULT_SOURCE = "api"
_PROVENANCE = {
    "importedFromAgentId": "imported_from_agent_id",
    "consolidatedFromAgents": "consolidated_from_agents",
    "minedFrom": "mined_from",
}
"""Metadata keys of a memory's provenance, and their names in ai-memory."""
_SCORE_DIGITS = 3


def memory_of(call: Call, document: Document, score: float | None = None) -> Memory:
    """Return an entry of a store in reach as a memory, without its hidden parts."""
    document = call.visibility.shown(document)
    header = header_of(document)
    use = call.context.catalog.get(split_id(header.id)[0]).usage.of(header.id)
    source = document.get("source") or {}
    author = {} if header.agent_id is None else {"agent_id": header.agent_id}
    return Memory(
        id=header.id,
        tier=header.retention,
        namespace=header.namespace,
        title=header.title,
        content=main_text(header.kind, document["body"]),
        tags=list(header.tags),
        priority=header.priority,
        confidence=header.confidence,
        source=str(source.get("type") or _DEFAULT_SOURCE),
        access_count=use.count if use else 0,
        created_at=instant_text(header.timestamps.created_utc),
        updated_at=instant_text(header.timestamps.updated_utc),
        last_accessed_at=instant_text(use.last_utc) if use else None,
        expires_at=instant_text(header.ttl_utc) if header.ttl_utc else None,
        metadata={
            **{_PROVENANCE.get(key, key): one for key, one in document.get("metadata", {}).items()},
            **author,
        },
        score=UNSET if score is None else round(score, _SCORE_DIGITS),
        flags=flags_of(encode_line(document)) or UNSET,
    )


def decoded(entry: msgspec.Raw) -> Document:
    """Return the entry of an answer as a document."""
    document: Document = msgspec.json.decode(entry)
    return document


def as_rows(memories: Sequence[Memory], form: TextFormat, **head: Any) -> Rendered:
    """Return memories as rows of text, with the fixed columns of ai-memory."""
    columns = _COLUMNS[form]
    lines = (
        head_line({"count": len(memories), **head}),
        header_line("memories", columns),
        *(row_line(_cells(memory, columns)) for memory in memories),
    )
    return Rendered(format=form, text="\n".join(lines), count=len(memories))


def _cells(memory: Memory, columns: Iterable[str]) -> Iterable[Any]:
    for column in columns:
        value = getattr(memory, column)
        yield None if isinstance(value, UnsetType) else value
