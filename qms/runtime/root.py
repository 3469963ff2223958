"""The install root: where it is, and who owns it."""

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from qms.files.layout import data_folder, read_layout
from qms.fsio import lock
from qms.fsio.lock import Owner, RootLock
from qms.resources import installation_folder

ROOT_VARIABLE = "QMS_ROOT"
CONFIGURATION_NAME = "QuickMemoryServer.toml"
LOCK_PLACE = Path(".qms") / "lock"
KEYS_PLACE = Path(".qms") / "keys.json"
AUDIT_PLACE = Path("logs") / "audit.jsonl"

_APPLICATION = "QuickMemoryServer"


def find_root(option: str | Path | None, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the root that was asked for, else that of `QMS_ROOT`, the installation or the user."""
    chosen = option or environ.get(ROOT_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    if (installation := installation_folder()) is not None:
        return installed_root(installation)
    import platformdirs  # only here, so that a server with a root starts without it

    return platformdirs.user_data_path(_APPLICATION, appauthor=False)


def installed_root(installation: Path) -> Path:
    """Return where an installation keeps its data.

    Raises:
        QmsError: its layout cannot be read.
    """
    return data_folder(installation, read_layout(installation))


def claim_root(root: Path, clock: Callable[[], datetime], *, command: str = "") -> RootLock:
    """Own the root until the lock is released or the process ends.

    Raises:
        ConflictError: another process owns it; the message names it.
        OSError: the root cannot be written.
    """
    owner = Owner(
        pid=os.getpid(),
        command=command or shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        started_utc=clock().isoformat(timespec="seconds").replace("+00:00", "Z"),
    )
    return lock.acquire(root / LOCK_PLACE, owner)


def announce(held: RootLock, url: str) -> None:
    """Write down where the owner of the lock answers."""
    owner = lock.read_owner(held.path)
    if owner is not None:
        held.describe(msgspec.structs.replace(owner, url=url))
