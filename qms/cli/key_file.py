"""Reads the key file of a root, which `memoryctl init` writes."""

import os
import stat
from pathlib import Path

from qms.cli import output

KEY_PLACE = Path(".qms") / "memoryctl.key"

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def read_key(root: Path) -> str | None:
    """Return the key of a root, unless other users can read the file."""
    path = root / KEY_PLACE
    try:
        if os.name == "posix" and path.stat().st_mode & _OTHERS:
            output.warning(f"{path} is ignored: other users can read it")
            output.hint(f"chmod 600 {path}, after `memoryctl keys revoke` if it has leaked")
            return None
        return path.read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None
