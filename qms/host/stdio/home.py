"""The server of a root: the one that owns it, else one of our own."""

import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from qms.domain.errors import ConflictError, NotAuthenticatedError, UnavailableError
from qms.fsio import lock
from qms.host.stdio.link import Target
from qms.runtime.local_key import read_local_key
from qms.runtime.root import LOCK_PLACE

if TYPE_CHECKING:
    from qms.host.stdio.own_server import OwnServer

log = logging.getLogger(__name__)


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a client is to be connected to."""

    project: str
    toolsets: str | None = None
    key: str | None = None
    """Instead of the key of the machine's owner."""
    agent_id: str | None = None
    """Who is named as the author of what the client writes, instead of the client."""


class Home:
    """One root; whoever asks for its server gets the owner's, or becomes the owner."""

    def __init__(self, root: Path, wanted: Wanted) -> None:
        self._root = root
        self._wanted = wanted
        self._own: OwnServer | None = None
        self._lock = threading.Lock()

    def find(self) -> Target:
        """Return the server that answers for the root now.

        Raises:
            UnavailableError: whoever owns the root does not answer yet.
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
            assert url is not None, "a server of our own has said where it is"
            return self._target(url)

    def close(self) -> None:
        """End the server of our own, if there is one."""
        with self._lock:
            self._close_own()

    def _open(self) -> "OwnServer":
        from qms.host.stdio.own_server import OwnServer  # heavy: not needed to attach

        try:
            return OwnServer(self._root)
        except ConflictError as error:
            # Another process that has no address yet, or never will have: memoryctl at work.
            raise UnavailableError(error.message, **error.details) from error

    def _close_own(self) -> None:
        if self._own is not None:
            own, self._own = self._own, None
            own.close()

    def _owners_url(self) -> str | None:
        path = self._root / LOCK_PLACE
        owner = lock.read_owner(path) if lock.is_held(path) else None
        return owner.url or None if owner else None

    def _target(self, url: str) -> Target:
        key = self._wanted.key or read_local_key(self._root)
        if key is None:
            error = NotAuthenticatedError(f"the server at {url} owns {self._root}")
            error.add_note("set QMS_KEY: only its own user can read the key it has left there")
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
        """Return the certificate that the root's own configuration names, for a server with TLS."""
        if not url.startswith("https:"):
            return None
        from qms.config.toml_file import parse  # slow to import, and rarely needed
        from qms.runtime.root import CONFIGURATION_NAME

        text = (self._root / CONFIGURATION_NAME).read_text(encoding="utf-8-sig")
        return self._root / parse(text)[0].global_.tls_certificate
