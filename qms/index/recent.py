"""What was computed of the keys met lately, as a dictionary that computes what it lacks."""

from collections.abc import Callable
from typing import Generic, TypeVar

LONGEST_KEPT = 40
"""Keys of more characters are seldom met again, and one can be as long as a text."""

T = TypeVar("T")


class Recent(dict[str, T], Generic[T]):
    """Remembers at least the `most` latest keys, and at most twice as many.

    Once it is full it begins anew, with the former keys at hand: those that come again stay.
    """

    def __init__(self, compute: Callable[[str], T], most: int) -> None:
        super().__init__()
        self._compute = compute
        self._most = most
        self._former: dict[str, T] = {}

    def __missing__(self, key: str) -> T:
        try:
            value = self._former[key]
        except KeyError:
            value = self._compute(key)
            if len(key) > LONGEST_KEPT:
                return value
        if len(self) >= self._most:
            self._former = dict(self)
            self.clear()
        self[key] = value
        return value
