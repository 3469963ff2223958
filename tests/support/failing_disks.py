"""Disks that fail: at the n-th sync, at the n-th write, or by writing only part of the bytes."""

import errno
import os
from pathlib import Path

from tests.support.script import ScriptedDisk
from tests.support.stores import UnsyncedDisk


def error_of(code: int) -> OSError:
    return OSError(code, os.strerror(code))


class FailingSyncs(ScriptedDisk, UnsyncedDisk):
    """The n-th sync fails with EIO; every sync is remembered with what was open then."""

    def __init__(self, fails_at: int | None = None) -> None:
        super().__init__()
        self.syncs = 0
        self.failed_file: str | None = None
        self.repeated: list[str] = []
        """Files that were synced again through a descriptor whose sync had failed."""
        self._fails_at = fails_at
        self._names: dict[int, str] = {}
        self._failed_descriptors: set[int] = set()

    def open(self, path: Path, *, create: bool = False, mode: int = 0o600) -> int:
        descriptor = super().open(path, create=create, mode=mode)
        self._names[descriptor] = path.name
        return descriptor

    def close(self, descriptor: int) -> None:
        self._failed_descriptors.discard(descriptor)
        super().close(descriptor)

    def sync(self, descriptor: int) -> None:
        if descriptor in self._failed_descriptors:
            self.repeated.append(self._names[descriptor])
        if self._is_due():
            self._failed_descriptors.add(descriptor)
            self.failed_file = self._names[descriptor]
            raise error_of(errno.EIO)
        super().sync(descriptor)

    def sync_folder(self, folder: Path) -> None:
        if self._is_due():
            self.failed_file = folder.name + "/"
            raise error_of(errno.EIO)
        super().sync_folder(folder)

    def _is_due(self) -> bool:
        self.syncs += 1
        return self.syncs == self._fails_at


class FullDisk(ScriptedDisk, UnsyncedDisk):
    """From the n-th write on there is no room, until somebody makes some.

    The write that meets the end of the room takes half of its bytes, as a file system does.
    """

    def __init__(self, full_at: int | None = None, *, tears: bool = True) -> None:
        super().__init__()
        self.writes = 0
        self.is_full = False
        self.was_full = False
        self._full_at = full_at
        self._tears = tears

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        self.writes += 1
        if self.is_full:
            raise error_of(errno.ENOSPC)
        if self.writes == self._full_at:
            self.is_full = self.was_full = True
            if not self._tears or len(data) < 2:
                raise error_of(errno.ENOSPC)
            return super().write(descriptor, data[: len(data) // 2])
        return super().write(descriptor, data)


class ShortWrites(ScriptedDisk, UnsyncedDisk):
    """Every write takes a few bytes only."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.writes = 0
        self._most = most

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        self.writes += 1
        return super().write(descriptor, data[: 1 + self.writes % self._most])
