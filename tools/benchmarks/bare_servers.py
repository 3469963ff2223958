"""Baselines of the MCP figures: the SDK with one trivial tool, and one JSON route.

Run as a program: `python -m tools.benchmarks.bare_servers sdk|route`; prints its URL.
"""

import socket
import sys
from typing import Any

import uvicorn


def sdk_app() -> Any:
    """Return a server of the SDK alone, with one tool that returns what it is given."""
    from mcp.server.lowlevel import Server
    from mcp_types import (
        CallToolRequestParams,
        CallToolResult,
        ListToolsResult,
        PaginatedRequestParams,
        TextContent,
        Tool,
    )

    schema = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    tool = Tool(name="getEntry", description="Echo", input_schema=schema)

    async def list_tools(_context: Any, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[tool])

    async def call_tool(_context: Any, params: CallToolRequestParams) -> CallToolResult:
        text = str((params.arguments or {}).get("id"))
        return CallToolResult(content=[TextContent(type="text", text=text)])

    server: Server[Any] = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    return server.streamable_http_app(streamable_http_path="/mcp/default")


def route_app() -> Any:
    """Return one route of Starlette alone, which answers with what it is given."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def echo(request: Request) -> JSONResponse:
        return JSONResponse(await request.json())

    return Starlette(routes=[Route("/api/v1/default/getEntry", echo, methods=["POST"])])


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        assert sockets is not None
        host, port = sockets[0].getsockname()
        print(f"listening: http://{host}:{port}", flush=True)


def main() -> None:
    application = {"sdk": sdk_app, "route": route_app}[sys.argv[1]]()
    # As in the server: without the protocol, asyncio does not disable Nagle's algorithm.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    config = uvicorn.Config(
        application, loop="asyncio", http="h11", ws="none", log_level="error", access_log=False
    )
    _Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
