"""The lock of an install root: one process owns it, and says who it is."""

import os
import sys
from pathlib import Path

import msgspec

from qms.domain.errors import ConflictError

_LOCKED_BYTE = 1 << 30
"""Locked far behind the text, so that Windows lets others read who the owner is."""


class Owner(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The process that holds a root."""

    pid: int
    command: str
    started_utc: str
    url: str = ""


class RootLock:
    """The held lock; released by `release` or the end of the process."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self.path = path

    def describe(self, owner: Owner) -> None:
        """Write down who holds the lock and where it answers."""
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.write(self._descriptor, msgspec.json.encode(owner) + b"\n")

    def release(self) -> None:
        """Give the root back."""
        if self._descriptor < 0:
            return
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)
        self._descriptor = -1


def acquire(path: Path, owner: Owner) -> RootLock:
    """Take the lock at `path` for `owner`.

    Raises:
        ConflictError: another process holds it; the message and details name it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags, 0o600)
    if not _try_lock(descriptor):
        os.close(descriptor)
        holder = read_owner(path)
        if holder is None:
            raise ConflictError(f"{path.parent.parent} is in use by another process")
        raise ConflictError(
            f"{path.parent.parent} is in use by process {holder.pid} ({holder.command}, started"
            f" {holder.started_utc}{', at ' + holder.url if holder.url else ''}):"
            " stop it first, or choose another root",
            **msgspec.to_builtins(holder),
        )
    lock = RootLock(descriptor, path)
    lock.describe(owner)
    return lock


def read_owner(path: Path) -> Owner | None:
    """Return who is written down as the holder, or None."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Owner)
    except (OSError, msgspec.DecodeError):
        return None


def is_held(path: Path) -> bool:
    """Say whether some process holds the lock right now."""
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return False
    try:
        return not _try_lock(descriptor)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
