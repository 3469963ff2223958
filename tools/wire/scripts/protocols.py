"""MCP beside its tools, sessions of older revisions, and what HTTP itself refuses."""

from typing import Any

from tools.wire.steps import Script, Step, api, http, mcp, tool

P = "chat"
ALL = "?toolsets=core,lifecycle,system"
ACCEPT = {"Accept": "application/json, text/event-stream"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "recorder", "version": "1"},
    },
}


def said(method: str, params: Any = None, number: int | None = 2) -> Step:
    """Return a message inside of the session."""
    message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
    headers = {**ACCEPT, "Mcp-Session-Id": "$session", "MCP-Protocol-Version": "2025-11-25"}
    body = message if number is None else {**message, "id": number}
    return http("writer", f"POST /mcp/{P}", body, headers)


MODERN: Script = [
    tool(
        "writer",
        P,
        "upsertEntry",
        {
            "entry": {
                "kind": "fact",
                "id": "sky",
                "body": "Blue",
                "tags": ["colour"],
                "namespace": "sky",
            }
        },
    ),
    tool(
        "writer",
        P,
        "upsertEntry",
        {
            "entry": {
                "kind": "note",
                "id": "greet",
                "tags": ["prompt"],
                "title": "Greet somebody",
                "body": "Say hello to {{name}} in {{language}}",
            }
        },
    ),
    tool("writer", P, "upsertEntry", {"entry": {"kind": "dream"}}),
    tool("reader", P, "upsertEntry", {"entry": {"kind": "note", "body": "x"}}),
    tool("reader", P, "getEntry", {"id": "sky"}),
    tool("reader", P, "getEntry", {"id": "nobody"}),
    tool("reader", P, "searchEntries", {"query": {"text": "blue"}, "format": "toonCompact"}),
    tool("reader", P, "listEntries", {"format": "toon"}),
    tool("reader", P, "recall", {"context": "sky"}),
    tool("reader", P, "recall", {"context": "sky"}, ALL),
    tool("reader", P, "noSuchTool"),
    tool("admin", P, "verifyStore", {}, ALL),
    tool("reader", "closed", "getEntry", {"id": "sky"}),
    tool("reader", "absent", "getEntry", {"id": "sky"}),
    tool("", P, "getEntry", {"id": "sky"}),
    mcp("reader", P, "tools/list", {}, "?toolsets=nonsense"),
    mcp("reader", "bare", "tools/list", {}, "?toolsets=system"),
    mcp("reader", P, "resources/list"),
    mcp("reader", P, "resources/read", {"uri": "memory://chat/sky"}),
    mcp("reader", P, "resources/read", {"uri": "memory://chat/?tag=colour"}),
    mcp("reader", P, "resources/read", {"uri": "memory://shared/common"}),
    mcp("reader", P, "resources/read", {"uri": "memory://chat/nobody"}),
    mcp("reader", P, "resources/read", {"uri": "memory://closed/x"}),
    mcp("reader", P, "resources/read", {"uri": "help://end-user"}),
    mcp("reader", P, "resources/read", {"uri": "file:///etc/hosts"}),
    mcp("reader", P, "prompts/list"),
    mcp("reader", P, "prompts/get", {"name": "recall-first", "arguments": {"namespace": "sky"}}),
    mcp("reader", P, "prompts/get", {"name": "memory-workflow"}),
    mcp(
        "reader",
        P,
        "prompts/get",
        {"name": "greet", "arguments": {"name": "Ada", "language": "French"}},
    ),
    mcp("reader", P, "prompts/get", {"name": "greet"}),
    mcp("reader", P, "prompts/get", {"name": "nobody"}),
    mcp(
        "reader",
        P,
        "completion/complete",
        {
            "ref": {"type": "ref/resource", "uri": "memory://chat/{id}"},
            "argument": {"name": "id", "value": "s"},
        },
    ),
    mcp(
        "reader",
        P,
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "recall-first"},
            "argument": {"name": "namespace", "value": ""},
        },
    ),
    mcp("reader", P, "no/such/method"),
    mcp("reader", P, "ping"),
]

