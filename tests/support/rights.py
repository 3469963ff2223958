"""Looking at the rights of everything in a folder, and a group to give them to."""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import grp


def a_group() -> "grp.struct_group":
    """Return a group that this process may give files to, another than its own where it can."""
    assert sys.platform != "win32"
    import grp  # Windows has no groups of this sort

    if os.geteuid() == 0:
        return next(one for one in grp.getgrall() if one.gr_gid != os.getegid())
    return grp.getgrgid(next((one for one in os.getgroups() if one != os.getegid()), os.getegid()))


def too_open(folder: Path, *, allowed: int = 0o700) -> list[str]:
    """Return everything in a folder, itself included, that grants more than is allowed.

    A temporary file that a running server removes meanwhile grants nothing.
    """
    found = []
    for path in (folder, *sorted(folder.rglob("*"))):
        with suppress(FileNotFoundError):
            mode = stat.S_IMODE(path.lstat().st_mode) & 0o777
            if mode & ~allowed:
                found.append(f"{path.relative_to(folder)} {mode:o}")
    return found
