"""The lock of an install root: one process owns the root, and the lock file names it.

There are two locks. The file `.qms/lock` names the owner, and any process can remove it. The folder
of the root is locked too, on systems that can lock folders: removing the file does not unlock the
root, and a read-only disk can be locked.
"""

import errno
import os
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import msgspec

from qms.disk.permissions import Rights, make_folder
from qms.disk.regular_files import open_regular, read_regular
from qms.memory.errors import UNDECODABLE, ConflictError

_LOCKED_BYTE = 1 << 30
"""The locked byte is far behind the text, so that Windows lets others read the owner."""

_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_READ_ONLY_ERRNOS = frozenset({errno.EROFS, errno.ENOSPC, errno.EDQUOT})
_HELD = -1
"""Returned in place of a descriptor when another process holds the lock."""

_FOLDER_ATTEMPTS = 5
_FOLDER_PAUSE_S = 0.02


class Owner(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The process that holds a root."""

    pid: int
    command: str
    started_utc: str
    url: str = ""


class RootLock:
    """The held lock; released by `release` or the end of the process."""

    def __init__(self, path: Path, *, descriptor: int | None, folder: int | None) -> None:
        """Keep the descriptors of the lock file and of the root's folder, if there are any."""
        self.path = path
        self._descriptor = descriptor
        self._folder = folder
        self._owner: Owner | None = None
        self.is_new = False
        """Whether this process has created the file and, with it, the folder."""

    @property
    def owner(self) -> Owner | None:
        """Return the owner that was last written to the file."""
        return self._owner

    def describe(self, owner: Owner) -> None:
        """Write the owner and its URL to the lock file; a read-only disk is no error.

        Raises:
            OSError: the file cannot be written, and the folder is not locked.
        """
        self._owner = owner
        if self._descriptor is None:
            return
        try:
            os.ftruncate(self._descriptor, 0)
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, msgspec.json.encode(owner) + b"\n")
        except OSError as error:
            if self._folder is None or error.errno not in _READ_ONLY_ERRNOS:
                raise

    def restore(self) -> bool:
        """Create the lock file again if it was removed; say whether that was done."""
        if self._descriptor is None or _leads_to(self.path, self._descriptor):
            return False
        _make_folder(self.path.parent)
        try:
            descriptor = _lock_file(self.path)
        except OSError:
            return False  # the lock of the folder still holds
        if descriptor == _HELD:
            return False  # by a process that does not lock the folder
        os.close(self._descriptor)
        self._descriptor = descriptor
        if self._owner is not None:
            self.describe(self._owner)
        return True

    def release(self) -> None:
        """Release both locks."""
        if self._descriptor is not None:
            if self._owner is not None:
                with suppress(OSError):
                    os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
        if self._folder is not None:
            os.close(self._folder)
        self._descriptor = self._folder = None


def acquire(path: Path, owner: Owner, *, root: Path | None = None) -> RootLock:
    """Lock the file at `path` for `owner`, and the folder of the root.

    The file can be removed while it is locked; the lock of the folder still excludes others. On a
    read-only disk the folder is locked without the file.

    Raises:
        ConflictError: another process holds the lock; the message and details name it.
        OSError: the lock file cannot be created, and the folder cannot be locked.
    """
    with ExitStack() as undo:
        is_new = not path.exists()
        refused = _make_folder(path.parent)
        folder = _lock_folder(root) if root is not None else None
        if folder == _HELD:
            raise _conflict(path)
        if folder is not None:
            undo.callback(os.close, folder)
        descriptor = None
        try:
            descriptor = _lock_file(path)
        except OSError as error:
            refused = refused or error
            if folder is None or refused.errno not in _READ_ONLY_ERRNOS:
                raise refused from None
        if descriptor == _HELD:
            raise _conflict(path)
        if descriptor is not None:
            undo.callback(os.close, descriptor)
        lock = RootLock(path, descriptor=descriptor, folder=folder)
        lock.is_new = is_new and descriptor is not None
        lock.describe(owner)
        undo.pop_all()
    return lock


def acquire_without_writing(path: Path, *, root: Path) -> RootLock:
    """Lock a root without changing any file of it.

    Raises:
        ConflictError: another process holds the lock; the message and details name it.
        OSError: the lock file cannot be opened.
    """
    with ExitStack() as undo:
        folder = _lock_folder(root)
        if folder == _HELD:
            raise _conflict(path)
        if folder is not None:
            undo.callback(os.close, folder)
        descriptor = _lock_file(path) if path.exists() else None
        if descriptor == _HELD:
            raise _conflict(path)
        undo.pop_all()
    return RootLock(path, descriptor=descriptor, folder=folder)


def _make_folder(folder: Path) -> OSError | None:
    try:
        make_folder(folder, Rights())
    except OSError as error:
        return error
    return None


def _conflict(path: Path) -> ConflictError:
    holder = read_owner(path)
    if holder is None:
        return ConflictError(f"{path.parent.parent} is in use by another process")
    return ConflictError(
        f"{path.parent.parent} is in use by process {holder.pid} ({holder.command}, started"
        f" {holder.started_utc}{', at ' + holder.url if holder.url else ''}):"
        " stop it first, or choose another root",
        **msgspec.to_builtins(holder),
    )


def read_owner(path: Path) -> Owner | None:
    """Return the owner that the lock file names, or None."""
    try:
        return msgspec.json.decode(read_regular(path), type=Owner)
    except (OSError, *UNDECODABLE):
        return None


def is_held(path: Path, *, root: Path | None = None) -> bool:
    """Say whether a process holds the lock file or the folder of the root now."""
    if root is not None and _is_folder_held(root):
        return True
    try:
        descriptor = open_regular(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno == errno.EROFS:
            return False  # only the folder can be locked there
        raise
    try:
        return not _try_lock(descriptor)
    finally:
        os.close(descriptor)


def _open_file(path: Path) -> int:
    return open_regular(path, os.O_RDWR | os.O_CREAT)


def _lock_file(path: Path) -> int:
    """Return the descriptor of the locked file, or `_HELD`."""
    while True:
        descriptor = _open_file(path)
        if not _try_lock(descriptor):
            os.close(descriptor)
            return _HELD
        if _leads_to(path, descriptor):
            return descriptor
        os.close(descriptor)  # removed between open and lock


def _lock_folder(folder: Path) -> int | None:
    """Return the descriptor of the locked folder, `_HELD`, or None if it cannot be locked."""
    for attempt in range(_FOLDER_ATTEMPTS):
        descriptor = _open_folder(folder)
        if descriptor is None:
            return None
        try:
            _flock(descriptor)
        except BlockingIOError:
            os.close(descriptor)
            # `is_held` in another process locks it for a moment.
            time.sleep(_FOLDER_PAUSE_S if attempt < _FOLDER_ATTEMPTS - 1 else 0)
        except OSError:
            os.close(descriptor)
            return None  # some network file systems lock files only
        else:
            return descriptor
    return _HELD


def _is_folder_held(folder: Path) -> bool:
    descriptor = _open_folder(folder)
    if descriptor is None:
        return False
    try:
        _flock(descriptor)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _open_folder(folder: Path) -> int | None:
    if sys.platform == "win32":
        return None  # no lock needed: Windows does not remove a file while it is open
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | _FLAGS)
    except OSError:
        return None


def _leads_to(path: Path, descriptor: int) -> bool:
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    held = os.fstat(descriptor)
    return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            _flock(descriptor)
    except OSError:
        return False
    return True


def _flock(descriptor: int) -> None:
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
