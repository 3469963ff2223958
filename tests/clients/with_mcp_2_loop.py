"""An agent's first minute without a model, by the Python SDK; run by its own interpreter."""

import asyncio
import json
import sys
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


async def main(address: str, key: str, text: str) -> None:
    """Recall, remember with a wrong call, follow its error, recall again; print what was seen."""
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"})
    if address.startswith("["):
        program, *arguments = json.loads(address)
        given = StdioServerParameters(command=program, args=arguments, env={"QMS_KEY": key})
        streams = stdio_client(given)
    else:
        streams = streamable_http_client(address, http_client=http)
    async with http, Client(streams) as client:

        async def call(name: str, arguments: dict[str, Any]) -> Any:
            result = await client.call_tool(name, arguments)
            assert json.loads(result.content[0].text) == result.structured_content
            assert result.is_error == ("error" in result.structured_content)
            return result.structured_content

        tools = await client.list_tools()
        first = await call("coldStart", {})
        before = await call("recall", {"query": text})
        refused = await call("remember", {"txt": text, "kind": "preference"})
        stored = await call("remember", refused["error"]["details"]["example"])
        after = await call("recall", {"query": text})
        said = {
            "tools": [tool.name for tool in tools.tools],
            "instructions": client.instructions,
            "first": first,
            "before": before,
            "refused": refused,
            "stored": stored,
            "after": after,
        }
        print(json.dumps(said))


asyncio.run(main(*sys.argv[1:]))
