"""MCP tools: the commands that the caller may use, and their results."""

from typing import Any

import msgspec
from mcp.server.context import HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel

from qms.commands.answers import Rendered, Spoken
from qms.commands.command import Command
from qms.commands.schemas import MIRROR_KEYWORD, request_schema, response_schema
from qms.http.answers import encode
from qms.http.errors import note_unexpected
from qms.mcp.calls import Calls, protocol_error
from qms.mcp.message import Context, admission_of
from qms.memory.errors import NotFoundError, QmsError

NAME_CHARACTERS = 64

LEAN_TOOLSETS = frozenset({"lite"})
"""Clients of these toolsets alone get the shortest list of tools."""


class Tools:
    """Lists and calls the tools of the project of the request."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._made: dict[tuple[str, bool], Tool] = {}
        self._mirrored: dict[str, dict[str, Any] | None] = {}

    async def list_all(
        self, context: Context, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Return the tools that the caller's tier and toolsets allow, on one page."""
        admission = admission_of(context)
        is_lean = (admission.toolsets or frozenset()) <= LEAN_TOOLSETS
        return ListToolsResult(
            tools=[self._tool(row, is_lean=is_lean) for row in admission.offered]
        )

    async def call(self, context: Context, params: CallToolRequestParams) -> HandlerResult:
        """Run a command and return its response or its error as a tool result."""
        admission = admission_of(context).with_command(params.name)
        row = admission.row
        if row is None or row.toolsets.isdisjoint(admission.toolsets or ()):
            message = f"Unknown tool: {params.name[:NAME_CHARACTERS]}"
            raise protocol_error(NotFoundError(message, command=params.name[:NAME_CHARACTERS]))
        try:
            return await self._calls.run(context, admission, params.arguments or {}, tool_result)
        except QmsError as error:
            return _failed(error.as_object())
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - the request boundary: logged, the server goes on
            return _failed(note_unexpected(row.name, error))

    def mirrored_schema(self, name: str) -> dict[str, Any] | None:
        """Return a tool's input schema if headers must repeat some of it; read at every call."""
        row = self._calls.gate.context.row(name, in_project=True)
        if row is None:
            return None
        if name not in self._mirrored:
            schema = request_schema(row)
            self._mirrored[name] = schema if MIRROR_KEYWORD in repr(schema) else None
        return self._mirrored[name]

    def _tool(self, row: Command, *, is_lean: bool) -> Tool:
        made = self._made.get((row.name, is_lean))
        if made is None:
            made = lean_tool_of(row) if is_lean else tool_of(row)
            self._made[row.name, is_lean] = made
        return made


def tool_result(answer: Any) -> HandlerResult:
    """Return a response as text and structured content; an SDK result stays as it is."""
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
    # A plain dictionary: the SDK would convert a model back to one, and validates both.
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": structured,
        "isError": is_error,
        "resultType": "complete",
    }


def tool_of(row: Command) -> Tool:
    """Return the tool description of a command."""
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


def lean_tool_of(row: Command) -> Tool:
    """Return the tool description of a command for a short list.

    It has no output schema, which no model reads, and only the hints that differ from the
    defaults of the protocol.
    """
    hints = ToolAnnotations(
        read_only_hint=True if row.read_only else None,
        destructive_hint=None if row.destructive or row.read_only else False,
        idempotent_hint=True if row.idempotent and not row.read_only else None,
        open_world_hint=False,
    )
    return Tool(
        name=row.name, description=row.help, input_schema=request_schema(row), annotations=hints
    )


def _output_schema(row: Command) -> dict[str, Any] | None:
    """Return the output schema of a command, or None if it answers with SDK types."""
    if issubclass(row.response, BaseModel):
        return None
    schema = response_schema(row)
    # Many clients validate errors against it too, so no field is required.
    return {key: value for key, value in schema.items() if key != "required"}


def title_of(name: str) -> str:
    """Return a name in camel or snake case as words."""
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)
    words = words.replace("_", " ")
    return words[:1].upper() + words[1:]
