"""Creates keys in the configuration file, and waits until a running server accepts them."""

import time
from pathlib import Path

import msgspec

from qms.cli import output
from qms.cli.instants import now
from qms.cli.keys import KeyWanted, access_of_new
from qms.cli.remote import Remote
from qms.cli.target import running_url
from qms.config.api_keys import KeyRecord
from qms.config.configuration import Configuration, key_record, new_key
from qms.config.root import CONFIGURATION_NAME
from qms.config.settings import Settings
from qms.config.toml_file import add_key, set_user
from qms.disk.disk import Disk
from qms.memory.access import AccessTier
from qms.memory.errors import NotAuthenticatedError, RateLimitedError, UnavailableError

TAKE_OVER_S = 15.0
"""How long to wait until a running server accepts the new key."""

_PAUSE_S = 0.05


class Made(msgspec.Struct, frozen=True):
    """A key that was created, and the tier of its user."""

    id: str
    key: str
    tier: str


def create(root: Path, wanted: KeyWanted) -> Made:
    """Create a key for a user in the configuration file.

    Raises:
        QmsError: the user does not exist and no tier was given, or the file cannot be used.
    """
    key = new_key()
    record = key_record(key, now(), label=wanted.label, expires_utc=wanted.expires_utc)
    settings = store_key(root, wanted.user, wanted.access, record)
    access = settings.users[settings.find_user(wanted.user) or wanted.user].access
    return Made(record.id, key, access.label)


def store_key(root: Path, user: str, access: AccessTier | None, record: KeyRecord) -> Settings:
    """Add a key to the configuration file, and set the user's tier if one is given.

    Raises:
        QmsError: the user does not exist and no tier was given, or the file cannot be used.
    """
    configuration = Configuration(root / CONFIGURATION_NAME, Disk(), now)
    try:
        first_key = configuration.load()
        if first_key is not None:
            output.note(f"admin key: {first_key}")

        def change(text: str) -> str:
            wanted = access if access is not None else _default_access(configuration, user)
            if wanted is not None:
                text = set_user(text, user, wanted)
            return add_key(text, user, record)

        return configuration.edit(change)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnavailableError(f"{configuration.path} cannot be used: {reason}") from error


def _default_access(configuration: Configuration, user: str) -> AccessTier | None:
    """Return the tier to set when none was given: for a new admin only."""
    return None if configuration.settings.find_user(user) else access_of_new(user)


def await_server(root: Path, key: str) -> None:
    """Wait until the server that owns the root, if any, accepts the key."""
    if (url := running_url(root)) is None:
        return
    deadline = time.monotonic() + TAKE_OVER_S
    try:
        while not _accepts(url, key):
            if time.monotonic() > deadline:
                output.warning(f"the server at {url} does not accept the key yet: see its health")
                return
            time.sleep(_PAUSE_S)
    except UnavailableError as error:
        output.warning(error.message)
        return
    output.note(f"the server at {url} accepts the key")


def _accepts(url: str, key: str) -> bool:
    remote = Remote(url, key)
    try:
        remote.projects()
    except (NotAuthenticatedError, RateLimitedError):
        return False  # rate limited: wrong keys are counted, so the key is not known yet
    finally:
        remote.close()
    return True
