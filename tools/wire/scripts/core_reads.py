"""Commands of the toolset core that read, each with what succeeds and what is refused."""

from tools.wire.steps import Script, api

P = "projA"

GET: Script = [
    api("reader", P, "getEntry", {"id": "whole"}),
    api("reader", P, "getEntry", {"id": "$staging"}),
    api("reader", P, "getEntry", {"id": "shared:common"}),
    api("reader", P, "getEntry", {"id": "orders"}),
    api("reader", P, "getEntry", {"id": "nobody"}),
    api("reader", P, "getEntry", {"id": "closed:x"}),
    api("reader", P, "getEntry", {"id": "a b"}),
    api("reader", P, "getEntry", {}),
    api("reader", P, "getEntry", {"id": "whole", "surprise": True}),
    api("", P, "getEntry", {"id": "whole"}),
    api("reader", "closed", "getEntry", {"id": "whole"}),
]

LISTS: Script = [
    api("reader", P, "listEntries", {"page": {"size": 4}}, page2="nextCursor"),
    api("reader", P, "listEntries", {"page": {"size": 4, "cursor": "$page2"}}),
    api("reader", P, "listEntries", {"page": {"size": 4, "cursor": "$page2"}, "sort": "title"}),
    api("reader", P, "listEntries", {"page": {"cursor": "nonsense"}}),
    api("reader", P, "listEntries", {"sort": "title", "include": "ids"}),
    api("reader", P, "listEntries", {"sort": "-priority", "include": "full", "page": {"size": 2}}),
    api("reader", P, "listEntries", {"sort": "colour"}),
    api("reader", P, "listEntries", {"filter": {"kinds": ["fact"], "tags": ["search"]}}),
    api("reader", P, "listEntries", {"filter": {"kinds": ["task", "question"]}, "format": "toon"}),
    api("reader", P, "listEntries", {"format": "toonCompact", "sort": "created", "maxTokens": 200}),
    api("reader", P, "listEntries", {"filter": {"createdBefore": "2001-01-01T00:00:00Z"}}),
    api("reader", P, "listEntries", {"filter": {"metadata": {"ticket": "T-1"}}}),
    api("reader", P, "listEntries", {"filter": {"minPriority": 8, "pinned": False}}),
    api("reader", P, "listEntries", {"filter": {"colour": "red"}}),
    api("reader", P, "listEntries", {"page": {"size": 201}}),
    api("reader", P, "listEntries", {"maxTokens": 60}),
    api("", P, "listEntries"),
    api("reader", "closed", "listEntries"),
    api("reader", P, "listCurated"),
    api("reader", P, "listCurated", {"tier": "canonical", "format": "toon"}),
    api("reader", P, "listCurated", {"tier": "golden"}),
    api("reader", P, "coldStart", {"maxTokens": 1000}),
    api("reader", P, "coldStart", {"maxTokens": 300, "format": "toonCompact"}),
    api("reader", P, "coldStart", {"epicSlug": "indexing"}),
    api("reader", P, "coldStart", {"maxTokens": 0}),
]

SEARCH: Script = [
    api(
        "reader",
        P,
        "searchEntries",
        {"query": {"text": "when does the index get rebuilt", "maxResults": 5}},
    ),
    api("reader", P, "searchEntries", {"query": {"text": "staging 5433", "explain": True}}),
    api("reader", P, "searchEntries", {"query": {"text": "staging port", "match": "all"}}),
    api(
        "reader",
        P,
        "searchEntries",
        {
            "query": {"text": "office night", "includeShared": True, "maxResults": 3},
            "format": "toon",
        },
    ),
    api(
        "reader",
        P,
        "searchEntries",
        {"query": {"text": "plan", "maxTokens": 150}, "format": "toonCompact"},
    ),
    api(
        "reader",
        P,
        "searchEntries",
        {
            "query": {"text": "plan", "filter": {"kinds": ["note"]}, "profile": "aiMemory"},
            "include": "ids",
        },
    ),
    api(
        "reader",
        P,
        "searchEntries",
        {"query": {"text": "plan", "profile": "agentCli"}, "include": "full"},
    ),
    api("reader", P, "searchEntries", {"query": {}}),
    api("reader", P, "searchEntries", {"query": {"text": "plan", "maxResults": 201}}),
    api("reader", P, "searchEntries", {"query": {"text": "x" * 4097}}),
    api("reader", P, "searchEntries", {"query": {"text": "plan", "profile": "mine"}}),
    api("reader", P, "searchEntries", {"query": {"embedding": [0.5, 0.5]}}),
    api("reader", P, "searchEntries", {"query": "plan"}),
    api("", P, "searchEntries", {"query": {"text": "plan"}}),
    api("reader", P, "summaries", {"ids": ["whole", "k-procedure", "nobody"]}),
    api("reader", P, "summaries", {"ids": []}),
    api("reader", P, "relatedEntries", {"id": "whole", "maxHops": 2, "types": ["ref", "partOf"]}),
    api("reader", P, "relatedEntries", {"id": "k-note", "direction": "in", "format": "toon"}),
    api("reader", P, "relatedEntries", {"id": "whole", "to": "k-note"}),
    api("reader", P, "relatedEntries", {"id": "whole", "maxHops": 6}),
    api("reader", P, "relatedEntries", {"id": "nobody"}),
]

ABOUT: Script = [
    api("reader", P, "health"),
    api("admin", P, "health"),
    api("reader", P, "health", {"surprise": 1}),
    api("reader", P, "getUsageDoc", {"format": "html"}),
    api("reader", P, "getUsageDoc", {}),
    api("reader", "bare", "describe"),
    api("reader", P, "backupStore", {"mode": "full"}),
    api("admin", P, "backupStore", {"mode": "hourly"}),
]

CORE_READS: Script = [*GET, *LISTS, *SEARCH, *ABOUT]
