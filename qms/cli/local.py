"""`Local`: runs commands on the files of a stopped server, as the owner of the machine."""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from qms.app.build import OpenRoot, open_root
from qms.cli.instants import now
from qms.commands.answers import Rendered, Spoken
from qms.disk.disk import Disk
from qms.disk.read_only import ReadOnlyDisk
from qms.memory.access import LOCAL_ADMIN
from qms.memory.errors import InvalidInputError, QmsError
from qms.memory.lines import read_strictly
from qms.telemetry import logs


class Local:
    """A root that this process owns until `close`, which folds what was written."""

    keeps_cursors = makes_vectors = False

    def __init__(
        self,
        root: Path,
        *,
        command: str,
        agent_id: str | None = None,
        is_trial: bool = False,
        clock: Callable[[], datetime] = now,
    ) -> None:
        """Lock and open a root; a dry run changes no file, `clock` tells the time of changes.

        Raises:
            ConflictError: another process owns it.
        """
        self.place = f"files in {root}"
        self._agent_id = agent_id
        self._clock = clock
        # In a dry run every write fails: warnings about that are not news.
        logs.configure(logs.LogOptions(level="critical" if is_trial else "warning"))
        with ExitStack() as undo:
            undo.callback(logs.reset)
            self._opened = self._open(root, command, ReadOnlyDisk() if is_trial else Disk())
            undo.pop_all()
        self.first_key = self._opened.first_key
        self._gate = self._opened.runtime.gate()

    def send(self, project: str, command: str, body: bytes) -> Any:
        """Call one command."""
        request = read_strictly(body, self._gate.settings.global_.limits)
        if not isinstance(request, dict):
            raise InvalidInputError("the request must be a JSON object", field="body")
        answer = self._gate.call(LOCAL_ADMIN, project, command, request, agent_id=self._agent_id)
        if isinstance(answer, Rendered):
            return answer.text
        if isinstance(answer, Spoken):
            answer = answer.content
        # Through JSON, so that the output equals that of a server.
        return msgspec.json.decode(msgspec.json.encode(answer))

    def administer(self, command: str, arguments: dict[str, Any]) -> Any:
        """Call one administration command."""
        answer = self._gate.call(LOCAL_ADMIN, None, command, arguments)
        return msgspec.json.decode(msgspec.json.encode(answer))

    def call_with_key(
        self, key: str, project: str, command: str, request: dict[str, Any], agent_id: str | None
    ) -> Any:
        """Call one command as the user of a key."""
        who = self._gate.authenticate(key)
        return self._gate.call(who, project, command, request, agent_id=agent_id)

    def is_administration(self, command: str) -> bool:
        """Return whether a command administers the server."""
        return any(row.name == command and row.toolset is None for row in self._gate.commands)

    def projects(self) -> list[str]:
        """Return every project of the root."""
        return list(self._gate.settings.endpoints)

    def load(self) -> None:
        """Open every store; health reports those that cannot be opened."""
        catalog = self._opened.runtime.catalog
        for project in catalog.projects:
            with suppress(QmsError):
                catalog.get(project)

    def work_on(self) -> None:
        """Start the indexer thread, as a server does."""
        self._opened.runtime.start_indexing()

    def for_thread(self) -> "_SharedRoot":
        """Return a way to the same root for another thread."""
        return _SharedRoot(self)

    def close(self) -> None:
        """Fold and close the stores, and release the root lock."""
        try:
            self._opened.close()
        finally:
            logs.reset()

    def _open(self, root: Path, command: str, disk: Disk) -> OpenRoot:
        # Only the verb: a whole command line could contain a key.
        name = f"memoryctl {command}"
        return open_root(root, disk=disk, clock=self._clock, command=name, in_background=False)


class _SharedRoot(Local):
    """A root that another backend owns: closing it leaves the root open."""

    def __init__(self, owner: Local) -> None:
        self.__dict__.update(owner.__dict__)

    def close(self) -> None:
        """Do nothing: the owner closes the root."""
