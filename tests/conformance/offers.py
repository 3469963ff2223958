"""Pages and prompts that belong to the conformance suite."""

from mcp_types import (
    ContentBlock,
    GetPromptResult,
    InputRequiredResult,
    PromptMessage,
)

from qms.mcp.message import Context
from qms.mcp.pages import (
    STANDARD,
    Arguments,
    Offers,
    Page,
    PagePattern,
    PromptArgument,
    PromptRow,
    said,
)
from tests.conformance.content import PNG, embedded, image, text
from tests.conformance.forms import STRING
from tests.conformance.rounds import content, elicited, needs, responses

PAGES = (
    Page(
        uri="test://static-text",
        name="static-text",
        title="Static text",
        description="A page of the conformance suite",
        mime_type="text/plain",
        read=lambda: "This is the content of the static text resource.",
    ),
    Page(
        uri="test://static-binary",
        name="static-binary",
        title="Static binary",
        description="A page of the conformance suite",
        mime_type="image/png",
        read=lambda: PNG,
    ),
    Page(
        uri="test://watched-resource",
        name="watched-resource",
        title="Watched resource",
        description="A page of the conformance suite",
        mime_type="text/plain",
        read=lambda: "Watched",
    ),
)

PATTERNS = (
    PagePattern(
        uri_template="test://template/{id}/data",
        name="template",
        title="Template",
        description="Pages of the conformance suite",
        mime_type="application/json",
        read=lambda given: (
            f'{{"id":"{given["id"]}","templateTest":true,"data":"Data for ID: {given["id"]}"}}'
        ),
    ),
)


def _messages(*blocks: ContentBlock) -> GetPromptResult:
    return GetPromptResult(messages=[PromptMessage(role="user", content=block) for block in blocks])


async def _simple(_context: Context, _arguments: Arguments) -> GetPromptResult:
    return said("This is a simple prompt for testing.")


async def _with_arguments(_context: Context, given: Arguments) -> GetPromptResult:
    return said(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")


async def _with_resource(_context: Context, given: Arguments) -> GetPromptResult:
    return _messages(
        embedded(given["resourceUri"], "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
    )


async def _with_image(_context: Context, _arguments: Arguments) -> GetPromptResult:
    return _messages(image(), text("Please analyze the image above."))


async def _in_rounds(
    context: Context, _arguments: Arguments
) -> GetPromptResult | InputRequiredResult:
    given = content(responses(context.params).get("user_context"), "context")
    if given is None:
        question = "What context should the prompt use?"
        return needs({"user_context": elicited(question, context=STRING)})
    return said(f"The context is {given}")


def _prompt(name: str, render: object, *arguments: str) -> PromptRow:
    return PromptRow(
        name=name,
        title=name.replace("_", " "),
        description="A prompt of the conformance suite",
        arguments=tuple(PromptArgument(one, "for testing", is_required=True) for one in arguments),
        render=render,  # type: ignore[arg-type]  # any of the functions above
    )


PROMPTS = (
    _prompt("test_simple_prompt", _simple),
    _prompt("test_prompt_with_arguments", _with_arguments, "arg1", "arg2"),
    _prompt("test_prompt_with_embedded_resource", _with_resource, "resourceUri"),
    _prompt("test_prompt_with_image", _with_image),
    _prompt("test_input_required_result_prompt", _in_rounds),
)

OFFERS = Offers(STANDARD.pages + PAGES, STANDARD.patterns + PATTERNS, STANDARD.prompts + PROMPTS)
"""What the product offers, and what the suite asks for."""
