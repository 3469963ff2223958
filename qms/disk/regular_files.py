"""Opens regular files only; every file of a root is read and appended to through this module.

Opening a FIFO waits for its other end, and a device may do anything. So the file type is checked
before the file is opened, and again on the open descriptor.
"""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

from qms.memory.errors import UnavailableError

MEGABYTE = 1 << 20

_FLAGS = (
    getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
)

_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


class UnfitFileError(UnavailableError, OSError):
    """A path that must not be opened; the message says why and what to do.

    It is an `OSError`, as for any file that cannot be read; a caller of a command may see it.
    """

    def __init__(self, reason: str, path: Path) -> None:
        UnavailableError.__init__(self, f"{path.name} {reason}", file=path.name)
        self.errno, self.strerror, self.filename = errno.EINVAL, reason, str(path)

    def __str__(self) -> str:
        """Return the message: it names the file without its folders."""
        return self.message


def open_regular(path: Path, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Open a regular file and return its descriptor; never wait for another process.

    Raises:
        UnfitFileError: the path leads to something else.
        OSError: the file cannot be opened.
    """
    if (reason := kind_flaw(path)) is not None:
        raise UnfitFileError(reason, path)
    descriptor = os.open(path, flags | _FLAGS, mode)
    reason = _flaw_of_mode(os.fstat(descriptor).st_mode)
    if reason is not None:
        os.close(descriptor)
        raise UnfitFileError(reason, path)
    return descriptor


def read_regular(path: Path) -> bytes:
    """Return the content of a regular file.

    Raises:
        UnfitFileError: the path leads to something else.
        OSError: the file cannot be read.
    """
    with regular_reader(path) as file:
        return file.read()


def regular_reader(path: Path) -> BufferedReader:
    """Return a regular file that is open for reading.

    Raises:
        UnfitFileError: the path leads to something else.
        OSError: the file cannot be opened.
    """
    return open(open_regular(path), "rb")


def kind_flaw(path: Path) -> str | None:
    """Return why a path of this file type is not opened; None for a regular or missing file."""
    try:
        return _flaw_of_mode(path.stat().st_mode)
    except OSError:
        return None  # opening it gives a better error


def place_flaw(path: Path, inside: tuple[Path, ...]) -> str | None:
    """Return why a path is not opened if its links lead out of all these folders."""
    real = Path(os.path.realpath(path))
    if any(real.is_relative_to(folder) for folder in inside):
        return None
    return (
        "is reached by a symbolic link that leads out of the root: put the file itself there,"
        " or set storagePath to an absolute path"
    )


def size_flaw(path: Path, most_megabytes: int) -> str | None:
    """Return why a file is not read if it is longer than the limit `fileMegabytes`."""
    try:
        size = path.stat().st_size
    except OSError:
        return None
    if size <= most_megabytes * MEGABYTE:
        return None
    return (
        f"has {size // MEGABYTE} MB, more than the limit fileMegabytes of {most_megabytes}:"
        " put the right file in its place, or raise the limit in [global.limits]"
    )


def _flaw_of_mode(mode: int) -> str | None:
    if stat.S_ISREG(mode):
        return None
    kind = _KINDS.get(stat.S_IFMT(mode), "something else")
    return f"is {kind}, not a regular file: put a regular file in its place"
