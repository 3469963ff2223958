"""One project's MCP server: the SDK's, with the handlers of the house."""

from typing import Any

import msgspec
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp_types import CallToolRequestParams, SetLevelRequestParams

from qms.api.mcp.calling import Calls
from qms.api.mcp.completions import Completions
from qms.api.mcp.instructions import instruct, instructions
from qms.api.mcp.offers import Offers
from qms.api.mcp.prompts import Prompts
from qms.api.mcp.resources import Resources
from qms.api.mcp.sessions import Sessions
from qms.api.mcp.tools import Tools
from qms.version import __version__

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
    """What answers, whichever project is visited."""

    tools: Tools
    resources: Resources
    prompts: Prompts
    completions: Completions

    @classmethod
    def made(cls, calls: Calls, offers: Offers) -> "Handlers":
        """Return the handlers that work through these calls."""
        return cls(
            Tools(calls), Resources(calls, offers), Prompts(calls, offers), Completions(calls)
        )


class ProjectServer(Server[Any]):
    """The SDK's server of one project, which says that its lists change."""

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
    # Revisions before 2026-07-28 have it; the constructor's own parameter warns of that.
    server.add_request_handler("logging/setLevel", SetLevelRequestParams, sessions.set_log_level)
    server.middleware[:] = [sessions.watch, instruct]
    return server
