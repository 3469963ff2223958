"""The last events of a session's streams, for a client that lost a stream and opens it again.

Revision 2025-11-25: a stream begins with an event that has an id and no data; a client that names
the last id it received gets what came after it. Each session has a store of its own, so that no
id of another session is known in it.
"""

from collections import deque
from typing import NamedTuple

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse

RETRY_MS = 1000
"""How long a client is asked to wait before it opens a lost stream again."""

MAX_EVENTS = 100
"""At most this many events of one session are kept."""

MAX_BYTES = 1 << 20
"""At most this many bytes of one session are kept; a longer message is sent once."""


class _Event(NamedTuple):
    """One event: a message, or the start of a stream."""

    number: int
    stream: str
    message: JSONRPCMessage | None
    size_bytes: int


class RecentEvents(EventStore):
    """The events of one session, the newest within both limits."""

    def __init__(self) -> None:
        self._events: deque[_Event] = deque()
        self._count = 0
        self._size_bytes = 0

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep an event of a stream that was started here; return its id."""
        self._count += 1
        # A plain answer, and a stream of an older revision, has no start: it is never replayed.
        if message is None or any(one.stream == stream_id for one in self._events):
            size = len(message.model_dump_json()) if message else 0
            self._events.append(_Event(self._count, stream_id, message, size))
            self._size_bytes += size
            self._drop_oldest()
        return str(self._count)

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        """Send what followed an event in its stream; return the stream if it goes on."""
        last = next((one for one in self._events if str(one.number) == last_event_id), None)
        if last is None:
            return None
        later = [one for one in self._events if self._follows(one, last)]
        for one in later:
            assert one.message is not None
            await send_callback(EventMessage(one.message, str(one.number)))
        is_answered = any(isinstance(one.message, _ANSWERS) for one in (last, *later))
        return None if is_answered else last.stream

    @staticmethod
    def _follows(event: _Event, last: _Event) -> bool:
        is_later = event.stream == last.stream and event.number > last.number
        return is_later and event.message is not None

    def _drop_oldest(self) -> None:
        while len(self._events) > MAX_EVENTS or self._size_bytes > MAX_BYTES:
            self._size_bytes -= self._events.popleft().size_bytes


_ANSWERS = JSONRPCResponse, JSONRPCError
