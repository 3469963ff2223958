"""Sessions and subscriptions of one project's endpoint.

Before revision 2026-07-28 a client holds a session and subscribes to resources in it; since then
it opens a stream for the changes that it wants. Both end with the key that opened them.
"""

from collections.abc import Callable, Iterator

import anyio
import msgspec
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult
from mcp.server.subscriptions import (
    SUBSCRIPTION_ID_META_KEY,
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    EmptyResult,
    LoggingLevel,
    SetLevelRequestParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from qms.config.api_keys import KeyMatch
from qms.mcp.message import Context, caller_of, connection_of

MAX_FOLLOWED = 1000
"""At most this many subscriptions of one session."""

MAX_STREAMS = 500
"""At most this many open streams of changes in one project."""


class Session(msgspec.Struct):
    """A client of a revision with sessions."""

    connection: Connection
    who: KeyMatch
    opened_at: float
    followed: set[str] = msgspec.field(default_factory=set)
    log_level: LoggingLevel = "info"


class Stream(msgspec.Struct, frozen=True):
    """A client of the newest revision with an open stream of changes."""

    who: KeyMatch
    scope: anyio.CancelScope
    bus: InMemorySubscriptionBus


class Sessions:
    """All clients that are connected to one project; used on the event loop only."""

    def __init__(self, now: Callable[[], float] = anyio.current_time) -> None:
        self._now = now
        self._sessions: dict[str, Session] = {}
        self._streams: list[Stream] = []

    def __len__(self) -> int:
        return len(self._sessions) + len(self._streams)

    def __iter__(self) -> Iterator[tuple[str, Session]]:
        return iter(list(self._sessions.items()))

    async def watch(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Record the session of a message (SDK middleware)."""
        connection = connection_of(ctx)
        identity = connection.session_id
        if identity is not None:
            who = caller_of(ctx)
            session = self._sessions.get(identity)
            if session is None:
                self._sessions[identity] = Session(connection, who, self._now())
                connection.exit_stack.callback(self._sessions.pop, identity, None)
            else:
                session.who = who
        return await call_next(ctx)

    async def follow(self, context: Context, params: SubscribeRequestParams) -> EmptyResult:
        """Subscribe this session to a resource."""
        followed = self._session(context).followed
        if len(followed) >= MAX_FOLLOWED:
            raise MCPError(INVALID_PARAMS, f"a session has at most {MAX_FOLLOWED} subscriptions")
        followed.add(params.uri)
        return EmptyResult()

    async def unfollow(self, context: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        """Unsubscribe this session from a resource."""
        self._session(context).followed.discard(params.uri)
        return EmptyResult()

    async def set_log_level(self, context: Context, params: SetLevelRequestParams) -> EmptyResult:
        """Store the log level that this session asked for."""
        self._session(context).log_level = params.level
        return EmptyResult()

    async def listen(
        self, context: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve a stream of changes until its client leaves or its key is no longer valid."""
        if len(self._streams) >= MAX_STREAMS:
            raise MCPError(INTERNAL_ERROR, f"at most {MAX_STREAMS} streams may be open at once")
        bus = InMemorySubscriptionBus()
        with anyio.CancelScope() as scope:
            stream = Stream(caller_of(context), scope, bus)
            self._streams.append(stream)
            try:
                return await ListenHandler(bus)(context, params)
            finally:
                self._streams.remove(stream)
        return SubscriptionsListenResult(_meta={SUBSCRIPTION_ID_META_KEY: context.request_id})

    async def tell(self, events: list[ServerEvent], is_open: Callable[[KeyMatch], bool]) -> None:
        """Send events to the subscribed clients that may read the changed store."""
        for stream in [one for one in self._streams if is_open(one.who)]:
            for event in events:
                await stream.bus.publish(event)
        for session in [one for _, one in self if is_open(one.who)]:
            for event in events:
                await _tell_session(session, event)

    def end_streams(self, is_good: Callable[[KeyMatch], bool] = lambda _who: False) -> None:
        """End the streams whose key is no longer valid; all of them by default."""
        for stream in self._streams:
            if not is_good(stream.who):
                stream.scope.cancel()

    def _session(self, context: Context) -> Session:
        identity = connection_of(context).session_id
        assert identity is not None, "the revisions that have this method have sessions"
        return self._sessions[identity]


async def _tell_session(session: Session, event: ServerEvent) -> None:
    connection = session.connection
    match event:
        case ResourceUpdated(uri):
            if uri in session.followed:
                await connection.send_resource_updated(uri)
        case ResourcesListChanged():
            await connection.send_resource_list_changed()
        case PromptsListChanged():
            await connection.send_prompt_list_changed()
        case ToolsListChanged():
            await connection.send_tool_list_changed()
