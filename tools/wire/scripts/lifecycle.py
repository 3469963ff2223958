"""Commands of the toolset lifecycle over HTTP, each with what succeeds and what is refused."""

from typing import Any

from tools.wire.steps import Script, Step, api, pause

P = "life"


def _entry(local: str, text: str, kind: str = "fact", **fields: Any) -> Step:
    return api(
        "writer", P, "upsertEntry", {"entry": {"kind": kind, "id": local, "body": text, **fields}}
    )


STORE: Script = [
    _entry("deploy", "The parser is deployed by the release train", tags=["deploy"]),
    _entry("short", "The parser build is red today", retention="short", tags=["deploy"]),
    _entry("mid", "The parser is rewritten this week", retention="mid", namespace="infra"),
    _entry("monday", "Monday we met the customer", "note", tags=["week"]),
    _entry("tuesday", "Tuesday we wrote the offer", "note", tags=["week"]),
    _entry("wednesday", "Wednesday we sent the offer", "note", tags=["week"]),
    _entry("port-a", "The database listens on port 5432"),
    _entry("port-b", "The database listens on port 5433"),
    _entry("twin-a", "The cache is emptied every night at two", "note", title="Cache"),
    _entry("twin-b", "The cache is emptied every night at two!", "note", title="The cache"),
    _entry(
        "moving",
        "This belongs elsewhere",
        "note",
        relations=[{"type": "ref", "targetId": "life:deploy"}],
    ),
    _entry("deprecated-1", "The deprecated API answers XML", "note", agentId="ai:rogue"),
    _entry("deprecated-2", "The deprecated API needs a token", "note", agentId="ai:rogue"),
]

RECALL: Script = [
    api("reader", P, "recall", {"context": "how do we deploy the parser", "limit": 5}),
    api(
        "reader",
        P,
        "recall",
        {
            "context": "how do we deploy the parser",
            "limit": 2,
            "touch": False,
            "profile": "aiMemory",
            "format": "toonCompact",
        },
    ),
    api(
        "reader",
        P,
        "recall",
        {
            "context": "parser",
            "filter": {"retention": "mid"},
            "include": "full",
            "profile": "agentCli",
        },
    ),
    api("reader", P, "recall", {"context": "parser", "maxTokens": 120, "format": "toon"}),
    api("reader", P, "recall", {}),
    api("reader", P, "recall", {"context": "parser", "limit": 0}),
    api("reader", "closed", "recall", {"context": "parser"}),
    api("", P, "recall", {"context": "parser"}),
    api("reader", P, "expandQuery", {"query": "database migration"}),
    api("reader", P, "expandQuery", {"query": ""}),
    api(
        "reader",
        P,
        "extractMemories",
        {
            "text": "We decided to use TOML because comments survive. "
            "I prefer tabs. The server listens on port 80."
        },
    ),
    api("reader", P, "extractMemories", {"text": "x", "maxMemories": -1}),
    api("reader", P, "stats"),
    api("reader", P, "namespaces"),
    api("reader", P, "namespaces", {"surprise": 1}),
    api("reader", P, "capabilities"),
    api("reader", "closed", "stats"),
]

