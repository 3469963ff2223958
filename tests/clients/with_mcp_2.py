"""A client of the SDK's second generation; run by its own interpreter."""

import asyncio
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


async def main(address: str, key: str, mode: str = "auto") -> None:
    """List the tools, call one, and say so in one line of JSON."""
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"})
    if address.startswith("["):
        program, *arguments = json.loads(address)
        given = StdioServerParameters(command=program, args=arguments, env={"QMS_KEY": key})
        streams = stdio_client(given)
    else:
        streams = streamable_http_client(address, http_client=http)
    async with http, Client(streams, mode=mode) as client:
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
