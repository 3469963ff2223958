"""Rows of the command table that belong to the conformance suite: its tools, by their names.

They come in by the same route and pass the same guard and gate as the product's own.
"""

import asyncio
import re
import warnings
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, TypeVar, cast

import msgspec
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    SamplingMessage,
)

from qms.commands.call import Call
from qms.commands.command import Command
from qms.commands.requests import NoArguments, Request
from qms.mcp.calls import ClientProgress
from qms.mcp.message import Context
from qms.memory.access import AccessTier
from qms.memory.errors import ConflictError
from tests.conformance.content import audio, embedded, image, shown, text, told
from tests.conformance.forms import DEFAULTS, ENUMS, USER
from tests.conformance.rounds import ROUNDS

warnings.simplefilter("ignore", MCPDeprecationWarning)


WITH_OWN_SCHEMA = "json_schema_2020_12_tool"
LIMIT_S = 60

T = TypeVar("T")


class Prompted(Request, frozen=True):
    prompt: str


class Asked(Request, frozen=True):
    message: str


class Mirrored(Request, frozen=True):
    """One argument that a header repeats."""

    region: Annotated[str, msgspec.Meta(extra_json_schema={"x-mcp-header": "Region"})]


def context_of(call: Call) -> Context:
    return cast(ClientProgress, call.progress).context


def awaited(call: Call, work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns on the event loop of a call, which runs in a thread."""
    loop = cast(ClientProgress, call.progress).loop
    return asyncio.run_coroutine_threadsafe(work, loop).result(LIMIT_S)


def _simple_text(_call: Call, _request: NoArguments) -> CallToolResult:
    return told("This is a simple text response for testing.")


def _image(_call: Call, _request: NoArguments) -> CallToolResult:
    return shown(image())


def _audio(_call: Call, _request: NoArguments) -> CallToolResult:
    return shown(audio())


def _embedded(_call: Call, _request: NoArguments) -> CallToolResult:
    return shown(embedded("test://embedded-resource", "This is an embedded resource content."))


def _mixed(_call: Call, _request: NoArguments) -> CallToolResult:
    resource = '{"test":"data","value":123}'
    return shown(
        text("Multiple content types test:"),
        image(),
        embedded("test://mixed-content-resource", resource, "application/json"),
    )


def _error(_call: Call, _request: NoArguments) -> CallToolResult:
    raise ConflictError("This tool intentionally returns an error for testing")


def _logging(call: Call, _request: NoArguments) -> CallToolResult:
    context = context_of(call)
    for message in ("started", "processing data", "completed"):
        # The level is asked for by the session or, since 2026-07-28, by the request: the SDK knows.
        sending = context.session.send_log_message(
            "info", f"Tool {message}", None, context.request_id
        )
        awaited(call, sending)
    return told("three messages were logged")


def _progress(call: Call, _request: NoArguments) -> CallToolResult:
    for done in (0, 50, 100):
        call.progress.progress(done, 100)
    return told("progress was reported three times")


def _sampling(call: Call, request: Prompted) -> CallToolResult:
    context = context_of(call)
    message = SamplingMessage(role="user", content=text(request.prompt))
    params = CreateMessageRequestParams(messages=[message], max_tokens=100)
    asking = context.session.send_request(
        CreateMessageRequest(params=params),
        CreateMessageResult,
        None,
        ServerMessageMetadata(related_request_id=context.request_id),
    )
    result = awaited(call, asking)
    return told(f"LLM response: {getattr(result.content, 'text', '')}")


def _eliciting(form: dict[str, Any]) -> Callable[[Call, Any], CallToolResult]:
    def elicit(call: Call, request: Any) -> CallToolResult:
        context = context_of(call)
        message = getattr(request, "message", "Please fill in the form")
        asking = context.session.elicit_form(message, form, context.request_id)
        answer = awaited(call, asking)
        content = msgspec.json.encode(answer.content).decode()
        return told(f"Elicitation completed: action={answer.action}, content={content}")

    return elicit


def _missing_capability(call: Call, _request: NoArguments) -> CallToolResult:
    capabilities = context_of(call).session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        required: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        message = "this tool needs a client that samples"
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, message, required)
    return told("the client samples")


def _change_tools(call: Call, _request: NoArguments) -> CallToolResult:
    """Give the project another name, after which the tools of any project may be others."""
    slug, name = f'slug = "{call.project}"', f'name = "{call.new_local_id()}"'

    def renamed(text: str) -> str:
        unnamed = re.sub(rf"({slug}\n)name = .*\n", r"\1", text)
        return unnamed.replace(f"{slug}\n", f"{slug}\n{name}\n")

    call.context.configuration.edit(renamed)
    return told("the configuration was edited")


def _change_prompts(call: Call, _request: NoArguments) -> CallToolResult:
    document = {"kind": "note", "title": "A prompt", "body": {"text": "x"}, "tags": ["prompt"]}
    entry_id = f"{call.project}:{call.new_local_id()}"
    stamps = {"createdUtc": "2026-01-01T00:00:00Z", "updatedUtc": "2026-01-01T00:00:00Z"}
    whole = {"schemaVersion": 1, "id": entry_id, **document, "timestamps": stamps}
    call.commit(lambda draft: draft.put(whole))
    return told("a prompt was kept")


def _reconnection(call: Call, _request: NoArguments) -> CallToolResult:
    """Close the stream of this call before the answer: the client has to open it again."""
    close = context_of(call).close_sse_stream

    async def close_now() -> None:
        if close is not None:
            await close()

    awaited(call, close_now())
    return told("the stream was closed before this answer")


def _mirrored(_call: Call, request: Mirrored) -> CallToolResult:
    return told(request.region)


def row(
    name: str,
    handler: Callable[[Call, Any], Any],
    request: type[Request] = NoArguments,
    *,
    least: AccessTier = AccessTier.READER,
) -> Command:
    return Command(
        name=name,
        toolset="core",
        least=least,
        request=request,
        response=CallToolResult,
        handler=handler,
        help=f"A tool of the conformance suite: {name}",
        example={},
    )


ROWS: tuple[Command, ...] = (
    row("test_simple_text", _simple_text),
    row("test_image_content", _image),
    row("test_audio_content", _audio),
    row("test_embedded_resource", _embedded),
    row("test_multiple_content_types", _mixed),
    row("test_error_handling", _error),
    row("test_tool_with_logging", _logging),
    row("test_logging_tool", _logging),
    row("test_tool_with_progress", _progress),
    row("test_sampling", _sampling, Prompted),
    row("test_elicitation", _eliciting(USER), Asked),
    row("test_elicitation_sep1034_defaults", _eliciting(DEFAULTS)),
    row("test_elicitation_sep1330_enums", _eliciting(ENUMS)),
    row("test_missing_capability", _missing_capability),
    row("test_trigger_tool_change", _change_tools, least=AccessTier.ADMIN),
    row("test_trigger_prompt_change", _change_prompts, least=AccessTier.WRITER),
    row("test_header_mirror", _mirrored, Mirrored),
    row("test_reconnection", _reconnection),
    row(WITH_OWN_SCHEMA, _simple_text),
    *(row(name, handler) for name, handler in ROUNDS.items()),
)
