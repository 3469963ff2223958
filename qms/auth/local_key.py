"""The local key: gives the machine's owner access for one run of the server, in a file of mode 600.

The server keeps only its hash, in memory; see `docs/decisions/0021-local-key.md`.
"""

import contextlib
import logging
from pathlib import Path

from qms.disk.disk import Disk
from qms.disk.regular_files import read_regular

LOCAL_KEY_PLACE = Path(".qms") / "local-key"

log = logging.getLogger(__name__)


def write_local_key(root: Path, key: str, disk: Disk) -> bool:
    """Write the key of this run to its file; say whether that worked."""
    path = root / LOCAL_KEY_PLACE
    try:
        disk.make_folder(path.parent)
        disk.put(path, key.encode() + b"\n", mode=0o600)
    except OSError as error:
        log.warning("local key not written", extra={"reason": error.strerror})
        return False
    return True


def read_local_key(root: Path) -> str | None:
    """Return the key of the running server, or None when it cannot be read."""
    try:
        return read_regular(root / LOCAL_KEY_PLACE).decode().strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def remove_local_key(root: Path, disk: Disk) -> None:
    """Remove the key of this run; it is not valid afterwards."""
    with contextlib.suppress(OSError):
        disk.remove(root / LOCAL_KEY_PLACE)
