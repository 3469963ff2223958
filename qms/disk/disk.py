"""Disk: the file operations that durability depends on.

Every write of the server goes through a `Disk`. Tests pass a subclass whose `write`, `sync` or
`replace` fails, is slow or is recorded; the server passes this one.
"""

import ctypes
import errno
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType

import msgspec

from qms.disk.permissions import Rights, make_folder, resemble
from qms.disk.regular_files import (
    UnfitFileError,
    kind_flaw,
    open_regular,
    place_flaw,
    regular_reader,
    size_flaw,
)
from qms.memory.limits import DEFAULT_LIMITS

log = logging.getLogger(__name__)

_BASE_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_SHARING_VIOLATIONS = frozenset({5, 32, 33})
_COPY_BYTES = 1 << 20
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2

BY_RIGHTS = 0
"""A new file gets the mode that `Disk.rights` says."""

READ_ONLY_ERRNOS = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EFBIG}
)
"""Errors that mean that the disk accepts no writes now."""


class FileIdentity(msgspec.Struct, frozen=True, rename="camel"):
    """Distinguishes the states of a file without reading it."""

    size: int
    mtime_ns: int
    inode: int


def is_sharing_violation(error: OSError) -> bool:
    """Say whether Windows refused because another process has the file open."""
    return getattr(error, "winerror", None) in _SHARING_VIOLATIONS


