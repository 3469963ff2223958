"""The MCP endpoints of all projects: made when somebody asks, dropped when nobody does."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import lru_cache, partial

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.subscriptions import ServerEvent, ToolsListChanged
from starlette.types import Message, Receive, Scope, Send

from qms.api.mcp.changes import entry_events, list_events
from qms.api.mcp.server import Handlers, project_server
from qms.api.mcp.sessions import Sessions
from qms.api.mcp.transports import SessionManager
from qms.config.settings import SHARED_SLUG, Settings
from qms.domain.changes import ChangeSet
from qms.service.commands import Services

MAX_SESSIONS = 1000
"""How many sessions a project holds."""

USER_SESSIONS = 100
"""How many of them one user holds; a further one ends the oldest."""

IDLE_S = 30 * 60.0
"""A session without a request, or an endpoint without anybody, goes after this time."""

MAX_AGE_S = 24 * 3600.0
"""No session outlives this; its client opens another."""

SWEEP_S = 60.0

_ANY_BYTES = 2**62
"""The door has bounded the body already, by the limits in force."""

log = logging.getLogger(__name__)


class Endpoint:
    """One project's server and its sessions."""

    def __init__(self, project: str, handlers: Handlers) -> None:
        self.project = project
        self.sessions = Sessions()
        self.used_at = anyio.current_time()
        self._stop = anyio.Event()
        self._manager = SessionManager(
            project_server(project, handlers, self.sessions),
            session_idle_timeout=IDLE_S,
            max_sessions=MAX_SESSIONS,
            max_request_body_size=_ANY_BYTES,
        )

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until told to stop."""
        async with self._manager.run():
            task_status.started()
            await self._stop.wait()

    async def answer(
        self, user: str, scope: Scope, receive: Receive, send: Send, *, is_brief: bool
    ) -> None:
        """Let the SDK answer a request of this user."""
        self.used_at = anyio.current_time()
        scope["user"] = _sdk_user(user)
        await self._manager.answer(scope, receive, send, is_brief=is_brief)

    async def make_room(self, user: str) -> None:
        """End the oldest sessions of a user who has as many as one may have."""
        own = [identity for identity, session in self.sessions if session.who.user == user]
        for identity in own[: len(own) + 1 - USER_SESSIONS]:
            await self.end(identity, user)

    async def end(self, identity: str, user: str) -> None:
        """End a session the way that its own client would."""
        scope: Scope = {
            "type": "http",
            "method": "DELETE",
            "path": "",
            "query_string": b"",
            "headers": [(MCP_SESSION_ID_HEADER.encode(), identity.encode())],
            "user": _sdk_user(user),
        }
        await self._manager.handle_request(scope, _nothing_more, _to_nobody)

    def close(self) -> None:
        """End every session and stream."""
        self.sessions.end_streams()
        self._stop.set()


class Endpoints:
    """Every project's endpoint, on the event loop of `run`."""

    def __init__(self, services: Services, handlers: Handlers) -> None:
        self._services = services
        self._handlers = handlers
        self._endpoints: dict[str, Endpoint] = {}
        self._making = anyio.Lock()
        self._group: TaskGroup | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        services.follow_changes(self._note_changes)
        services.follow_settings(self._note_settings)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve inside this block."""
        async with anyio.create_task_group() as group:
            self._group, self._loop = group, asyncio.get_running_loop()
            group.start_soon(self._sweep_for_ever)
            try:
                yield
            finally:
                self._loop = None
                self.close()
                group.cancel_scope.cancel()

    @property
    def session_counts(self) -> dict[str, int]:
        """Return how many sessions and streams each project's endpoint holds."""
        return {name: len(endpoint.sessions) for name, endpoint in self._endpoints.items()}

    def close(self) -> None:
        """End every session and stream, so that nobody waits for them."""
        for endpoint in self._endpoints.values():
            endpoint.close()
        self._endpoints.clear()

    async def get(self, project: str) -> Endpoint:
        """Return the endpoint of a project that is there, made now if need be."""
        found = self._endpoints.get(project)
        if found is not None:
            return found
        assert self._group is not None, "the application runs inside its lifespan"
        async with self._making:
            if project not in self._endpoints:
                made = Endpoint(project, self._handlers)
                await self._group.start(made.run)
                self._endpoints[project] = made
            return self._endpoints[project]

    async def sweep(self) -> None:
        """End what is too old or whose key is no longer good, and drop what nobody uses."""
        now = anyio.current_time()
        for project, endpoint in list(self._endpoints.items()):
            is_good = partial(self._services.admits, project=project)
            endpoint.sessions.end_streams(is_good)
            for identity, session in endpoint.sessions:
                if now - session.opened_at > MAX_AGE_S or not is_good(session.who):
                    await endpoint.end(identity, session.who.user)
            is_gone = self._services.settings.find_endpoint(project) is None
            is_idle = not len(endpoint.sessions) and now - endpoint.used_at > IDLE_S
            if is_gone or is_idle:
                del self._endpoints[project]
                endpoint.close()

    async def _sweep_for_ever(self) -> None:
        while True:
            await anyio.sleep(SWEEP_S)
            try:
                await self.sweep()
            except Exception:
                log.exception("sweep of MCP sessions failed")

    def _note_changes(self, project: str, changes: ChangeSet) -> None:
        """Take note of a commit, in the thread that made it; others tell the clients."""
        if self._endpoints and self._loop is not None:
            self._soon(self._tell_of_changes, project, changes)

    def _note_settings(self, _settings: Settings) -> None:
        if self._endpoints and self._loop is not None:
            self._soon(self._tell_of_settings)

    def _soon(self, work: Callable[..., object], *arguments: object) -> None:
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(work, *arguments)
        except RuntimeError:
            log.debug("nobody is told any more: the event loop has ended")

    def _tell_of_changes(self, project: str, changes: ChangeSet) -> None:
        updates = entry_events(changes)
        for endpoint in self._endpoints.values():
            if endpoint.project == project:
                self._start(endpoint, project, updates + list_events(changes))
            elif project == SHARED_SLUG:
                self._start(endpoint, project, updates)

    def _tell_of_settings(self) -> None:
        assert self._group is not None
        self._group.start_soon(self.sweep)
        for endpoint in self._endpoints.values():
            self._start(endpoint, endpoint.project, [ToolsListChanged()])

    def _start(self, endpoint: Endpoint, changed: str, events: list[ServerEvent]) -> None:
        assert self._group is not None
        if len(endpoint.sessions):
            is_open = partial(self._services.reaches, project=endpoint.project, other=changed)
            self._group.start_soon(endpoint.sessions.tell, events, is_open)


@lru_cache(maxsize=1024)
def _sdk_user(user: str) -> AuthenticatedUser:
    """Return a user as the SDK knows one, so that it binds sessions to whoever opened them."""
    return AuthenticatedUser(AccessToken(token="", client_id=user, scopes=[]))


async def _nothing_more() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _to_nobody(_message: Message) -> None:
    pass
