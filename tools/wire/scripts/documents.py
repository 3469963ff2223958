"""Commands of the toolset documents: store, read, refer; each with success and refusal."""

import base64

from tools.wire.steps import Script, api, tool

P = "docs"
HARBOUR = (
    "# Harbour\n\nThe ferry leaves at noon.\n\n## Crane\n\nThe crane lifts nine tons.\n\n"
    "## Mill\n\nThe mill stands beside the crane. It grinds at night.\n"
)
PAGE = "<html><head><title>Tide</title></head><body><h1>Tide</h1><p>High at six.</p></body></html>"

STORE: Script = [
    api(
        "writer",
        P,
        "storeDocument",
        {"content": HARBOUR, "mime": "text/markdown", "id": "harbour", "tags": ["port"]},
        crane="chunkIds.1",
        mill="chunkIds.2",
    ),
    api("writer", P, "storeDocument", {"content": HARBOUR, "id": "harbour"}),
    api(
        "writer",
        P,
        "storeDocument",
        {
            "data": base64.b64encode(PAGE.encode()).decode(),
            "mime": "text/html",
            "id": "tide",
            "metadata": {"path": "docs/tide.html"},
        },
    ),
    api("writer", P, "storeDocument", {"content": "Without an id", "options": {"summary": False}}),
    tool("writer", P, "storeDocument", {"content": "Over MCP", "id": "mcp"}, "?toolsets=documents"),
    api("writer", P, "storeDocument", {}),
    api("writer", P, "storeDocument", {"content": "x", "path": "x.md"}),
    api("writer", P, "storeDocument", {"path": "/etc/passwd"}),
    api("writer", P, "storeDocument", {"data": "no base64!"}),
    api("writer", P, "storeDocument", {"content": " "}),
    api("writer", P, "storeDocument", {"content": "x", "sha256": "0" * 64}),
    api("writer", P, "storeDocument", {"content": "x", "options": {"chunkSize": 1}}),
    api("writer", P, "storeDocument", {"data": "JVBERi0xLjcK", "mime": "application/pdf"}),
    api("reader", P, "storeDocument", {"content": "x"}),
    api("writer", "bare", "storeDocument", {"content": "x"}),
]

READ: Script = [
    api("reader", P, "getDocument", {"id": "harbour"}),
    api("reader", P, "getDocument", {"id": "harbour", "include": "text"}),
    api(
        "reader",
        P,
        "getDocument",
        {"id": "harbour", "include": "chunks", "page": {"size": 2}},
        chunks2="nextCursor",
    ),
    api(
        "reader",
        P,
        "getDocument",
        {"id": "harbour", "include": "chunks", "page": {"size": 2, "cursor": "$chunks2"}},
    ),
    api("reader", P, "getDocument", {"id": "$crane"}),
    api("reader", P, "getDocument", {"id": "nobody"}),
    api("reader", P, "getDocument", {"id": "harbour", "include": "pictures"}),
    api("reader", P, "getDocument", {"id": "harbour", "include": "text", "page": {"cursor": "x"}}),
    api("reader", P, "analyzeDocument", {"id": "harbour"}),
    api("reader", P, "analyzeDocument", {"id": "nobody"}),
    api("reader", P, "searchEntries", {"query": {"text": "crane", "maxResults": 3}}),
    api("reader", P, "listEntries", {"sort": "title", "include": "ids"}),
]

REFER: Script = [
    api("writer", P, "upsertEntry", {"entry": {"kind": "note", "id": "lift", "body": "Nine tons"}}),
    api("writer", P, "linkEntries", {"sourceId": "lift", "targetId": "$crane"}),
    api("writer", P, "linkEntries", {"sourceId": "lift", "targetId": "tide"}),
    api("reader", P, "documentRefs", {"documentId": "harbour"}),
    api("reader", P, "documentRefs", {"entryId": "lift"}),
    api("reader", P, "documentRefs", {}),
    api("reader", P, "documentRefs", {"documentId": "lift"}),
    api("writer", P, "validateRefs"),
    api(
        "writer",
        P,
        "storeDocument",
        {"content": HARBOUR.replace("tons.", "tons. It is red."), "id": "harbour"},
    ),
    api("writer", P, "validateRefs", {"documentId": "harbour"}),
    api("writer", P, "validateRefs", {"repair": True}),
    api("writer", P, "validateRefs", {"documentId": "nobody"}),
    api("reader", P, "validateRefs"),
    api("admin", P, "deleteEntry", {"id": "$mill"}),
    api("writer", P, "deleteEntry", {"id": "tide"}),
    api("curator", P, "restoreEntry", {"id": "tide"}),
]

DOCUMENTS: Script = [*STORE, *READ, *REFER]
