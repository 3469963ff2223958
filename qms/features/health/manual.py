"""The help pages for agents and people, and their URLs."""

from enum import StrEnum
from functools import cache
from typing import Literal

from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.requests import Request, Response
from qms.memory.access import AccessTier
from qms.resources import find_resource

SCHEMA_URL = "/docs/schema"
OPENAPI_URL = "/openapi.json"


class Page(StrEnum):
    """The pages, by the file that holds each."""

    USAGE = "docs/agent-usage.md"
    FOR_AGENTS = "docs/help-agent.md"
    FOR_PEOPLE = "docs/help-end-user.md"


PAGE_URLS = {
    Page.USAGE: "/docs/agent-usage",
    Page.FOR_AGENTS: "/admin/help/agent",
    Page.FOR_PEOPLE: "/admin/help/end-user",
}


class UsageRequest(Request, frozen=True):
    """The format of the page."""

    format: Literal["markdown"] = "markdown"


class UsageAnswer(Response, frozen=True):
    """The page as Markdown."""

    content: str


@command(
    tier=AccessTier.READER,
    toolset="core",
    help="Read how to use this memory well. Use it once, if you will store much",
    example={"format": "markdown"},
    read_only=True,
    idempotent=True,
    brief=True,
)
def get_usage_doc(_call: Call, _request: UsageRequest) -> UsageAnswer:
    """Return the usage page for agents."""
    return UsageAnswer(content=read_page(Page.USAGE))


@cache
def read_page(page: Page) -> str:
    """Return the text of a page that ships with the program."""
    return find_resource(page).read_text(encoding="utf-8")
