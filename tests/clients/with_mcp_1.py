"""A client of the SDK's first generation; run by its own interpreter."""

import asyncio
import json
import sys

import httpx
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


async def main(address: str, key: str) -> None:
    """List the tools, call one, and say so in one line of JSON."""
    http = httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"})
    if address.startswith("["):
        program, *arguments = json.loads(address)
        given = StdioServerParameters(command=program, args=arguments, env={"QMS_KEY": key})
        streams = stdio_client(given)
    else:
        streams = streamable_http_client(address, http_client=http)
    async with (
        http,
        streams as (reading, writing, *_),
        ClientSession(reading, writing) as session,
    ):
        began = await session.initialize()
        tools = await session.list_tools()
        stored = await session.call_tool("upsertEntry", {"entry": {"kind": "note", "body": "Hi"}})
        missing = await session.call_tool("getEntry", {"id": "absent"})
        said = {
            "revision": began.protocolVersion,
            "tools": [tool.name for tool in tools.tools],
            "stored": stored.structuredContent,
            "text": stored.content[0].text,
            "missing": missing.structuredContent,
            "isError": missing.isError,
        }
        print(json.dumps(said))


asyncio.run(main(*sys.argv[1:]))
