"""The key of whoever owns the machine: good for one run of the server, kept in a file of mode 600.

The server knows its hash only, and only in memory; see `docs/decisions/0021-local-key.md`.
"""

import contextlib
import logging
from pathlib import Path

from qms.fsio.disk import Disk

LOCAL_KEY_PLACE = Path(".qms") / "local-key"

log = logging.getLogger(__name__)


def write_local_key(root: Path, key: str, disk: Disk) -> bool:
    """Leave the key of this run where its owner finds it; say whether that worked."""
    path = root / LOCAL_KEY_PLACE
    try:
        disk.make_folder(path.parent)
        disk.put(path, key.encode() + b"\n", mode=0o600)
    except OSError as error:
        log.warning("local key not written", extra={"reason": error.strerror})
        return False
    return True


def read_local_key(root: Path) -> str | None:
    """Return the key of the run that is under way, or None where it is not to be had."""
    try:
        return (root / LOCAL_KEY_PLACE).read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def remove_local_key(root: Path, disk: Disk) -> None:
    """Take the key of this run away; it is worth nothing after it."""
    with contextlib.suppress(OSError):
        disk.remove(root / LOCAL_KEY_PLACE)
