"""How many bytes of request bodies the server holds at once, whoever sends them."""

from starlette.types import Message, Receive

from qms.domain.errors import UnavailableError

MAX_BYTES = 256 * 1024 * 1024
"""Four imports of the largest size, or a hundred large requests."""

RETRY_AFTER_S = 2


class BodyRoom:
    """Counts the bytes of bodies from their arrival to the end of the answer; on the event loop."""

    def __init__(self, most: int = MAX_BYTES) -> None:
        self._most = most
        self.held = 0

    def share(self, receive: Receive, *, at_least: int) -> "BodyShare":
        """Return the share of one request; a single body of `at_least` bytes always fits."""
        return BodyShare(self, receive, max(self._most, at_least))


class BodyShare:
    """What one request holds; it is the `receive` of that request."""

    def __init__(self, room: BodyRoom, receive: Receive, most: int) -> None:
        self._room = room
        self._receive = receive
        self._most = most
        self._held = 0

    async def __call__(self) -> Message:
        """Return the next message, if there is room for it.

        Raises:
            UnavailableError: others have sent too much already.
        """
        message = await self._receive()
        if size := len(message.get("body", b"")):
            self._take(size)
        return message

    def release(self) -> None:
        """Give the room back: the request is answered."""
        self._room.held -= self._held
        self._held = 0

    def _take(self, size: int) -> None:
        if self._room.held + size > self._most:
            self.release()
            raise UnavailableError(
                "the server holds as many request bodies as it can: try again in a moment",
                retryAfterSeconds=RETRY_AFTER_S,
            )
        self._room.held += size
        self._held += size