CHANGE: Script = [
    api("writer", P, "promoteEntry", {"id": "mid"}),
    api("writer", P, "promoteEntry", {"id": "short", "retention": "mid"}),
    api("writer", P, "promoteEntry", {"id": "mid", "retention": "short"}),
    api("writer", P, "promoteEntry", {"id": "short", "ifVersion": "0123456789abcdef"}),
    api("writer", P, "promoteEntry", {"id": "nobody"}),
    api("reader", P, "promoteEntry", {"id": "short"}),
    api(
        "writer",
        P,
        "linkEntries",
        {
            "sourceId": "monday",
            "targetId": "tuesday",
            "type": "ref",
            "weight": 0.5,
            "metadata": {"why": "order"},
        },
    ),
    api("writer", P, "linkEntries", {"sourceId": "tuesday", "targetId": "wednesday"}),
    api("writer", P, "linkEntries", {"sourceId": "tuesday", "targetId": "tuesday"}),
    api("writer", P, "linkEntries", {"sourceId": "tuesday", "targetId": "nobody"}),
    api(
        "writer",
        P,
        "linkEntries",
        {"sourceId": "tuesday", "targetId": "monday", "type": "works at"},
    ),
    api("reader", P, "linkEntries", {"sourceId": "tuesday", "targetId": "monday"}),
    api("reader", P, "getLinks", {"id": "tuesday"}),
    api("reader", P, "getLinks", {"id": "tuesday", "direction": "out", "format": "toon"}),
    api("reader", P, "getLinks", {"id": "tuesday", "types": ["ref"], "format": "toonCompact"}),
    api("reader", P, "getLinks", {"id": "nobody"}),
    api("writer", P, "unlinkEntries", {"sourceId": "monday", "targetId": "tuesday", "type": "ref"}),
    api("writer", P, "unlinkEntries", {"sourceId": "monday", "targetId": "tuesday"}),
    api("reader", P, "unlinkEntries", {"sourceId": "tuesday", "targetId": "wednesday"}),
    api("reader", P, "findDuplicates", {"threshold": 0.8}),
    api("reader", P, "findDuplicates", {"threshold": 0.8, "format": "toon"}),
    api("reader", P, "findDuplicates", {"threshold": 2}),
    api("reader", P, "listContradictions"),
    api("reader", P, "listContradictions", {"filter": {"kind": "fact"}, "format": "toonCompact"}),
    api("reader", P, "detectContradiction", {"idA": "port-a", "idB": "port-b"}),
    api("reader", P, "detectContradiction", {"idA": "port-a", "idB": "port-a"}),
    api("reader", P, "detectContradiction", {"idA": "port-a", "idB": "nobody"}),
    api("writer", P, "resolveContradiction", {"winner": "port-b", "loser": "port-a"}),
    api("curator", P, "resolveContradiction", {"winner": "port-b", "loser": "port-a"}),
    api("curator", P, "resolveContradiction", {"winner": "port-b", "loser": "nobody"}),
    api(
        "reader",
        P,
        "searchEntries",
        {"query": {"text": "database port", "includeSuperseded": True}},
    ),
    api("reader", P, "searchEntries", {"query": {"text": "database port"}, "include": "ids"}),
    api("writer", P, "autoTag", {"id": "deploy", "apply": False}),
    api("writer", P, "autoTag", {"id": "deploy", "maxTags": 2}),
    api("reader", P, "autoTag", {"id": "deploy"}),
    api("writer", P, "autoTag", {"id": "nobody"}),
]

TOGETHER: Script = [
    api(
        "writer",
        P,
        "consolidateEntries",
        {"ids": ["monday", "tuesday"], "title": "The week", "dryRun": True},
    ),
    api(
        "writer",
        P,
        "consolidateEntries",
        {"ids": ["monday", "tuesday"], "title": "The week"},
        week="id",
    ),
    api("writer", P, "consolidateEntries", {"ids": ["monday", "tuesday"]}),
    api("writer", P, "consolidateEntries", {"ids": ["wednesday"]}),
    api("reader", P, "consolidateEntries", {"ids": ["wednesday", "deploy"]}),
    api("reader", P, "getEntry", {"id": "$week"}),
    api(
        "writer",
        P,
        "bulkImport",
        {
            "entries": [
                {
                    "kind": "note",
                    "id": f"auto-{n}",
                    "body": f"Step {n} of the migration",
                    "tags": ["migrate"],
                }
                for n in range(3)
            ]
        },
    ),
    api("writer", P, "autoConsolidate", {"by": "tag", "minCount": 3, "dryRun": True}),
    api("writer", P, "autoConsolidate", {"by": "tag", "minCount": 3}),
    api("writer", P, "autoConsolidate", {"by": "similarity", "minCount": 2, "dryRun": True}),
    api("writer", P, "autoConsolidate", {"by": "colour"}),
    api("reader", P, "autoConsolidate", {"dryRun": True}),
    api("writer", P, "copyEntry", {"id": "moving", "toProject": "life2"}),
    api("writer", P, "copyEntry", {"id": "moving", "toProject": "life2"}),
    api("writer", P, "copyEntry", {"id": "moving", "toProject": "life2", "toId": "moved-2"}),
    api("writer", P, "copyEntry", {"id": "moving", "toProject": "closed"}),
    api("reader", P, "copyEntry", {"id": "moving", "toProject": "life2"}),
    api("writer", P, "moveEntry", {"id": "moving", "toProject": "life2", "toId": "moved"}),
    api("writer", P, "moveEntry", {"id": "moving", "toProject": "life2"}),
    api("writer", P, "moveEntry", {"id": "deploy", "toProject": "absent"}),
    api("reader", P, "moveEntry", {"id": "deploy", "toProject": "life2"}),
    api("reader", "life2", "listEntries", {"sort": "title"}),
]

