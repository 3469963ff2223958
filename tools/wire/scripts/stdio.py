"""MCP over standard input and output: a root of its own, and a running server."""

from typing import Any

from tools.wire.steps import Script, api, stdio

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "recorder", "version": "1"},
}


def call(name: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """Return the call of a tool."""
    return "tools/call", {"name": name, "arguments": arguments}


TALK = [
    ("initialize", HELLO),
    ("notifications/initialized", {}),
    ("ping", {}),
    call("upsertEntry", entry={"kind": "fact", "id": "over-stdio", "body": "Said over a pipe"}),
    call("getEntry", id="over-stdio"),
    call("getEntry", id="nobody"),
    call("noSuchTool"),
    ("resources/read", {"uri": "memory://default/over-stdio"}),
    ("prompts/list", {}),
    ("no/such/method", {}),
]

STDIO: Script = [
    stdio("", "mcp --root $pipedRoot", TALK),
    stdio("", "mcp --root $pipedRoot --toolsets nonsense", TALK[:1]),
    stdio("", "mcp --root $pipedRoot --project absent", TALK[:1]),
    stdio("", "mcp --root $thirdRoot", TALK),
    stdio("writer", "bridge --url $url --project default", TALK),
    stdio("reader", "bridge --url $url --project default", TALK[:4]),
    stdio("stranger", "bridge --url $url --project default", TALK[:1]),
    stdio("writer", "bridge --url $url --project absent", TALK[:1]),
    api("reader", "default", "getEntry", {"id": "over-stdio"}),
]
