"""The pages that explain the server to agents and to people, and where they are served."""

from enum import StrEnum
from functools import cache
from typing import Literal

from qms.resources import find_resource
from qms.service.calls import Call
from qms.service.requests import Request, Response

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
    """In which form."""

    format: Literal["markdown"] = "markdown"


class UsageAnswer(Response, frozen=True):
    """The page as Markdown."""

    content: str


def get_usage_doc(_call: Call, _request: UsageRequest) -> UsageAnswer:
    """Return how an agent uses this server."""
    return UsageAnswer(content=read_page(Page.USAGE))


@cache
def read_page(page: Page) -> str:
    """Return a page, which ships with the program."""
    return find_resource(page).read_text(encoding="utf-8")
