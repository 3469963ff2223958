"""Plans a consolidation: groups entries, and builds the merged entry with its sources.

Nothing is invented: without a model each source has a line of its own, in its own words.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from qms.index.indexed_entry import index_document
from qms.memory.bodies import Kind
from qms.memory.entry import CurationTier, Document, Header, Retention
from qms.memory.validation import title_from
from qms.store.view import Record

REASON = "consolidated"
SOURCE_TYPE = "consolidation"
AGENTS = "consolidatedFromAgents"
"""The metadata key that names the authors of the sources."""

MIN_SOURCES, MAX_SOURCES = 2, 100

_SHORT_CHARACTERS = 280
"""A text up to this length is copied into the summary unchanged."""
_STRUCTURE = frozenset({Kind.DOCUMENT, Kind.CHUNK, Kind.ENTITY})
"""Kinds that are parts of a larger structure: they are never consolidated automatically."""


class Group(msgspec.Struct, frozen=True):
    """Entries that belong together, and their common key."""

    key: str
    records: list[Record]


def summary_of(
    sources: Sequence[Record], summarize: Callable[[str], str], *, max_bytes: int
) -> str:
    """Return a line for each source: its own title, if it has one, and its text."""
    lines = [_line(record, summarize) for record in sources]
    if sum(len(line.encode()) + 1 for line in lines) > max_bytes:
        share = max_bytes // len(lines) // 4 - 1  # a character has at most four bytes
        lines = [line[:share] for line in lines]
    return "\n".join(lines)


def merged_fields(sources: Sequence[Record], *, max_tags: int) -> Document:
    """Return the fields taken from the sources: tags, highest priority, lowest confidence."""
    headers = [record.header for record in sources]
    agents = sorted({header.agent_id for header in headers if header.agent_id is not None})
    namespaces = {header.namespace for header in headers}
    return {
        "tags": list(dict.fromkeys(tag for header in headers for tag in header.tags))[:max_tags],
        "priority": max(header.priority for header in headers),
        "confidence": min(header.confidence for header in headers),
        "namespace": namespaces.pop() if len(namespaces) == 1 else None,
        "source": {"type": SOURCE_TYPE},
        "relations": [{"type": "derivedFrom", "targetId": header.id} for header in headers],
        "metadata": {AGENTS: agents} if agents else {},
    }


def title_for(sources: Sequence[Record], name: str | None = None) -> str:
    """Return a title that names the group and the number of its entries."""
    tags = Counter(record.header.tags[0] for record in sources if record.header.tags)
    common = tags.most_common(1)[0][0] if tags else sources[0].header.title
    return f"Consolidated: {title_from(name or common)} ({len(sources)} memories)"


def may_go_by_itself(header: Header, document: Document, *, short_only: bool) -> bool:
    """Say whether an entry may be consolidated automatically."""
    return (
        header.curation_tier is CurationTier.PROVISIONAL
        and not header.is_permanent
        and not header.pinned
        and header.kind not in _STRUCTURE
        and (not short_only or header.retention is Retention.SHORT)
        and _source_type(document) != SOURCE_TYPE
    )


def groups_by_tag(records: Iterable[Record], *, least: int) -> list[Group]:
    """Return groups of at least `least` entries with the same namespace and first tag."""
    found: dict[tuple[str | None, str], list[Record]] = {}
    for record in records:
        if record.header.tags:
            key = (record.header.namespace, record.header.tags[0])
            found.setdefault(key, []).append(record)
    named = ((f"{space}/{tag}" if space else tag, of) for (space, tag), of in found.items())
    return [group for key, of in named for group in _cut(key, of, least)]


def groups_by_likeness(
    records: Sequence[Record], pairs: Iterable[tuple[str, str]], *, least: int
) -> list[Group]:
    """Return groups of one namespace that similar pairs connect, directly or through others."""
    by_id = {record.header.id: record for record in records}
    leader = {entry_id: entry_id for entry_id in by_id}

    def find(entry_id: str) -> str:
        while leader[entry_id] != entry_id:
            leader[entry_id] = entry_id = leader[leader[entry_id]]
        return entry_id

    for one, other in pairs:
        if by_id[one].header.namespace == by_id[other].header.namespace:
            leader[find(one)] = find(other)
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(find(record.header.id), []).append(record)
    return [group for of in found.values() for group in _cut(of[0].header.title, of, least)]


def _cut(key: str, records: list[Record], least: int) -> Iterator[Group]:
    for start in range(0, len(records), MAX_SOURCES):
        part = records[start : start + MAX_SOURCES]
        if len(part) >= least:
            yield Group(key, part)


def _line(record: Record, summarize: Callable[[str], str]) -> str:
    indexed = index_document(record.header, record.document())
    text = " ".join(indexed.text.split())
    if len(text) > _SHORT_CHARACTERS:
        text = summarize(indexed.text)
    title = indexed.own_title
    return f"- {title}: {text}" if title and text else f"- {title or text}"


def _source_type(document: Document) -> Any:
    source = document.get("source")
    return source.get("type") if isinstance(source, dict) else None
