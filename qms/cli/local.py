"""memoryctl on the files of a stopped server: the same commands, as the owner of the machine."""

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from qms.codec.lines import read_strictly
from qms.domain.access import LOCAL_ADMIN
from qms.domain.errors import InvalidInputError, QmsError
from qms.fsio.disk import Disk
from qms.runtime.build import OpenRoot, open_root
from qms.service.answers import Rendered, Spoken
from qms.telemetry import logs


class Local:
    """A root that this process owns until `close`, which folds what was written."""

    keeps_cursors = False

    def __init__(self, root: Path, *, command: str, agent_id: str | None = None) -> None:
        """Own a root.

        Raises:
            ConflictError: another process owns it.
        """
        self.place = f"files in {root}"
        self._agent_id = agent_id
        logs.configure(logs.LogOptions(level="warning"))
        try:
            self._opened = self._open(root, command)
        except BaseException:
            logs.reset()
            raise
        self.first_key = self._opened.first_key
        self._services = self._opened.runtime.services()

    def send(self, project: str, command: str, body: bytes) -> Any:
        """Call one command."""
        request = read_strictly(body, self._services.settings.global_.limits)
        if not isinstance(request, dict):
            raise InvalidInputError("the request must be a JSON object", field="body")
        answer = self._services.call(
            LOCAL_ADMIN, project, command, request, agent_id=self._agent_id
        )
        if isinstance(answer, Rendered):
            return answer.text
        if isinstance(answer, Spoken):
            answer = answer.content
        # Through JSON, so that what is printed is what the server would have sent.
        return msgspec.json.decode(msgspec.json.encode(answer))

    def administer(self, command: str, arguments: dict[str, Any]) -> Any:
        """Call one command of the administration."""
        answer = self._services.administer(LOCAL_ADMIN, command, arguments)
        return msgspec.json.decode(msgspec.json.encode(answer))

    def projects(self) -> list[str]:
        """Return every project of the root."""
        return list(self._services.settings.endpoints)

    def load(self) -> None:
        """Open every store; a failure is kept for health to tell."""
        catalog = self._opened.runtime.catalog
        for project in catalog.projects:
            with suppress(QmsError):
                catalog.get(project)

    def work_on(self) -> None:
        """Let the librarian work, as on a server."""
        self._opened.runtime.start_librarian()

    def close(self) -> None:
        """Fold, close, and give the root back."""
        try:
            self._opened.close()
        finally:
            logs.reset()

    def _open(self, root: Path, command: str) -> OpenRoot:
        # Named by its verb alone: a whole command line could hold a key.
        name = f"memoryctl {command}"
        return open_root(root, disk=Disk(), clock=now, command=name, in_background=False)


def now() -> datetime:
    """Return the present moment."""
    return datetime.now(UTC)
