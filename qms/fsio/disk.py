"""The file operations that durability rests on.

Everything in the house that writes goes through a `Disk`. Tests hand in a subclass whose `write`,
`sync` or `replace` fails, is slow or is recorded; the product hands in this one.
"""

import ctypes
import errno
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

_BASE_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_SHARING_VIOLATIONS = frozenset({5, 32, 33})
_REPLACE_ATTEMPTS = 8
_REPLACE_PAUSE_S = 0.02
_COPY_BYTES = 1 << 20
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2

READ_ONLY_ERRNOS = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EFBIG}
)
"""Errors that mean the disk does not take writes now."""


class FileIdentity(msgspec.Struct, frozen=True, rename="camel"):
    """What tells one state of a file from another without reading it."""

    size: int
    mtime_ns: int
    inode: int


def is_sharing_violation(error: OSError) -> bool:
    """Say whether Windows refused because somebody has the file open."""
    return getattr(error, "winerror", None) in _SHARING_VIOLATIONS


class Disk:
    """The real file system."""

    def open(self, path: Path, *, create: bool = False, mode: int = 0o600) -> int:
        """Open a file for appending and return its descriptor."""
        flags = os.O_RDWR | os.O_APPEND | _BASE_FLAGS | (os.O_CREAT if create else 0)
        return os.open(path, flags, mode)

    def close(self, descriptor: int) -> None:
        """Close a descriptor."""
        os.close(descriptor)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        """Write some of `data` and return how much."""
        return os.write(descriptor, data)

    def write_all(self, descriptor: int, data: bytes) -> None:
        """Write all of `data`, however many calls it takes.

        Raises:
            OSError: part of it may be in the file.
        """
        written = self.write(descriptor, data)
        if written == len(data):
            return
        rest = memoryview(data)[written:]
        while rest:
            written = self.write(descriptor, rest)
            if written == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            rest = rest[written:]

    def sync(self, descriptor: int) -> None:
        """Return after the file's data is on stable storage."""
        if sys.platform == "linux":
            os.fdatasync(descriptor)
        elif sys.platform == "darwin":
            import fcntl

            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        else:
            os.fsync(descriptor)

    def sync_folder(self, folder: Path) -> None:
        """Return after the folder's names are on stable storage; nothing to do on Windows."""
        if os.name == "nt":
            return
        descriptor = os.open(folder, os.O_RDONLY | _BASE_FLAGS)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        """Cut a file to `size` bytes."""
        os.ftruncate(descriptor, size)

    def rename(self, source: Path, target: Path) -> None:
        """Put `source` in the place of `target` in one step."""
        source.replace(target)

    def replace(self, source: Path, target: Path) -> None:
        """Put `source` in the place of `target`, waiting out a reader on Windows.

        Raises:
            OSError: a sharing violation that did not pass (`is_sharing_violation`), or another.
        """
        for attempt in range(_REPLACE_ATTEMPTS):
            try:
                return self.rename(source, target)
            except OSError as error:
                if not is_sharing_violation(error) or attempt == _REPLACE_ATTEMPTS - 1:
                    raise
                time.sleep(_REPLACE_PAUSE_S * (attempt + 1))
        return None

    def exchange(self, first: Path, second: Path) -> bool:
        """Swap two files in one step; False where the system cannot, and nothing happened."""
        if sys.platform != "linux" or _renameat2 is None:
            return False
        status = _renameat2(
            _AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE
        )
        if status == 0:
            return True
        code = ctypes.get_errno()
        if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
            return False
        raise OSError(code, os.strerror(code), str(second))

    def remove(self, path: Path) -> None:
        """Remove a file if it is there."""
        path.unlink(missing_ok=True)

    def make_folder(self, path: Path) -> None:
        """Make a folder and what leads to it."""
        path.mkdir(parents=True, exist_ok=True)

    def read(self, path: Path) -> bytes:
        """Return the whole content of a file."""
        return path.read_bytes()

    def read_tail(self, path: Path, size: int) -> bytes:
        """Return at most the last `size` bytes of a file; nothing when it is not there."""
        try:
            with path.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - size))
                return file.read()
        except FileNotFoundError:
            return b""

    def read_part(self, path: Path, start: int, size: int) -> bytes:
        """Return at most `size` bytes of a file from `start` on."""
        with path.open("rb") as file:
            file.seek(start)
            return file.read(size)

    def identity(self, path: Path) -> FileIdentity | None:
        """Return what a file looks like from outside, or None when it is not there."""
        try:
            status = path.stat()
        except FileNotFoundError:
            return None
        return FileIdentity(status.st_size, status.st_mtime_ns, status.st_ino)

    def write_new(
        self, path: Path, chunks: Iterable[bytes], *, sync: bool = True, mode: int = 0o600
    ) -> None:
        """Write a file from the start; on failure nothing is left of it."""
        self.remove(path)
        descriptor = self.open(path, create=True, mode=mode)
        try:
            for chunk in chunks:
                self.write_all(descriptor, chunk)
            if sync:
                self.sync(descriptor)
        except BaseException:
            self.close(descriptor)
            self.remove(path)
            raise
        self.close(descriptor)

    def put(self, path: Path, data: bytes, *, mode: int = 0o600) -> None:
        """Write a whole file so that a reader sees the old or the new one, and it lasts."""
        temporary = path.with_name(path.name + ".tmp")
        self.write_new(temporary, [data], mode=mode)
        self.replace(temporary, path)
        self.sync_folder(path.parent)

    def append(self, path: Path, data: bytes, *, mode: int = 0o600) -> None:
        """Append to a file and sync it; on failure it is as long as before, or not there."""
        is_new = not path.exists()
        descriptor = self.open(path, create=True, mode=mode)
        size = os.fstat(descriptor).st_size
        try:
            try:
                self.write_all(descriptor, data)
                self.sync(descriptor)
                if is_new:
                    self.sync_folder(path.parent)
            except OSError:
                self.truncate(descriptor, size)
                raise
            finally:
                self.close(descriptor)
        except OSError:
            if is_new:
                self.remove(path)  # so that the next attempt makes the name last, too
            raise

    def settle(self, path: Path) -> None:
        """Return after what is in a file is on stable storage, whoever wrote it."""
        descriptor = self.open(path)
        try:
            self.sync(descriptor)
        finally:
            self.close(descriptor)

    def copy(self, source: Path, target: Path, *, sync: bool = False) -> None:
        """Copy a file's content through a temporary name, sharing blocks where possible."""
        temporary = target.with_name(target.name + ".tmp")
        self.remove(temporary)
        reader = os.open(source, os.O_RDONLY | _BASE_FLAGS)
        try:
            writer = self.open(temporary, create=True)
            try:
                self._copy_descriptor(reader, writer)
                if sync:
                    self.sync(writer)
            finally:
                self.close(writer)
        finally:
            os.close(reader)
        self.replace(temporary, target)

    def _copy_descriptor(self, reader: int, writer: int) -> None:
        while chunk := os.read(reader, _COPY_BYTES):
            self.write_all(writer, chunk)


def _find_renameat2() -> Callable[..., int] | None:
    if sys.platform != "linux":
        return None
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        return None
    function.argtypes = [
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    ]
    function.restype = ctypes.c_int
    found: Callable[..., int] = function
    return found


_renameat2 = _find_renameat2()
