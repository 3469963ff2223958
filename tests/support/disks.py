"""Disks that fail: the one place where tests put their faults."""

import errno
import os
from pathlib import Path

from qms.disk.disk import Disk


class Killed(BaseException):
    """The process died; nothing of it runs any more."""


class MortalDisk(Disk):
    """Dies at the n-th operation that changes something, in the middle of it."""

    def __init__(self, dies_at: int = 0) -> None:
        self.dies_at = dies_at
        self.operations = 0

    def _step(self) -> bool:
        """Count an operation; True when it is the last one, which is done by half."""
        self.operations += 1
        if self.dies_at and self.operations > self.dies_at:
            raise Killed
        return self.operations == self.dies_at

    def open(self, path: Path, *, create: bool = False, mode: int = 0o600) -> int:
        last = self._step()
        descriptor = super().open(path, create=create, mode=mode)
        if last:
            raise Killed
        return descriptor

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        if self._step():
            super().write(descriptor, data[: len(data) // 2])
            raise Killed
        return super().write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        if self._step():
            raise Killed
        super().sync(descriptor)

    def sync_folder(self, folder: Path) -> None:
        if self._step():
            raise Killed
        super().sync_folder(folder)

    def rename(self, source: Path, target: Path) -> None:
        last = self._step()
        super().rename(source, target)
        if last:
            raise Killed

    def exchange(self, first: Path, second: Path) -> bool:
        last = self._step()
        done = super().exchange(first, second)
        if last:
            raise Killed
        return done

    def remove(self, path: Path) -> None:
        if self._step():
            raise Killed
        super().remove(path)

    def make_folder(self, path: Path) -> None:
        if self._step():
            raise Killed
        super().make_folder(path)


class FullDisk(Disk):
    """Takes no more bytes while it is full."""

    is_full = False

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        if self.is_full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(descriptor, data)


class WindowsDisk(Disk):
    """Renames as Windows does while somebody has the target open, `refusals` times."""

    replace_pause_s = 0.0

    def __init__(self, code: int = 32, refusals: int = 0, name: str = "") -> None:
        self.code = code
        self.refusals = refusals
        self.name = name
        self.refused = 0

    def exchange(self, first: Path, second: Path) -> bool:
        return False

    def rename(self, source: Path, target: Path) -> None:
        if self.refusals and self.name in target.name:
            self.refusals -= 1
            self.refused += 1
            error = OSError(errno.EACCES, "used by another process", str(target))
            # Other systems have no such attribute.
            error.winerror = self.code  # type: ignore[attr-defined,unused-ignore]
            raise error
        super().rename(source, target)
