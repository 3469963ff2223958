"""Finds the server that owns a root for `qms mcp`, or starts one in this process."""

import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from qms.app.quick_imports import quick_imports
from qms.auth.local_key import read_local_key
from qms.bridge.link import Target
from qms.config.root import CONFIGURATION_NAME, LOCK_PLACE
from qms.disk import root_lock
from qms.memory.errors import ConflictError, NotAuthenticatedError, UnavailableError

if TYPE_CHECKING:
    from qms.app.own_server import OwnServer

log = logging.getLogger(__name__)


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The project and credentials of a client."""

    project: str
    toolsets: str | None = None
    key: str | None = None
    """Replaces the local key of the machine's owner."""
    agent_id: str | None = None
    """Recorded as the author of the client's writes, in place of the client's name."""


class Home:
    """One root: finds its server, or owns the root and serves it."""

    def __init__(self, root: Path, wanted: Wanted) -> None:
        self._root = root
        self._wanted = wanted
        self._own: OwnServer | None = None
        self._lock = threading.Lock()

    def find(self) -> Target:
        """Return the server of the root, started in this process if no other process owns it.

        Raises:
            UnavailableError: the process that owns the root does not serve yet.
            NotAuthenticatedError: there is no key for the server that owns it.
            InvalidInputError: the root's configuration is not valid.
        """
        with self._lock:
            if self._own is None or not self._own.is_alive:
                self._close_own()
                if (url := self._owners_url()) is not None:
                    return self._target(url)
                self._own = self._open()
            url = self._owners_url()
            assert url is not None, "our own server has announced its URL"
            return self._target(url)

    def close(self) -> None:
        """Stop the server of this process, if there is one."""
        with self._lock:
            self._close_own()

    def _open(self) -> "OwnServer":
        with quick_imports():
            from qms.app.own_server import OwnServer  # heavy: not needed to attach

        try:
            return OwnServer(self._root)
        except ConflictError as error:
            # Another process without a URL: a server that starts, or memoryctl on files.
            raise UnavailableError(error.message, **error.details) from error

    def _close_own(self) -> None:
        if self._own is not None:
            own, self._own = self._own, None
            own.close()

    def _owners_url(self) -> str | None:
        path = self._root / LOCK_PLACE
        owner = root_lock.read_owner(path) if root_lock.is_held(path, root=self._root) else None
        return owner.url or None if owner else None

    def _target(self, url: str) -> Target:
        key = self._wanted.key or read_local_key(self._root)
        if key is None:
            error = NotAuthenticatedError(f"the server at {url} owns {self._root}")
            error.add_note("set QMS_KEY: only the server's own user can read its local key")
            raise error
        wanted = self._wanted
        return Target(
            url=url,
            key=key,
            project=wanted.project,
            toolsets=wanted.toolsets,
            agent_id=wanted.agent_id,
            certificate=self._certificate(url),
        )

    def _certificate(self, url: str) -> Path | None:
        """Return the certificate of the root's configuration, for a server with TLS."""
        if not url.startswith("https:"):
            return None
        from qms.config.toml_file import parse  # slow to import, and rarely needed

        text = (self._root / CONFIGURATION_NAME).read_text(encoding="utf-8-sig")
        return self._root / parse(text)[0].global_.tls_certificate
