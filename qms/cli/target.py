"""Finding what to work on: the server that was named, the one that owns the root, or the files."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from qms.cli import output
from qms.cli.backend import Backend
from qms.cli.identity import named_agent
from qms.cli.key_file import read_key
from qms.cli.local import Local
from qms.cli.projects import guess_project
from qms.cli.remote import Remote, reachable
from qms.domain.entry import split_id
from qms.domain.errors import ConflictError, NotFoundError, UnavailableError, invalid
from qms.fsio import lock
from qms.runtime.root import CONFIGURATION_NAME, LOCK_PLACE, ROOT_VARIABLE, find_root

URL_VARIABLE = "QMS_URL"
KEY_VARIABLE = "QMS_KEY"

LOCK_WAIT_S = 10.0
"""How long another memoryctl, or a server that is starting, is waited for."""

_LOCK_PAUSE_S = 0.05


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the options that every verb takes say, and which verb it is."""

    verb: str
    url: str | None = None
    key: str | None = None
    root: str | None = None
    project: str | None = None
    as_json: bool = False

    @property
    def server_url(self) -> str | None:
        """Return the server that was named, if any."""
        return self.url or os.environ.get(URL_VARIABLE) or None

    @property
    def server_key(self) -> str | None:
        """Return the key to show to a server."""
        return self.key or os.environ.get(KEY_VARIABLE) or None

    @property
    def agent_id(self) -> str | None:
        """Return who is to be named as the author of what is written.

        Raises:
            InvalidInputError: what the environment says is no name of an agent.
        """
        return named_agent()

    @property
    def names_root(self) -> bool:
        """Say whether a root was named, and not only assumed."""
        return bool(self.root or os.environ.get(ROOT_VARIABLE))


class Session:
    """One backend, and the project that commands go to when they name none."""

    def __init__(self, backend: Backend, asked: Asked) -> None:
        self.backend = backend
        self.asked = asked

    @cached_property
    def project(self) -> str:
        """Return the project that was asked for, else the one that is being worked on."""
        return self.asked.project or guess_project(Path.cwd(), self.backend.projects())

    def project_of(self, entry_id: str) -> str:
        """Return the project to ask for an entry: the one asked for, else the one in its id."""
        return self.asked.project or split_id(entry_id)[0] or self.project

    def call(self, project: str, command: str, request: Mapping[str, Any]) -> Any:
        """Run one command and return the object that the API answers.

        Raises:
            QmsError: the command failed.
        """
        try:
            body = msgspec.json.encode(request)
        except UnicodeEncodeError:
            raise invalid("text", "is not valid UTF-8") from None
        return self.backend.send(project, command, body)

    def administer(self, command: str, /, **arguments: Any) -> Any:
        """Run one command of the administration and return the object that the API answers.

        Raises:
            QmsError: the command failed.
        """
        return self.backend.administer(command, arguments)


@contextmanager
def open_session(asked: Asked) -> Iterator[Session]:
    """Yield a session on what was asked for, after saying on standard error what that is.

    Raises:
        QmsError: there is nothing to work on, or it is not to be had.
    """
    backend = _open(asked)
    try:
        output.note(f"on the {backend.place}")
        yield Session(backend, asked)
    finally:
        backend.close()


@contextmanager
def open_peer(place: str, asked: Asked, key: str | None) -> Iterator[Session]:
    """Yield a session on another server or root than the one that was asked for.

    Raises:
        QmsError: there is nothing to work on, or it is not to be had.
    """
    if place.startswith(("http://", "https://")):
        backend: Backend = Remote(place, key)
    else:
        there = msgspec.structs.replace(asked, root=place, key=key)
        backend = _open_checked(checked_root(there), there)
    try:
        output.note(f"with the {backend.place}")
        yield Session(backend, asked)
    finally:
        backend.close()


def checked_root(asked: Asked) -> Path:
    """Return the root, which some server has set up before.

    Raises:
        NotFoundError: none has.
        UnavailableError: the caller may not even look.
    """
    root = find_root(asked.root)
    try:
        is_there = (root / CONFIGURATION_NAME).exists()
    except OSError as error:
        raise _unusable(root, error) from error
    if not is_there:
        missing = NotFoundError(f"there is no Quick Memory Server in {root}", root=str(root))
        missing.add_note("start one there with `qms serve`, or name another with --root or --url")
        raise missing
    return root


def running_url(root: Path) -> str | None:
    """Return where the server that owns a root answers, or None."""
    path = root / LOCK_PLACE
    owner = lock.read_owner(path) if lock.is_held(path) else None
    return owner.url or None if owner else None


def _open(asked: Asked) -> Backend:
    if (url := asked.server_url) is not None:
        key = asked.server_key or _key_of_own_server(asked, url)
        return Remote(url, key, agent_id=asked.agent_id)
    return _open_checked(checked_root(asked), asked)


def _key_of_own_server(asked: Asked, url: str) -> str | None:
    """Return the key that the root holds when the URL is its own server's; no other gets it."""
    root = find_root(asked.root)
    running = running_url(root)
    if running is None or reachable(running).rstrip("/") != reachable(url).rstrip("/"):
        return None
    return read_key(root)


def _open_checked(root: Path, asked: Asked) -> Backend:
    try:
        return _open_root(root, asked)
    except OSError as error:
        raise _unusable(root, error) from error


def _unusable(root: Path, error: OSError) -> UnavailableError:
    unusable = UnavailableError(f"{root} cannot be used: {error.strerror or error}")
    if isinstance(error, PermissionError):
        unusable.add_note("it belongs to another account: ask its server with --url and --key")
        unusable.add_note("or run this as that account, on Windows as administrator")
    return unusable


def _open_root(root: Path, asked: Asked) -> Backend:
    deadline = time.monotonic() + LOCK_WAIT_S
    while True:
        if (url := running_url(root)) is not None:
            key = asked.server_key or read_key(root)
            return Remote(url, key, agent_id=asked.agent_id)
        try:
            local = Local(root, command=asked.verb, agent_id=asked.agent_id)
        except ConflictError:
            # Another memoryctl is at work, or a server that has no address yet.
            if time.monotonic() > deadline:
                raise
            time.sleep(_LOCK_PAUSE_S)
            continue
        if local.first_key is not None:
            output.note(f"admin key: {local.first_key}")
        return local
