"""Chooses the backend: the server of --url, the server that owns the root, or the files."""

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
from qms.cli.current_project import guess_project
from qms.cli.id_prefixes import find_whole_id, with_whole_ids
from qms.cli.identity import named_agent
from qms.cli.key_file import read_key
from qms.cli.remote import Remote, reachable
from qms.config.root import CONFIGURATION_NAME, LOCK_PLACE, ROOT_VARIABLE, find_root
from qms.disk import root_lock
from qms.memory.entry import split_id
from qms.memory.errors import (
    ConflictError,
    NotAuthenticatedError,
    NotFoundError,
    UnavailableError,
    invalid,
)

URL_VARIABLE = "QMS_URL"
KEY_VARIABLE = "QMS_KEY"

LOCK_WAIT_S = 10.0
"""How long to wait for another memoryctl, or for a server that is starting."""

_LOCK_PAUSE_S = 0.05


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The options that every verb takes, and the name of the verb."""

    verb: str
    url: str | None = None
    key: str | None = None
    root: str | None = None
    project: str | None = None
    as_json: bool = False
    is_trial: bool = False
    """Whether `--dry-run` was given: files are then opened read-only."""

    @property
    def server_url(self) -> str | None:
        """Return the URL of --url or QMS_URL, if any."""
        return self.url or os.environ.get(URL_VARIABLE) or None

    @property
    def server_key(self) -> str | None:
        """Return the key of --key or QMS_KEY, if any."""
        return self.key or os.environ.get(KEY_VARIABLE) or None

    @property
    def agent_id(self) -> str | None:
        """Return the agent id of QMS_AGENT_ID, the author of what is written.

        Raises:
            InvalidInputError: it is not a valid agent id.
        """
        return named_agent()

    @property
    def names_root(self) -> bool:
        """Return whether a root was given by --root or QMS_ROOT."""
        return bool(self.root or os.environ.get(ROOT_VARIABLE))


class Session:
    """One backend, and the default project of its commands."""

    def __init__(self, backend: Backend, asked: Asked) -> None:
        self.backend = backend
        self.asked = asked

    @cached_property
    def project(self) -> str:
        """Return the project of --project, else the one guessed from the working folder."""
        return self.asked.project or guess_project(Path.cwd(), self.backend.projects())

    def project_of(self, entry_id: str) -> str:
        """Return the project of an entry: that of --project, else the one in its id."""
        return self.asked.project or split_id(entry_id)[0] or self.project

    def call(self, project: str, command: str, request: Mapping[str, Any]) -> Any:
        """Run one command and return its answer; a unique prefix of an id stands for the id.

        Raises:
            QmsError: the command failed.
        """
        while True:
            try:
                return self._send(project, command, request)
            except NotFoundError as error:
                completed = with_whole_ids(self._send, project, command, request, error)
                if completed is None:
                    raise
                request = completed

    def whole_id(self, entry_id: str, command: str) -> str:
        """Return the id that a unique prefix means for a command, or else the id as it is.

        Raises:
            QmsError: several ids begin so, or the project cannot be read.
        """
        project, local = self.project_of(entry_id), split_id(entry_id)[1]
        return find_whole_id(self._send, project, command, local) or entry_id

    def _send(self, project: str, command: str, request: Mapping[str, Any]) -> Any:
        try:
            body = msgspec.json.encode(request)
        except UnicodeEncodeError:
            raise invalid("text", "is not valid UTF-8") from None
        return self.backend.send(project, command, body)

    def administer(self, command: str, /, **arguments: Any) -> Any:
        """Run one administration command and return its answer.

        Raises:
            QmsError: the command failed.
        """
        return self.backend.administer(command, arguments)


@contextmanager
def open_session(asked: Asked) -> Iterator[Session]:
    """Yield a session on the chosen backend, and print on standard error which one it is.

    Raises:
        QmsError: there is no server or root, or it cannot be opened.
    """
    backend = _open(asked)
    try:
        output.note(f"on the {backend.place}")
        yield Session(backend, asked)
    finally:
        backend.close()


@contextmanager
def open_peer(place: str, asked: Asked, key: str | None) -> Iterator[Session]:
    """Yield a session on the other server or root of a sync.

    Raises:
        QmsError: there is no server or root, or it cannot be opened.
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
    """Return the root after checking that it has a configuration file.

    Raises:
        NotFoundError: the folder is no root.
        UnavailableError: the folder cannot be read.
    """
    root = find_root(asked.root)
    try:
        is_there = (root / CONFIGURATION_NAME).exists()
    except OSError as error:
        raise _unusable(root, error) from error
    if not is_there:
        missing = NotFoundError(f"there is no Quick Memory Server in {root}", root=str(root))
        missing.add_note(
            "create one with `memoryctl init` or `qms serve`, or pass another with --root or --url"
        )
        raise missing
    return root


def running_url(root: Path) -> str | None:
    """Return the URL of the server that owns a root, or None if none is running."""
    path = root / LOCK_PLACE
    owner = root_lock.read_owner(path) if root_lock.is_held(path, root=root) else None
    return owner.url or None if owner else None


def _open(asked: Asked) -> Backend:
    if (url := asked.server_url) is not None:
        is_own = _is_own_server(asked, url)
        own_key = read_key(find_root(asked.root)) if is_own else None
        return _remote(url, asked.server_key or own_key, asked, is_own=is_own)
    return _open_checked(checked_root(asked), asked)


def _is_own_server(asked: Asked, url: str) -> bool:
    """Return whether a URL is the root's own server; the key file's key is sent to no other."""
    running = running_url(find_root(asked.root))
    return running is not None and reachable(running).rstrip("/") == reachable(url).rstrip("/")


def _remote(url: str, key: str | None, asked: Asked, *, is_own: bool) -> Remote:
    """Return the server; without a key for one on the own machine, a hint names `init`."""
    try:
        return Remote(url, key, agent_id=asked.agent_id)
    except NotAuthenticatedError as error:
        if is_own and not key:
            hint = "run `memoryctl init`: it stores a key for memoryctl in the root of this server"
            error.__notes__.insert(0, hint)
        raise


def _open_checked(root: Path, asked: Asked) -> Backend:
    try:
        return _open_root(root, asked)
    except OSError as error:
        raise _unusable(root, error) from error


def _unusable(root: Path, error: OSError) -> UnavailableError:
    unusable = UnavailableError(f"{root} cannot be used: {error.strerror or error}")
    if isinstance(error, PermissionError):
        unusable.add_note("it belongs to another account: use its server with --url and --key")
        unusable.add_note("or run this command as that account, on Windows as administrator")
    return unusable


def _open_root(root: Path, asked: Asked) -> Backend:
    return _owner_of(root, asked) or _open_files(root, asked)


def _owner_of(root: Path, asked: Asked) -> Backend | None:
    """Return the server that owns a root, or None if none is running."""
    if (url := running_url(root)) is None:
        return None
    return _remote(url, asked.server_key or read_key(root), asked, is_own=True)


def _open_files(root: Path, asked: Asked) -> Backend:
    from qms.cli.local import Local  # the whole server: not needed to call one

    deadline = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            local = Local(
                root, command=asked.verb, agent_id=asked.agent_id, is_trial=asked.is_trial
            )
        except ConflictError:
            # Another memoryctl is running, or a server that has no address yet.
            if (owner := _owner_of(root, asked)) is not None:
                return owner
            if time.monotonic() > deadline:
                raise
            time.sleep(_LOCK_PAUSE_S)
            continue
        if local.first_key is not None:
            output.note(f"admin key: {local.first_key}")
        return local
