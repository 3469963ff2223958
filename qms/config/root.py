"""Finds the data root and locks it for this process."""

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from qms.disk import root_lock
from qms.disk.root_lock import Owner, RootLock
from qms.resources import installation_folder

ROOT_VARIABLE = "QMS_ROOT"
CONFIGURATION_NAME = "QuickMemoryServer.toml"
OWN_FOLDER = ".qms"
"""The folder of the server's own files, in the root and in each store."""

LOCK_PLACE = Path(OWN_FOLDER) / "lock"
KEYS_PLACE = Path(OWN_FOLDER) / "keys.json"
AUDIT_PLACE = Path("logs") / "audit.jsonl"

_APPLICATION = "QuickMemoryServer"


def find_root(option: str | Path | None, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the given root, else that of `QMS_ROOT`, of the installation or of the user."""
    chosen = option or environ.get(ROOT_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    if (installation := installation_folder()) is not None:
        return installed_root(installation)
    import platformdirs  # only here, so that a server with a given root starts faster

    return platformdirs.user_data_path(_APPLICATION, appauthor=False)


def installed_root(installation: Path) -> Path:
    """Return the data folder of an installation.

    Raises:
        QmsError: its layout cannot be read.
    """
    # Only here: it reads and compares files, and memoryctl finds its root on every call.
    from qms.config.install_layout import data_folder, read_layout

    return data_folder(installation, read_layout(installation))


def claim_root(
    root: Path, clock: Callable[[], datetime], *, command: str = "", is_written: bool = True
) -> RootLock:
    """Lock the root until the lock is released or the process ends.

    With `is_written=False` it is locked without a change to its files.

    Raises:
        ConflictError: another process owns it; the message names it.
        OSError: the root cannot be written.
    """
    owner = Owner(
        pid=os.getpid(),
        command=command or shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        started_utc=clock().isoformat(timespec="seconds").replace("+00:00", "Z"),
    )
    if not is_written:
        return root_lock.acquire_without_writing(root / LOCK_PLACE, root=root)
    return root_lock.acquire(root / LOCK_PLACE, owner, root=root)


def announce(held: RootLock, url: str) -> None:
    """Write the owner's URL into the lock file."""
    if held.owner is not None:
        held.describe(msgspec.structs.replace(held.owner, url=url))
