"""The MCP server of each project: created on first request, dropped when idle."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import lru_cache, partial
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, AuthorizationContext
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from starlette.types import Message, Receive, Scope, Send

from qms.commands.gate import Gate
from qms.config.settings import SHARED_SLUG, Settings
from qms.mcp.addresses import KNOWLEDGE_GRAPH, addresses_of
from qms.mcp.prompts import TAG
from qms.mcp.replay import RETRY_MS, RecentEvents
from qms.mcp.server import Handlers, project_server
from qms.mcp.sessions import Sessions
from qms.memory.bodies import Kind
from qms.memory.changes import ChangeSet, Put

_IS_BRIEF: ContextVar[bool] = ContextVar("is_brief", default=False)


class _OfThisRequest:
    """A session attribute whose value depends on the current request."""

    def __get__(self, _session: object, _kind: type) -> bool:
        return _IS_BRIEF.get()

    def __set__(self, _session: object, _value: bool) -> None:
        pass


class _Transport(StreamableHTTPServerTransport):
    is_json_response_enabled: Any = _OfThisRequest()


class SessionManager(StreamableHTTPSessionManager):
    """The SDK's session manager of one project."""

    async def answer(self, scope: Scope, receive: Receive, send: Send, *, is_brief: bool) -> None:
        """Answer a request; a brief one sends nothing before its answer."""
        token = _IS_BRIEF.set(is_brief)
        try:
            await self.handle_request(scope, receive, send)
        finally:
            _IS_BRIEF.reset(token)

    def _admit_session(
        self, requestor: AuthorizationContext | None
    ) -> StreamableHTTPServerTransport | None:
        made = super()._admit_session(requestor)
        if made is not None:
            # The SDK offers no other way to use a custom transport, or a store for each session.
            made.__class__ = _Transport
            made._event_store = RecentEvents()  # noqa: SLF001 - see above
        return made


_ENTITY = f'"{Kind.ENTITY}"'.encode()
_TAGGED = f'"{TAG}"'.encode()


def entry_events(changes: ChangeSet) -> list[ServerEvent]:
    """Return the events for clients that subscribed to these entries."""
    return [
        ResourceUpdated(address)
        for change in changes.changes
        for address in addresses_of(change.id)
    ]


def list_events(changes: ChangeSet) -> list[ServerEvent]:
    """Return the events for clients that hold a list of this project."""
    events: list[ServerEvent] = []
    if any(not isinstance(change, Put) or change.created for change in changes.changes):
        events.append(ResourcesListChanged())
    if any(_ENTITY in bytes(change.entry) for change in changes.changes):
        events.append(ResourceUpdated(KNOWLEDGE_GRAPH))
    # The word may occur elsewhere in the line; an unneeded list request does no harm.
    if any(_TAGGED in bytes(change.entry) for change in changes.changes):
        events.append(PromptsListChanged())
    return events


MAX_SESSIONS = 1000
"""At most this many sessions of a project."""

SWEEP_S = 60.0

_ANY_BYTES = 2**62
"""`qms.mcp.endpoint` has limited the body already, by the current settings."""

log = logging.getLogger(__name__)


class SessionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How many sessions there may be, and for how long."""

    per_user: int = 100
    """At most this many sessions of one user in a project; a further one ends the oldest."""

    idle_s: float = 30 * 60.0
    """An idle session, or an endpoint without sessions, ends after this time."""

    max_age_s: float = 24 * 3600.0
    """A session ends after this time; its client then opens another."""


class Endpoint:
    """One project's server and its sessions."""

    def __init__(self, project: str, handlers: Handlers, limits: SessionLimits) -> None:
        self.project = project
        self.sessions = Sessions()
        self.used_at = anyio.current_time()
        self._stop = anyio.Event()
        self._manager = SessionManager(
            project_server(project, handlers, self.sessions),
            session_idle_timeout=limits.idle_s,
            max_sessions=MAX_SESSIONS,
            max_request_body_size=_ANY_BYTES,
            retry_interval=RETRY_MS,
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

    async def make_room(self, user: str, most: int) -> None:
        """End the oldest sessions of a user who is at the limit."""
        own = [identity for identity, session in self.sessions if session.who.user == user]
        for identity in own[: len(own) + 1 - most]:
            await self.end(identity, user)

    async def end(self, identity: str, user: str) -> None:
        """End a session with the request that its client would send."""
        scope: Scope = {
            "type": "http",
            "method": "DELETE",
            "path": "",
            "query_string": b"",
            "headers": [(MCP_SESSION_ID_HEADER.encode(), identity.encode())],
            "user": _sdk_user(user),
        }
        await self._manager.handle_request(scope, _empty_body, _discard)

    def close(self) -> None:
        """End every session and stream."""
        self.sessions.end_streams()
        self._stop.set()


class Endpoints:
    """The endpoints of all projects, on the event loop of `run`."""

    def __init__(self, gate: Gate, handlers: Handlers) -> None:
        self.limits = SessionLimits()
        """The limits in force: for the next session, the next endpoint and the next sweep."""
        self._gate = gate
        self._handlers = handlers
        self._endpoints: dict[str, Endpoint] = {}
        self._making = anyio.Lock()
        self._group: TaskGroup | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        gate.follow_changes(self._note_changes)
        gate.follow_settings(self._note_settings)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve inside this block."""
        async with anyio.create_task_group() as group:
            self._group, self._loop = group, asyncio.get_running_loop()
            group.start_soon(self._sweep_forever)
            try:
                yield
            finally:
                self._loop = None
                self.close()
                group.cancel_scope.cancel()

    @property
    def session_counts(self) -> dict[str, int]:
        """Return the number of sessions and streams of each project."""
        return {name: len(endpoint.sessions) for name, endpoint in self._endpoints.items()}

    def close(self) -> None:
        """End every session and stream, so that the shutdown does not wait for them."""
        for endpoint in self._endpoints.values():
            endpoint.close()
        self._endpoints.clear()

    async def get(self, project: str) -> Endpoint:
        """Return the endpoint of an existing project, created on first use."""
        found = self._endpoints.get(project)
        if found is not None:
            return found
        assert self._group is not None, "the application runs inside its lifespan"
        async with self._making:
            if project not in self._endpoints:
                made = Endpoint(project, self._handlers, self.limits)
                await self._group.start(made.run)
                self._endpoints[project] = made
            return self._endpoints[project]

    async def sweep(self) -> None:
        """End sessions that are too old or whose key is no longer valid; drop idle endpoints."""
        now = anyio.current_time()
        for project, endpoint in list(self._endpoints.items()):
            is_good = partial(self._gate.still_opens, project=project)
            endpoint.sessions.end_streams(is_good)
            for identity, session in endpoint.sessions:
                if now - session.opened_at > self.limits.max_age_s or not is_good(session.who):
                    await endpoint.end(identity, session.who.user)
            is_gone = self._gate.settings.find_endpoint(project) is None
            is_idle = not len(endpoint.sessions) and now - endpoint.used_at > self.limits.idle_s
            if is_gone or is_idle:
                del self._endpoints[project]
                endpoint.close()

    async def _sweep_forever(self) -> None:
        while True:
            await anyio.sleep(SWEEP_S)
            try:
                await self.sweep()
            except Exception:  # the job loop of sessions: logged, the next sweep is due
                log.exception("sweep of MCP sessions failed")

    def _note_changes(self, project: str, changes: ChangeSet) -> None:
        """Note a commit in the writer's thread; the event loop notifies the clients."""
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
            log.debug("change not announced: the event loop has ended")

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
            is_open = partial(self._gate.reaches, project=endpoint.project, other=changed)
            self._group.start_soon(endpoint.sessions.tell, events, is_open)


@lru_cache(maxsize=1024)
def _sdk_user(user: str) -> AuthenticatedUser:
    """Return a user as an SDK user, so that the SDK binds a session to the user who opened it."""
    return AuthenticatedUser(AccessToken(token="", client_id=user, scopes=[]))


async def _empty_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _discard(_message: Message) -> None:
    pass
