"""The other end of a call, as far as a command may talk to it while it works."""

from typing import Protocol


class Peer(Protocol):
    """Whoever waits for an answer; any thread may tell it something."""

    def progress(self, done: int, total: int) -> None:
        """Say how far the work is; returns at once, whether or not anybody listens."""


class Silent:
    """A peer that wants to hear nothing before the answer."""

    def progress(self, done: int, total: int) -> None:
        """Keep it to oneself."""


SILENT = Silent()
