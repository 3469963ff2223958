"""How many answers may stay open as event streams, in all and for one key."""

from collections import Counter

MAX_STREAMS = 400
MAX_STREAMS_OF_KEY = 100


class Streams:
    """Counts the open streams; lives on the event loop."""

    def __init__(self, *, most: int = MAX_STREAMS, most_of_key: int = MAX_STREAMS_OF_KEY) -> None:
        self._most = most
        self._most_of_key = most_of_key
        self._open: Counter[str | None] = Counter()
        self.count = 0

    def open(self, key_id: str | None) -> bool:
        """Count one more stream, and say whether there was room for it."""
        if self.count >= self._most or self._open[key_id] >= self._most_of_key:
            return False
        self.count += 1
        self._open[key_id] += 1
        return True

    def close(self, key_id: str | None) -> None:
        """Give the room of a stream back."""
        self.count -= 1
        self._open[key_id] -= 1
        if not self._open[key_id]:
            del self._open[key_id]
