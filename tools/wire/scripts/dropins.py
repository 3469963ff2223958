"""The tools of other memory servers, over HTTP and over MCP."""

from typing import Any

from tools.wire.steps import Script, Step, api, mcp, tool

P, Q = "dropin", "aimem"
SERVER_MEMORY = "?toolsets=serverMemory"
AI_MEMORY = "?toolsets=aiMemory"

JOHN = {"name": "John_Smith", "entityType": "person", "observations": ["Speaks fluent Spanish"]}
FIRM = {"name": "Anthropic", "entityType": "organization", "observations": []}
WORKS = {"from": "John_Smith", "to": "Anthropic", "relationType": "works_at"}
LIKES = {"from": "John_Smith", "to": "Ümläut & Co", "relationType": "likes a lot"}


def graph(who: str, name: str, arguments: Any = None) -> Step:
    """Return a call of a tool of the MCP memory server."""
    return tool(who, P, name, arguments, SERVER_MEMORY)


def memory(who: str, name: str, arguments: Any = None, **save: str) -> Step:
    """Return a call of a tool of ai-memory."""
    return tool(who, Q, f"memory_{name}", arguments, AI_MEMORY, **save)


GRAPH: Script = [
    graph("writer", "create_entities", {"entities": [JOHN, FIRM]}),
    graph("writer", "create_entities", {"entities": [JOHN]}),
    graph("writer", "create_entities", {"entities": [{"name": "x"}]}),
    graph("reader", "create_entities", {"entities": [JOHN]}),
    graph("writer", "create_relations", {"relations": [WORKS, LIKES]}),
    graph("writer", "create_relations", {"relations": [WORKS]}),
    graph("writer", "create_relations", {}),
    graph(
        "writer",
        "add_observations",
        {
            "observations": [
                {
                    "entityName": "John_Smith",
                    "contents": ["Graduated in 2019", "Speaks fluent Spanish"],
                }
            ]
        },
    ),
    graph(
        "writer",
        "add_observations",
        {"observations": [{"entityName": "Nobody", "contents": ["x"]}]},
    ),
    graph("reader", "read_graph"),
    graph("reader", "search_nodes", {"query": "spanish"}),
    graph("reader", "search_nodes", {"query": "nothing like it"}),
    graph("reader", "search_nodes", {}),
    graph("reader", "open_nodes", {"names": ["John_Smith", "Nobody"]}),
    graph("reader", "open_nodes", {"names": "John_Smith"}),
    graph("reader", "open_nodes", {"names": 7}),
    mcp("reader", P, "resources/read", {"uri": "memory://knowledge-graph"}, SERVER_MEMORY),
    mcp("reader", P, "resources/list", {}, SERVER_MEMORY),
    graph(
        "writer",
        "delete_observations",
        {"deletions": [{"entityName": "John_Smith", "observations": ["Graduated in 2019"]}]},
    ),
    graph("writer", "delete_observations", {"deletions": [{"entityName": "Nobody"}]}),
    graph("writer", "delete_relations", {"relations": [LIKES]}),
    graph("reader", "delete_relations", {"relations": [LIKES]}),
    graph("writer", "delete_entities", {"entityNames": ["Anthropic", "Nobody"]}),
    graph("writer", "delete_entities", {"entityNames": 7}),
    api("reader", P, "read_graph"),
    api("reader", P, "open_nodes", {"names": ["John_Smith"]}),
    api("reader", "bare", "read_graph"),
    api("reader", P, "listEntries", {"include": "full", "sort": "title"}),
]

STORED = {
    "title": "Project uses PostgreSQL 15",
    "content": "The main database is PostgreSQL 15 with pgvector for embeddings.",
    "tier": "long",
    "namespace": "my-app",
    "tags": ["database", "infrastructure"],
    "priority": 8,
    "source": "user",
}
OTHER = {"title": "Sessions", "content": "Sessions are kept in Redis.", "namespace": "my-app"}

