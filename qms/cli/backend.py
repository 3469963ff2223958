"""`Backend`: the interface of a running server (`Remote`) and of a root's files (`Local`)."""

from typing import Any, Protocol


class Backend(Protocol):
    """Runs commands on a server or on files; `close` releases what it holds."""

    place: str
    """What messages call it: a server and its address, or files and their folder."""

    keeps_cursors: bool
    """Whether a cursor is still valid in the next command."""

    makes_vectors: bool
    """Whether it continues to embed entries after the command has ended."""

    def send(self, project: str, command: str, body: bytes) -> Any:
        """Run a project command on a JSON request and return its answer as a JSON object.

        An answer in another format than JSON is returned as its text.

        Raises:
            QmsError: the command failed; both backends raise the same error.
        """

    def administer(self, command: str, arguments: dict[str, Any]) -> Any:
        """Run an administration command and return its answer as a JSON object.

        Raises:
            QmsError: the command failed; both backends raise the same error.
        """

    def is_administration(self, command: str) -> bool:
        """Return whether a command administers the server, and is not one of a project."""

    def projects(self) -> list[str]:
        """Return the projects that the caller may see."""

    def load(self) -> None:
        """Open every store; health reports those that cannot be opened."""

    def work_on(self) -> None:
        """Start the background work that commands leave, such as embedding."""

    def for_thread(self) -> "Backend":
        """Return a backend on the same place for another thread; it is closed by itself."""

    def close(self) -> None:
        """Release connections, files and locks."""