SESSION: Script = [
    http("writer", f"POST /mcp/{P}", INITIALIZE, ACCEPT, session="@mcp-session-id"),
    said("notifications/initialized", number=None),
    said("ping"),
    said("tools/call", {"name": "getEntry", "arguments": {"id": "sky"}}),
    said("tools/call", {"name": "getEntry", "arguments": {"id": "nobody"}}),
    said(
        "tools/call",
        {
            "name": "bulkImport",
            "arguments": {"entries": [{"kind": "note", "id": "in-session", "body": "x"}]},
        },
    ),
    said("logging/setLevel", {"level": "debug"}),
    said("no/such/method"),
    http(
        "reader",
        f"POST /mcp/{P}",
        {"jsonrpc": "2.0", "id": 3, "method": "ping"},
        {**ACCEPT, "Mcp-Session-Id": "$session", "MCP-Protocol-Version": "2025-11-25"},
    ),
    http(
        "writer",
        f"DELETE /mcp/{P}",
        None,
        {"Mcp-Session-Id": "$session", "MCP-Protocol-Version": "2025-11-25"},
    ),
    said("ping"),
]

PLAIN: Script = [
    http("", "GET /health"),
    http("", "GET /"),
    http("", "GET /nothing/here"),
    http("", "GET /metrics"),
    http("writer", "GET /metrics"),
    http("", "GET /admin/help/nobody"),
    http("writer", f"GET /api/v1/{P}/getEntry"),
    http("writer", f"PUT /api/v1/{P}/getEntry", {"id": "sky"}),
    http("writer", f"POST /api/v1/{P}/getEntry", "not json"),
    http("writer", f"POST /api/v1/{P}/getEntry", '{"id": "sky", "id": "sky"}'),
    http("writer", f"POST /api/v1/{P}/getEntry", "[]"),
    http("writer", f"POST /api/v1/{P}/getEntry", '{"id": "\\ud800"}'),
    http("writer", f"POST /api/v1/{P}/getEntry", {"id": "sky"}, {"Content-Type": "text/plain"}),
    http("writer", f"POST /api/v1/{P}/getEntry", {"id": "sky"}, {"Host": "evil.example"}),
    http("writer", f"POST /api/v1/{P}/getEntry", {"id": "sky"}, {"Origin": "https://evil.example"}),
    http("", f"POST /api/v1/{P}/getEntry", {"id": "sky"}, {"X-Api-Key": "qms_wrong"}),
    http("writer", f"POST /api/v1/{P}/getEntry", {"id": "sky"}, {"X-Agent-Id": "ai:header"}),
    http(
        "writer",
        f"POST /api/v1/{P}/upsertEntry",
        {"entry": {"kind": "note", "id": "by-agent", "body": "x"}},
        {"X-Agent-Id": "ai:header"},
    ),
    http("writer", f"POST /api/v1/{P}/getEntry", '{"a":' * 70 + "1" + "}" * 70),
    http("writer", "GET /" + "x" * 9000),
    http("writer", f"OPTIONS /api/v1/{P}/getEntry"),
    http("writer", f"GET /mcp/{P}"),
    http("writer", f"POST /mcp/{P}", "not json", ACCEPT),
    http("writer", f"POST /mcp/{P}", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, ACCEPT),
    api("reader", P, "getEntry", {"id": "by-agent"}),
]

CLOSED: Script = [
    api("reader", "closed", command)
    for command in (
        "archiveStats",
        "capabilities",
        "describe",
        "listArchive",
        "listContradictions",
        "memory_archive_stats",
        "memory_capabilities",
    )
]

PROTOCOLS: Script = [*MODERN, *SESSION, *PLAIN, *CLOSED]
