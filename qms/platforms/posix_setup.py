"""Service setup on every POSIX system: the check for root, the account, the data folder."""

import os
import pwd
from collections.abc import Callable
from pathlib import Path

from qms.memory.errors import InvalidInputError, NotAllowedError, NotFoundError, UnavailableError

_ROOT_MODE = 0o700


def is_root() -> bool:
    """Say whether this process may change the services of the machine."""
    return os.geteuid() == 0


def check_root(is_root: Callable[[], bool]) -> None:
    """Raise `NotAllowedError` unless the process runs as root."""
    if not is_root():
        error = NotAllowedError("only root may change the services of this machine")
        error.add_note("run the same command with sudo")
        raise error


def check_account(account: str) -> None:
    """Raise `InvalidInputError` when the machine has no such account."""
    try:
        pwd.getpwnam(account)
    except KeyError:
        raise InvalidInputError(f"there is no account {account} on this machine") from None


def make_root(root: Path, account: str) -> None:
    """Create a missing data root, owned by the account that will use it.

    Raises:
        UnavailableError: it cannot be created.
    """
    if not root.exists():
        try:
            root.mkdir(mode=_ROOT_MODE, parents=True)
        except OSError as error:
            raise UnavailableError(f"{root} cannot be created: {error.strerror}") from error
        hand_over(root, account)


def hand_over(root: Path, account: str) -> None:
    """Change the owner of a data root and everything in it.

    Raises:
        UnavailableError: the owner cannot be changed.
    """
    try:
        user = pwd.getpwnam(account)
        for path in (root, *root.rglob("*")):
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
    except (OSError, KeyError) as error:
        raise UnavailableError(f"{root} cannot be given to {account}: {error}") from error


def not_installed() -> NotFoundError:
    """Return the error for a missing service."""
    return NotFoundError("the service is not installed")
