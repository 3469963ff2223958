"""A client of the SDK's second generation; run by its own interpreter."""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main(url: str, key: str, mode: str = "auto") -> None:
    """List the tools, call one, and say so in one line of JSON."""
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"})
    async with http, Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        tools = await client.list_tools()
        stored = await client.call_tool("upsertEntry", {"entry": {"kind": "note", "body": "Hi"}})
        missing = await client.call_tool("getEntry", {"id": "absent"})
        said = {
            "revision": client.session.protocol_version,
            "tools": [tool.name for tool in tools.tools],
            "stored": stored.structured_content,
            "text": stored.content[0].text,
            "missing": missing.structured_content,
            "isError": missing.is_error,
        }
        print(json.dumps(said))


asyncio.run(main(*sys.argv[1:]))
