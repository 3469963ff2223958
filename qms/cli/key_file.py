"""The key that `memoryctl init` leaves in a root, for those who own the root's files."""

import os
import stat
from pathlib import Path

from qms.cli import output
from qms.fsio.disk import Disk

KEY_PLACE = Path(".qms") / "memoryctl.key"

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def read_key(root: Path) -> str | None:
    """Return the key of a root, unless others than its owner could have read it."""
    path = root / KEY_PLACE
    try:
        if os.name == "posix" and path.stat().st_mode & _OTHERS:
            output.warning(f"{path} is not used: others may read it")
            output.hint(f"chmod 600 {path}, after `memoryctl keys revoke` if it was seen")
            return None
        return path.read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def write_key(root: Path, key: str) -> Path:
    """Keep a key in a root, for its owner alone, and return where."""
    path = root / KEY_PLACE
    path.parent.mkdir(parents=True, exist_ok=True)
    Disk().put(path, f"{key}\n".encode())
    return path