AWAY: Script = [
    api("writer", P, "forgetEntries", {"pattern": "deprecated API", "dryRun": True}),
    api("writer", P, "forgetEntries", {"author": "ai:rogue"}, undo="undoId"),
    api("curator", P, "forgetEntries", {"author": "ai:rogue"}),
    api("writer", P, "forgetEntries", {"ids": ["twin-a", "nobody"]}),
    api("writer", P, "forgetEntries", {"filter": {"namespace": "infra"}}, undo2="undoId"),
    api("writer", P, "forgetEntries", {}),
    api("writer", P, "forgetEntries", {"pattern": ""}),
    api("reader", P, "forgetEntries", {"pattern": "x"}),
    api("curator", P, "undoForget", {"undoId": "$undo2", "dryRun": True}),
    api("curator", P, "undoForget", {"undoId": "$undo2"}),
    api("curator", P, "undoForget", {"undoId": "$undo2"}),
    api("curator", P, "undoForget", {"undoId": "01931c6e-0000-7000-8000-000000000002"}),
    api("writer", P, "undoForget", {"undoId": "$undo2"}),
    _entry("ended", "This is over soon", "note", ttlSeconds=1),
    pause(1.2),
    api("writer", P, "gc", {"dryRun": True}),
    api("writer", P, "gc"),
    api("reader", P, "gc"),
    api("writer", P, "deleteEntry", {"id": "twin-b"}),
    api("reader", P, "listArchive"),
    api("reader", P, "listArchive", {"page": {"size": 2}, "format": "toon"}),
    api("reader", P, "listArchive", {"filter": {"reason": "deleted"}, "format": "toonCompact"}),
    api("reader", P, "listArchive", {"filter": {"id": "twin-b", "by": "writer"}}),
    api("reader", P, "listArchive", {"filter": {"reason": "bored"}}),
    api("reader", P, "listArchive", {"page": {"size": 2}}, archive2="nextCursor"),
    api("reader", P, "listArchive", {"page": {"size": 2, "cursor": "$archive2"}}),
    api("reader", P, "archiveStats"),
    api("writer", P, "patchEntry", {"id": "deploy", "patch": {"priority": 6}}),
    api("curator", P, "history", {"id": "deploy"}, deployOld="items.1.version"),
    api("curator", P, "history", {"id": "deploy", "full": True, "limit": 1}),
    api("curator", P, "history", {"id": "deploy", "format": "toon"}),
    api("curator", P, "history", {"id": "nobody"}),
    api("writer", P, "history", {"id": "deploy"}),
    api("curator", P, "restoreEntry", {"id": "deploy", "version": "$deployOld"}),
    api("curator", P, "restoreEntry", {"id": "twin-b"}),
    api("curator", P, "restoreEntry", {"id": "twin-b"}),
    api("curator", P, "restoreEntry", {"id": "nobody"}),
    api("writer", P, "restoreEntry", {"id": "twin-a"}),
    api("admin", P, "purgeArchive", {"olderThanDays": 90, "dryRun": True}),
    api("admin", P, "purgeArchive", {}),
    api("curator", P, "purgeArchive", {"all": True}),
    api("admin", P, "purgeArchive", {"all": True}),
    api("reader", P, "listProposals"),
    api("reader", P, "listProposals", {"kind": "tags", "format": "toonCompact"}),
    api("reader", P, "listProposals", {"kind": "colours"}),
    api("writer", P, "acceptProposals", {"ids": ["0f3c9a51b2d47e68"]}),
    api("writer", P, "acceptProposals", {"ids": []}),
    api("writer", P, "dismissProposals", {"ids": ["0f3c9a51b2d47e68"]}),
    api("reader", P, "dismissProposals", {"ids": ["0f3c9a51b2d47e68"]}),
]

LIFECYCLE: Script = [*STORE, *RECALL, *CHANGE, *TOGETHER, *AWAY]
