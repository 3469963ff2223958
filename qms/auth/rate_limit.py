"""Rate limit: one token bucket per name."""

import threading
from collections import OrderedDict

_MINUTE_S = 60.0


class RateLimit:
    """One token bucket per name; beyond `most` names the least recently used are dropped."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, *, per_minute: float, at_once: float, now_s: float) -> float:
        """Take one token and return 0, or return the seconds until there is one.

        A bucket holds at most `at_once` tokens, and is full for an unknown name.
        """
        per_second = per_minute / _MINUTE_S
        with self._lock:
            level, at_s = self._levels.pop(name, (at_once, now_s))
            level = min(at_once, level + max(0.0, now_s - at_s) * per_second)
            wait_s = 0.0 if level >= 1 else (1 - level) / per_second
            self._levels[name] = (level - 1 if level >= 1 else level, now_s)
            if len(self._levels) > self._most:
                self._levels.popitem(last=False)
        return wait_s

    def __len__(self) -> int:
        return len(self._levels)
