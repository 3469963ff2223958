"""Reads a file beneath a folder without following any link, so that no swap leads outside."""

import os
import stat
import sys
from pathlib import Path, PurePath

from qms.disk.regular_files import UnfitFileError


def read_beneath(root: Path, path: PurePath, most_bytes: int) -> bytes:
    """Return a file below `root`, at most one byte more than `most_bytes`.

    Each folder on the way is opened from the one before, and none may be a link.

    Raises:
        OSError: there is no such file, or a part of the path is a link.
        UnfitFileError: it is not a regular file.
    """
    if sys.platform == "win32":
        return _read_checked(root, path, most_bytes)
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in path.parts[:-1]:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        file = os.open(path.parts[-1], flags, dir_fd=folder)
    finally:
        os.close(folder)
    with os.fdopen(file, "rb") as opened:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise UnfitFileError("is not a regular file", Path(path))
        return opened.read(most_bytes + 1)


def _read_checked(root: Path, path: PurePath, most_bytes: int) -> bytes:
    """Read where folders cannot be opened one from another: no part may be a link."""
    whole = root.resolve()
    for name in path.parts:
        whole = whole / name
        if whole.is_symlink() or whole.resolve() != whole.absolute():
            raise FileNotFoundError(f"{name} is a link")
    if not whole.is_file():
        raise UnfitFileError("is not a regular file", whole)
    with whole.open("rb") as opened:
        return opened.read(most_bytes + 1)
