"""Tools: the rows of the command table that a visitor may use, and what they answer."""

from typing import Any

import msgspec
from mcp.server.context import HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel

from qms.api.answers import encode
from qms.api.errors import note_unexpected
from qms.api.mcp.calling import Calls
from qms.api.mcp.visits import Context, visit_of
from qms.domain.errors import QmsError
from qms.service.answers import Rendered, Spoken
from qms.service.calls import Command
from qms.service.schemas import request_schema, response_schema

NAME_CHARACTERS = 64
MIRROR_KEYWORD = "x-mcp-header"


class Tools:
    """Lists and calls the tools of whichever project is visited."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._made: dict[str, Tool] = {}
        self._mirrored: dict[str, dict[str, Any] | None] = {}

    async def list_all(
        self, context: Context, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Return what the visitor's tier and toolsets allow, on one page."""
        visit = visit_of(context)
        rows = self._calls.services.offered(visit.who, visit.project, visit.toolsets)
        return ListToolsResult(tools=[self._tool(row) for row in rows])

    async def call(self, context: Context, params: CallToolRequestParams) -> HandlerResult:
        """Return a command's response, or its error, as the result of a tool."""
        row = self._calls.services.row(params.name)
        if row is None or row.toolset not in visit_of(context).toolsets:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:NAME_CHARACTERS]}")
        try:
            return await self._calls.run(context, row.name, params.arguments or {}, tool_result)
        except QmsError as error:
            return _failed(error.as_object())
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - the request boundary: logged, the server goes on
            return _failed(note_unexpected(row.name, error))

    def mirrored_schema(self, name: str) -> dict[str, Any] | None:
        """Return what a tool takes if headers are to repeat some of it; asked at every call."""
        row = self._calls.services.row(name)
        if row is None:
            return None
        if name not in self._mirrored:
            schema = request_schema(row)
            self._mirrored[name] = schema if MIRROR_KEYWORD in repr(schema) else None
        return self._mirrored[name]

    def _tool(self, row: Command) -> Tool:
        if row.name not in self._made:
            self._made[row.name] = tool_of(row)
        return self._made[row.name]


def tool_result(answer: Any) -> HandlerResult:
    """Return a response as text and as structured content; a result of the protocol as it is."""
    if isinstance(answer, BaseModel):
        return answer
    if isinstance(answer, Rendered):
        shown = {"format": answer.format, "count": answer.count}
        return _result(answer.text, shown, is_error=False)
    if isinstance(answer, Spoken):
        content = msgspec.json.decode(encode(answer.content))
        return _result(answer.text, content, is_error=False)
    return _encoded(answer, is_error=False)


def _failed(error: dict[str, Any]) -> HandlerResult:
    return _encoded(error, is_error=True)


def _encoded(answer: Any, *, is_error: bool) -> dict[str, Any]:
    text = encode(answer)
    return _result(text.decode(), msgspec.json.decode(text), is_error=is_error)


def _result(text: str, structured: dict[str, Any], *, is_error: bool) -> dict[str, Any]:
    # A plain dictionary: the SDK checks it anyway, and a model would be taken apart again.
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": structured,
        "isError": is_error,
        "resultType": "complete",
    }


def tool_of(row: Command) -> Tool:
    """Return how a row of the command table looks to a client."""
    return Tool(
        name=row.name,
        description=row.help,
        input_schema=request_schema(row),
        output_schema=_output_schema(row),
        annotations=ToolAnnotations(
            title=title_of(row.name),
            read_only_hint=row.read_only,
            destructive_hint=row.destructive,
            idempotent_hint=row.idempotent,
            open_world_hint=False,
        ),
    )


def _output_schema(row: Command) -> dict[str, Any] | None:
    """Return what a row answers, unless it does so in the protocol's own types."""
    if issubclass(row.response, BaseModel):
        return None
    schema = response_schema(row)
    # Many clients hold errors to it too, although it is meant for successes: nothing is required.
    return {key: value for key, value in schema.items() if key != "required"}


def title_of(name: str) -> str:
    """Return a name in camel or snake case as people write it."""
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)
    words = words.replace("_", " ")
    return words[:1].upper() + words[1:]
