"""A client of fastmcp; run by its own interpreter."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport


async def main(address: str, key: str) -> None:
    """List the tools, call one, and say so in one line of JSON."""
    if address.startswith("["):
        program, *arguments = json.loads(address)
        transport = StdioTransport(program, arguments, env={"QMS_KEY": key})
    else:
        transport = StreamableHttpTransport(address, headers={"Authorization": f"Bearer {key}"})
    async with Client(transport) as client:
        tools = await client.list_tools()
        entry = {"entry": {"kind": "note", "body": "Hi"}}
        stored = await client.call_tool("upsertEntry", entry)
        missing = await client.call_tool("getEntry", {"id": "absent"}, raise_on_error=False)
        said = {
            "tools": [tool.name for tool in tools],
            "stored": stored.structured_content,
            "text": stored.content[0].text,
            "missing": missing.structured_content,
            "isError": missing.is_error,
        }
        print(json.dumps(said))


asyncio.run(main(*sys.argv[1:]))
