"""A store that is opened for the first time while its disk takes no writes."""

import errno
import os
from pathlib import Path

import pytest

from qms.disk.disk import Disk
from qms.memory.errors import StorageFullError
from qms.store.options import StoreOptions
from tests.support.projects import open_store, remember, text_of

LINE = '{"id":"p:by-hand","kind":"note","title":"By hand","body":{"text":"read"}}\n'


class ReadOnlyDisk(Disk):
    """A disk that takes no new name until it is mended."""

    is_mended = False

    def open(self, path: Path, *, create: bool = False, mode: int = 0o600) -> int:
        self._check(path)
        return super().open(path, create=create, mode=mode)

    def make_folder(self, path: Path) -> None:
        self._check(path)
        super().make_folder(path)

    def _check(self, path: Path) -> None:
        if not self.is_mended:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))


@pytest.mark.fault("F16")
def test_a_store_that_was_read_only_from_the_start_is_written_once_the_disk_allows_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "entries.jsonl").write_text(LINE, encoding="utf-8")
    disk = ReadOnlyDisk()
    store = open_store(tmp_path, disk=disk, options=StoreOptions(retry_s=0.0))
    assert text_of(store, "by-hand") == "read"
    with pytest.raises(StorageFullError, match="Read-only file system"):
        remember(store, "late")

    disk.is_mended = True
    remember(store, "after")
    store.close()

    again = open_store(tmp_path)
    assert (text_of(again, "by-hand"), text_of(again, "after")) == ("read", "a text")
    assert text_of(again, "late") is None
    again.close()
