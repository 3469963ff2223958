"""Exports of other servers become entries; what is broken is named by its place."""

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from qms.features.transfer.importers.ai_memory import read_ai_memory
from qms.features.transfer.importers.items import (
    MAX_LINE_BYTES,
    Broken,
    Found,
    Item,
    Opener,
    restamped,
)
from qms.features.transfer.importers.jsonl import read_jsonl
from qms.features.transfer.importers.server_memory import read_server_memory
from qms.memory.entities import entity_local_id

NOW = datetime(2026, 3, 1, tzinfo=UTC)
MEMORY = {
    "id": "a1b2c3d4-0000-4000-8000-000000000001",
    "tier": "long",
    "namespace": "my-app",
    "title": "Project uses PostgreSQL 15",
    "content": "The main database is PostgreSQL 15 with pgvector.",
    "tags": ["database"],
    "priority": 8,
    "confidence": 0.9,
    "source": "user",
    "access_count": 5,
    "created_at": "2026-02-01T12:00:00+00:00",
    "updated_at": "2026-02-10T08:00:00+00:00",
    "last_accessed_at": None,
    "expires_at": None,
    "metadata": {"agent_id": "ai:claude-code", "kept": 1},
}
OTHER = {
    **MEMORY,
    "id": "e5f6",
    "title": "Other",
    "expires_at": "2026-04-01T00:00:00Z",
    "tier": "mid",
}
LINK = {
    "source_id": MEMORY["id"],
    "target_id": "e5f6",
    "relation": "related_to",
    "created_at": "2026-02-11T00:00:00Z",
}


def opener(data: str | bytes) -> Opener:
    raw = data.encode() if isinstance(data, str) else data
    return lambda: io.BytesIO(raw)


def export(*memories: Any, links: tuple[Any, ...] = ()) -> str:
    whole = {"memories": memories, "links": links, "count": len(memories), "exported_at": "…"}
    return json.dumps(whole)


def documents(items: list[Item]) -> list[dict[str, Any]]:
    assert all(isinstance(item, Found) for item in items), items
    return [item.document for item in items if isinstance(item, Found)]


def test_an_export_of_ai_memory_becomes_notes_with_their_links() -> None:
    found = read_ai_memory(opener(export(MEMORY, OTHER, links=(LINK,))), "projA", NOW)

    first, second = documents(list(found))

    assert first == {
        "id": MEMORY["id"],
        "kind": "note",
        "title": "Project uses PostgreSQL 15",
        "body": {"text": "The main database is PostgreSQL 15 with pgvector."},
        "tags": ["database"],
        "retention": "long",
        "priority": 8,
        "confidence": 0.9,
        "namespace": "my-app",
        "agentId": "ai:claude-code",
        "source": {"type": "user"},
        "timestamps": {"createdUtc": "2026-02-01T12:00:00.000Z"},
        "relations": [
            {
                "type": "relatedTo",
                "targetId": "projA:e5f6",
                "createdUtc": "2026-02-11T00:00:00.000Z",
            }
        ],
        "metadata": {"kept": 1},
    }
    assert (second["retention"], second["ttlUtc"]) == ("mid", "2026-04-01T00:00:00.000Z")


def test_what_is_broken_in_an_export_of_ai_memory_costs_nothing_else() -> None:
    expired = {**MEMORY, "expires_at": "2026-02-01T00:00:00Z"}
    untitled = {"content": "x"}
    wrong = {**MEMORY, "tags": [1]}

    items = list(read_ai_memory(opener(export(expired, untitled, wrong, OTHER)), "projA", NOW))

    broken = [item for item in items if isinstance(item, Broken)]
    assert [one.field for one in broken] == ["expires_at", "title", "tags[0]"]
    assert all(one.place.startswith("byte ") for one in broken)
    assert len(items) == 4


