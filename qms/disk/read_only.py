"""A disk that refuses writes, for dry runs."""

import errno
import os
from pathlib import Path

from qms.disk.disk import BY_RIGHTS, Disk


class ReadOnlyDisk(Disk):
    """The real file system as a read-only mount."""

    takes_writes = False

    def open(self, path: Path, *, create: bool = False, mode: int = BY_RIGHTS) -> int:  # noqa: ARG002 - inherited
        """Refuse to open a file for appending."""
        raise _refusal(path)

    def rename(self, source: Path, target: Path) -> None:  # noqa: ARG002 - inherited
        """Refuse to replace a file."""
        raise _refusal(target)

    def exchange(self, first: Path, second: Path) -> bool:  # noqa: ARG002 - inherited
        """Refuse to swap two files."""
        raise _refusal(second)

    def remove(self, path: Path) -> None:
        """Refuse to remove a file that is there."""
        if path.exists():
            raise _refusal(path)

    def make_folder(self, path: Path) -> None:
        """Refuse to make a folder that is not there."""
        if not path.is_dir():
            raise _refusal(path)

    def settle(self, path: Path) -> None:
        """Do nothing: this process has written nothing."""


def _refusal(path: Path) -> OSError:
    return OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
