"""Builds the SDK server of one project: handlers, instructions for clients, completions."""

from typing import Any

import msgspec
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp_types import (
    CallToolRequestParams,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    SetLevelRequestParams,
)

from qms.features.health.instructions import instructions
from qms.features.lists.completions import MAX_COMPLETIONS
from qms.mcp.calls import Calls
from qms.mcp.message import Context, project_of, toolsets_of
from qms.mcp.pages import Offers
from qms.mcp.prompts import Prompts
from qms.mcp.resources import Resources
from qms.mcp.sessions import Sessions
from qms.mcp.tools import Tools
from qms.version import __version__

_GREETING_METHODS = "initialize", "server/discover"


async def instruct(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Add instructions for this client's toolsets to its greeting (SDK middleware).

    One server of a project serves clients with different toolsets.
    """
    result = await call_next(ctx)
    if ctx.method not in _GREETING_METHODS or not isinstance(result, dict):
        return result
    return {**result, "instructions": instructions(project_of(ctx), toolsets_of(ctx))}


FIELDS = frozenset({"id", "tag", "kind", "namespace"})
"""Arguments that are completed with values of the project's entries."""


class Completions:
    """Completes arguments in the project of the request."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def complete(self, context: Context, params: CompleteRequestParams) -> CompleteResult:
        """Return the matching values; none for a free-text argument."""
        argument = params.argument
        values = []
        if argument.name in FIELDS:
            values = await self._calls.complete(context, argument.name, argument.value)
        shown, has_more = values[:MAX_COMPLETIONS], len(values) > MAX_COMPLETIONS
        return CompleteResult(completion=Completion(values=shown, has_more=has_more))


NAME = "quick-memory-server"
TITLE = "Quick Memory Server"

_STABLE_MS = 60_000
_HINTS: dict[CacheableMethod, CacheHint] = {
    "server/discover": CacheHint(ttl_ms=_STABLE_MS),
    "tools/list": CacheHint(ttl_ms=_STABLE_MS),
    "resources/templates/list": CacheHint(ttl_ms=_STABLE_MS),
    "resources/list": CacheHint(),
    "resources/read": CacheHint(),
    "prompts/list": CacheHint(),
}


class Handlers(msgspec.Struct, frozen=True):
    """The handlers that the servers of all projects share."""

    tools: Tools
    resources: Resources
    prompts: Prompts
    completions: Completions

    @classmethod
    def made(cls, calls: Calls, offers: Offers) -> "Handlers":
        """Return handlers that use these calls."""
        return cls(
            Tools(calls), Resources(calls, offers), Prompts(calls, offers), Completions(calls)
        )


class ProjectServer(Server[Any]):
    """The SDK server of one project; it announces changes of its lists."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return what `initialize` answers."""
        changing = NotificationOptions(
            prompts_changed=True, resources_changed=True, tools_changed=True
        )
        return super().create_initialization_options(
            notification_options or changing, experimental_capabilities, extensions
        )


def project_server(project: str, handlers: Handlers, sessions: Sessions) -> ProjectServer:
    """Return the server of a project."""
    server = ProjectServer(
        NAME,
        version=__version__,
        title=TITLE,
        instructions=instructions(project, frozenset({"core"})),
        cache_hints=_HINTS,
        get_tool_input_schema=handlers.tools.mirrored_schema,
        on_list_tools=handlers.tools.list_all,
        on_list_resources=handlers.resources.list_all,
        on_list_resource_templates=handlers.resources.list_templates,
        on_read_resource=handlers.resources.read,
        on_subscribe_resource=sessions.follow,
        on_unsubscribe_resource=sessions.unfollow,
        on_subscriptions_listen=sessions.listen,
        on_list_prompts=handlers.prompts.list_all,
        on_get_prompt=handlers.prompts.get,
        on_completion=handlers.completions.complete,
    )
    server.add_request_handler("tools/call", CallToolRequestParams, handlers.tools.call)
    # For revisions before 2026-07-28; the constructor's parameter would log a deprecation warning.
    server.add_request_handler("logging/setLevel", SetLevelRequestParams, sessions.set_log_level)
    server.middleware[:] = [sessions.watch, instruct]
    return server
