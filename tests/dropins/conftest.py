"""A house whose endpoint allows the toolsets of other servers, and their clients' way in."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tests.support.house import House
from tests.support.mcp import McpClient


class Told(msgspec.Struct, frozen=True):
    """What a tool answered: to the reader, and to a program."""

    text: str
    content: Any
    is_error: bool


Tool = Callable[..., Told]
ToolMaker = Callable[..., Tool]


@pytest.fixture
def tools(house: House) -> ToolMaker:
    """Make a caller of tools: toolset, user."""
    house.allow("core", "lifecycle", "aiMemory", "serverMemory")

    def make(toolset: str, user: str = "admin") -> Tool:
        client = McpClient(house.client, user, query=f"?toolsets={toolset}")

        def call(name: str, /, **arguments: Any) -> Told:
            result = client.result("tools/call", {"name": name, "arguments": arguments})
            [content] = result["content"]
            return Told(content["text"], result["structuredContent"], result["isError"])

        return call

    return make
