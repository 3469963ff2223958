"""What memoryctl works on, behind one door: a running server, or the files of a stopped one."""

from typing import Any, Protocol


class Backend(Protocol):
    """Either of the two; `close` gives back what it holds."""

    place: str
    """What it is, for people: a server and its address, or files and their folder."""

    keeps_cursors: bool
    """Whether a cursor that it gives is still good for the next command."""

    def send(self, project: str, command: str, body: bytes) -> Any:
        """Run one command of the table on a JSON request and return the JSON object it answers.

        An answer in another format than JSON is returned as its text.

        Raises:
            QmsError: what the command fails with, the same on both.
        """

    def administer(self, command: str, arguments: dict[str, Any]) -> Any:
        """Run one command of the administration and return the JSON object it answers.

        Raises:
            QmsError: what the command fails with, the same on both.
        """

    def projects(self) -> list[str]:
        """Return the projects that the caller may see."""

    def load(self) -> None:
        """Have every store opened that can be; one that cannot is what health says of it."""

    def work_on(self) -> None:
        """Have what commands leave to be done in the background done from now on."""

    def close(self) -> None:
        """Give back what is held."""
