"""Progress: how a command reports to its client while it runs."""

from typing import Protocol


class Progress(Protocol):
    """Receives the progress of a command; any thread may call it."""

    def progress(self, done: int, total: int) -> None:
        """Report how much is done; return at once, whether or not a client listens."""


class NoProgress:
    """Ignores progress."""

    def progress(self, done: int, total: int) -> None:
        """Do nothing."""


NO_PROGRESS = NoProgress()