MEMORIES: Script = [
    memory("writer", "store", STORED, postgres="id"),
    memory("writer", "store", {**STORED, "priority": 3, "tags": ["db"]}),
    memory("writer", "store", OTHER, sessions="id"),
    memory(
        "writer",
        "store",
        {
            "title": "Ends",
            "content": "soon",
            "ttl_secs": 7200,
            "metadata": {"a": 1},
            "agent_id": "ai:me",
        },
        ends="id",
    ),
    memory("writer", "store", {"title": "x"}),
    memory("writer", "store", {"title": "x", "content": "y", "tier": "forever"}),
    memory("writer", "store", {"title": "x", "content": "y", "surprise": 1}),
    memory("reader", "store", OTHER),
    memory("reader", "recall", {"context": "database setup and configuration", "limit": 5}),
    memory("reader", "recall", {"context": "database", "namespace": "my-app", "format": "json"}),
    memory("reader", "recall", {"context": "database", "format": "toon"}),
    memory("reader", "recall", {"context": ""}),
    memory("reader", "search", {"query": "PostgreSQL", "namespace": "my-app"}),
    memory("reader", "search", {"query": "PostgreSQL", "format": "json", "tags": "db"}),
    memory("reader", "search", {"query": "Redis", "tier": "golden"}),
    memory("reader", "list", {"limit": 10}),
    memory("reader", "list", {"limit": 1, "offset": 1, "format": "json"}),
    memory("reader", "list", {"limit": 0}),
    memory("reader", "get", {"id": "$postgres"}),
    memory("reader", "get", {"id": "nobody"}),
    memory(
        "writer", "update", {"id": "$postgres", "priority": 9, "tags": ["database", "critical"]}
    ),
    memory("writer", "update", {"id": "$postgres"}),
    memory("writer", "update", {"id": "nobody", "priority": 9}),
    memory("writer", "promote", {"id": "$ends"}),
    memory("writer", "promote", {"id": "nobody"}),
    memory("writer", "link", {"source_id": "$postgres", "target_id": "$sessions"}),
    memory(
        "writer", "link", {"source_id": "$postgres", "target_id": "$sessions", "relation": "hates"}
    ),
    memory("reader", "get_links", {"id": "$postgres"}),
    memory("reader", "get_links", {"id": "nobody"}),
    memory("reader", "expand_query", {"query": "database migration"}),
    memory("reader", "expand_query", {}),
    memory("writer", "auto_tag", {"id": "$sessions"}),
    memory("writer", "auto_tag", {"id": "nobody"}),
    memory("reader", "detect_contradiction", {"id_a": "$postgres", "id_b": "$sessions"}),
    memory("reader", "detect_contradiction", {"id_a": "$postgres", "id_b": "nobody"}),
    memory("reader", "stats"),
    memory("reader", "capabilities"),
    memory(
        "writer",
        "consolidate",
        {
            "ids": ["$postgres", "$sessions"],
            "title": "Storage",
            "summary": "PostgreSQL for data, Redis for sessions.",
            "namespace": "my-app",
        },
        storage="id",
    ),
    memory("writer", "consolidate", {"ids": ["$storage"], "title": "One"}),
    memory("reader", "get", {"id": "$storage"}),
    memory("writer", "delete", {"id": "$ends"}),
    memory("writer", "delete", {"id": "$ends"}),
    memory("reader", "archive_list", {"limit": 10}),
    memory("reader", "archive_list", {"limit": -1}),
    memory("reader", "archive_stats"),
    memory("curator", "archive_restore", {"id": "$ends"}),
    memory("curator", "archive_restore", {"id": "nobody"}),
    memory("writer", "archive_restore", {"id": "$ends"}),
    memory("writer", "forget", {"namespace": "my-app", "tier": "long"}),
    memory("writer", "forget", {}),
    memory("admin", "archive_purge", {"older_than_days": 30}),
    memory("admin", "archive_purge", {}),
    memory("curator", "archive_purge", {}),
    api("reader", Q, "memory_list", {"format": "json"}),
    api("reader", Q, "memory_list", {}),
    api("reader", "bare", "memory_stats"),
    api("reader", Q, "listEntries", {"include": "full", "sort": "title"}),
]

DROPINS: Script = [*GRAPH, *MEMORIES]