def test_an_export_that_ends_too_early_gives_what_it_has() -> None:
    data = export(MEMORY, OTHER)[: -len(json.dumps(OTHER)) // 2]

    first, *rest = read_ai_memory(opener(data), "projA", NOW)

    assert isinstance(first, Found)
    assert all(isinstance(item, Broken) for item in rest)
    assert rest


@pytest.mark.parametrize("data", ["", "{}", "[]", "null", "not json", "\x00", '{"memories":[]}'])
def test_an_export_without_memories_gives_none(data: str) -> None:
    assert list(read_ai_memory(opener(data), "p", NOW)) == []


def lines(*values: Any) -> str:
    return "\n".join(json.dumps(value, ensure_ascii=False) for value in values)


JOHN = {"type": "entity", "name": "John Smith", "entityType": "person", "observations": ["Tall"]}
KNOWS = {"type": "relation", "from": "John Smith", "to": "Zoë", "relationType": "works with"}


def test_a_file_of_the_memory_server_becomes_entities_with_relations() -> None:
    john, zoe = documents(list(read_server_memory(opener(lines(JOHN, KNOWS)), "projA")))

    assert john["id"] == entity_local_id("John Smith")
    assert john["body"] == {"entityType": "person", "observations": ["Tall"]}
    [relation] = john["relations"]
    assert relation["targetId"] == f"projA:{entity_local_id('Zoë')}"
    assert relation["metadata"] == {"relationType": "works with"}
    assert (zoe["title"], zoe["metadata"]) == ("Zoë", {"placeholder": True})


def test_broken_lines_of_the_memory_server_are_named_by_line_and_field() -> None:
    data = "\n".join(
        [
            json.dumps(JOHN),
            "",
            "{not json",
            json.dumps({"type": "entity", "entityType": "x"}),
            json.dumps({"type": "entity", "name": "n", "observations": [1]}),
            json.dumps({"type": "ghost"}),
            json.dumps(JOHN),
            json.dumps({**KNOWS, "to": "John Smith"}),
            "x" * (MAX_LINE_BYTES + 10),
            json.dumps({**JOHN, "name": "Last"}),
        ]
    )

    items = list(read_server_memory(opener(data), "projA"))

    found = [item.document["title"] for item in items if isinstance(item, Found)]
    broken = [(one.place, one.field) for one in items if isinstance(one, Broken)]
    assert found == ["John Smith", "Last"]
    assert broken == [
        ("line 3", ""),
        ("line 4", "name"),
        ("line 5", "observations[0]"),
        ("line 6", "type"),
        ("line 7", "name"),
        ("line 8", "to"),
        ("line 9", ""),
    ]


def test_entries_of_another_project_move_with_their_relations() -> None:
    entry = {
        "schemaVersion": 1,
        "id": "old:a",
        "project": "old",
        "kind": "note",
        "title": "A",
        "body": {"text": "a"},
        "relations": [
            {"type": "ref", "targetId": "old:b"},
            {"type": "ref", "targetId": "shared:c"},
        ],
        "unknown": 1,
    }

    items = list(read_jsonl(opener(lines(entry) + '\n[1]\n{"a":1,"a":2}\n'), "new"))

    assert isinstance(items[0], Found)
    moved = items[0].document
    assert (moved["id"], moved["unknown"]) == ("a", 1)
    assert "project" not in moved
    assert [one["targetId"] for one in moved["relations"]] == ["new:b", "shared:c"]
    assert [one.place for one in items[1:]] == ["line 2", "line 3"]


@pytest.mark.parametrize(
    ("trusts", "expected"),
    [
        (True, {"agentId": "alice"}),
        (False, {"metadata": {"importedFromAgentId": "alice"}}),
    ],
)
def test_an_author_is_kept_only_from_a_trusted_source(
    trusts: bool, expected: dict[str, Any]
) -> None:
    assert restamped({"agentId": "alice"}, trusts_source=trusts) == expected
    assert restamped({"agentId": "not an id"}, trusts_source=trusts) == {}