class Disk:
    """The real file system.

    It opens regular files only. Those of a confined folder have to be where `confine` says. A file
    that it refused to open is remembered until it is fixed (`unfit_below`).
    """

    file_megabytes: int = DEFAULT_LIMITS.file_megabytes
    """A longer file is not read into memory: the limit `fileMegabytes`."""

    rights: Rights = Rights()
    """Who may read new files and folders."""

    takes_writes: bool = True
    """Whether this disk may be written at all, whatever the operating system allows."""

    replace_attempts: int = 8
    """How often a file is put in the place of one that another program has open."""

    replace_pause_s: float = 0.02
    """How long to wait after the first of these attempts; each further wait is longer."""

    _confined: Mapping[Path, tuple[Path, ...]] = MappingProxyType({})
    _unfit: Mapping[Path, str] = MappingProxyType({})

    def confine(self, folder: Path, *inside: Path) -> None:
        """Refuse files of this folder whose links lead out of it and out of `inside`."""
        places = tuple(Path(os.path.realpath(place)) for place in (folder, *inside))
        self._confined = {**self._confined, folder: places}

    def unfit_below(self, folder: Path) -> dict[str, str]:
        """Return why files below a folder are not opened, by their path in it."""
        for path in list(self._unfit):
            self._note(path, self._flaw(path, is_whole=True))
        return {
            path.relative_to(folder).as_posix(): reason
            for path, reason in self._unfit.items()
            if path.is_relative_to(folder)
        }

    def check_folder(self, folder: Path) -> None:
        """Check every file of a folder that a library opens by itself.

        Raises:
            UnfitFileError: one of them must not be opened.
        """
        for path in folder.iterdir():
            self._refuse_unfit(path)

    def open(self, path: Path, *, create: bool = False, mode: int = BY_RIGHTS) -> int:
        """Open a file for appending and return its descriptor.

        Raises:
            UnfitFileError: it is not a regular file, or not in its place.
        """
        self._refuse_unfit(path)
        flags = os.O_RDWR | os.O_APPEND | (os.O_CREAT if create else 0)
        return open_regular(path, flags, mode or self.rights.file_mode)

    def reader(self, path: Path, *, is_whole: bool = False) -> BufferedReader:
        """Return a file that is open for reading; `is_whole` refuses one that is too long for RAM.

        Raises:
            UnfitFileError: it is not a regular file, not in its place, or too long.
        """
        self._refuse_unfit(path, is_whole=is_whole)
        return regular_reader(path)

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
        """Replace `target` by `source` in one step."""
        source.replace(target)

    def replace(self, source: Path, target: Path) -> None:
        """Replace `target` by `source`; on Windows retry while a reader has it open.

        Raises:
            UnfitFileError: the target of a file is a folder.
            OSError: a sharing violation that lasted (`is_sharing_violation`), or another error.
        """
        if target.is_dir() and not source.is_dir():
            self._refuse_unfit(target)
        for attempt in range(self.replace_attempts):
            try:
                return self.rename(source, target)
            except OSError as error:
                if not is_sharing_violation(error) or attempt == self.replace_attempts - 1:
                    raise
                time.sleep(self.replace_pause_s * (attempt + 1))
        return None

    def exchange(self, first: Path, second: Path) -> bool:
        """Swap two files in one step; return False, without a change, if the system cannot."""
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
        """Create a folder and its parents."""
        make_folder(path, self.rights)

    def read(self, path: Path) -> bytes:
        """Return the whole content of a file."""
        with self.reader(path, is_whole=True) as file:
            return file.read()

    def read_tail(self, path: Path, size: int) -> bytes:
        """Return at most the last `size` bytes of a file; empty when there is no file."""
        try:
            with self.reader(path) as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - size))
                return file.read()
        except FileNotFoundError:
            return b""

    def read_part(self, path: Path, start: int, size: int) -> bytes:
        """Return at most `size` bytes of a file from `start` on."""
        with self.reader(path, is_whole=True) as file:
            file.seek(start)
            return file.read(size)

    def identity(self, path: Path) -> FileIdentity | None:
        """Return the size, time and inode of a file, or None when there is no file."""
        try:
            status = path.stat()
        except FileNotFoundError:
            return None
        return FileIdentity(status.st_size, status.st_mtime_ns, status.st_ino)

    def write_new(
        self,
        path: Path,
        chunks: Iterable[bytes],
        *,
        sync: bool = True,
        mode: int = BY_RIGHTS,
        replaces: Path | None = None,
    ) -> None:
        """Write a new file; on failure remove it.

        It gets the mode and the group of the file that it will replace, if there is one.
        """
        self.remove(path)
        descriptor = self.open(path, create=True, mode=mode)
        with ExitStack() as undo:
            undo.callback(self.remove, path)
            undo.callback(self.close, descriptor)
            if replaces is not None:
                resemble(descriptor, replaces)
            for chunk in chunks:
                self.write_all(descriptor, chunk)
            if sync:
                self.sync(descriptor)
            undo.pop_all()
        self.close(descriptor)

    def put(self, path: Path, data: bytes, *, mode: int = BY_RIGHTS) -> None:
        """Write a whole file atomically and durably: a reader sees the old or the new one.

        Without a mode it keeps the mode and the group that the file had.
        """
        temporary = path.with_name(path.name + ".tmp")
        self.write_new(temporary, [data], mode=mode, replaces=None if mode else path)
        self.replace(temporary, path)
        self.sync_folder(path.parent)

    def append(self, path: Path, data: bytes, *, mode: int = BY_RIGHTS) -> None:
        """Append to a file and sync it; on failure the file is as before."""
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
                self.remove(path)  # so that the next attempt syncs the name, too
            raise

    def settle(self, path: Path) -> None:
        """Return after the content of a file is on stable storage, whichever process wrote it."""
        descriptor = self.open(path)
        try:
            self.sync(descriptor)
        finally:
            self.close(descriptor)

    def copy(self, source: Path, target: Path, *, sync: bool = False) -> None:
        """Copy a file's content through a temporary name."""
        temporary = target.with_name(target.name + ".tmp")
        self.remove(temporary)
        with self.reader(source) as reader:
            writer = self.open(temporary, create=True)
            try:
                while chunk := reader.read(_COPY_BYTES):
                    self.write_all(writer, chunk)
                if sync:
                    self.sync(writer)
            finally:
                self.close(writer)
        self.replace(temporary, target)

    def _refuse_unfit(self, path: Path, *, is_whole: bool = False) -> None:
        reason = self._flaw(path, is_whole=is_whole)
        if reason is not None:
            self._note(path, reason)
            raise UnfitFileError(reason, path)

    def _flaw(self, path: Path, *, is_whole: bool) -> str | None:
        inside = next((self._confined[one] for one in path.parents if one in self._confined), None)
        return (
            (place_flaw(path, inside) if inside is not None else None)
            or kind_flaw(path)
            or (size_flaw(path, self.file_megabytes) if is_whole else None)
        )

    def _note(self, path: Path, reason: str | None) -> None:
        if self._unfit.get(path) == reason:
            return
        if reason is not None:
            log.warning("file not opened", extra={"file": path.name, "reason": reason})
            self._unfit = {**self._unfit, path: reason}
        else:
            log.info("file usable again", extra={"file": path.name})
            self._unfit = {one: why for one, why in self._unfit.items() if one != path}


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
