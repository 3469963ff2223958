"""Reads the files of a zip or tar archive in place, without unpacking them to disk.

An archive is not trusted: names that lead out of it, too many files, and data far larger than the
archive are refused before anything is read.
"""

import gzip
import io
import re
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

import msgspec

from qms.memory.errors import InvalidInputError

MAX_FILES = 100_000
MAX_TAR_FILES = 50_000
"""A tar has no list of its files: it is decompressed to find them, two seconds for this many."""

MAX_DIRECTORY_BYTES = 16 << 20
"""A zip archive's list of files is read at once, so it has its own limit."""

MAX_RATIO = 100
"""Text compresses to about a tenth; below a hundredth it is a decompression bomb."""

UNREADABLE = (OSError, zipfile.BadZipFile, tarfile.TarError, RuntimeError, EOFError, ValueError)
"""What reading a damaged archive raises; `zipfile` has a RuntimeError for an encrypted file."""

_SLACK_BYTES = 1 << 20
_END_BYTES = 22 + 65_535
_END, _END_64, _LOCATOR_64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_DRIVE = re.compile(r"[A-Za-z]:")
_GZIP = b"\x1f\x8b"
_TAR_NAMES = (".tar", ".tgz", ".tar.gz")


class Member(msgspec.Struct, frozen=True):
    """One file of an export; `name` is its path in the export, with slashes."""

    name: str
    size: int
    open: Callable[[], IO[bytes]]


@contextmanager
def open_archive(path: Path) -> Iterator[list[Member] | None]:
    """Yield the files of an archive, or None when the file is not an archive.

    Raises:
        InvalidInputError: it is damaged or refused.
    """
    if path.name.lower().endswith(_TAR_NAMES):
        with _open_tar(path) as tar:
            yield _tar_members(path, tar)
    elif zipfile.is_zipfile(path):
        with _open_zip(path) as packed:
            yield sorted(_zip_members(path, packed), key=lambda one: one.name)
    else:
        yield None


@contextmanager
def _open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    if _directory_bytes(path) > MAX_DIRECTORY_BYTES:
        raise _too_many(path)
    try:
        archive = zipfile.ZipFile(path)
    except UNREADABLE as error:
        raise _broken(path, error) from None
    with archive:
        yield archive


def _directory_bytes(path: Path) -> int:
    """Return the declared size of an archive's list of files, without reading the list."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        stream.seek(max(0, size - _END_BYTES))
        tail = stream.read()
        end = tail.rfind(_END)
        if end < 0 or len(tail) < end + 22:
            return 0
        listed = int(struct.unpack_from("<L", tail, end + 12)[0])
        locator = end - 20
        if locator < 0 or tail[locator : locator + 4] != _LOCATOR_64:
            return listed
        stream.seek(min(size, struct.unpack_from("<Q", tail, locator + 8)[0]))
        record = stream.read(56)
    if len(record) < 56 or not record.startswith(_END_64):
        return listed
    return int(struct.unpack_from("<Q", record, 40)[0])


def _zip_members(path: Path, archive: zipfile.ZipFile) -> Iterator[Member]:
    unpacked = 0
    listed = archive.infolist()
    if len(listed) > MAX_FILES:
        raise _too_many(path)
    for info in listed:
        _check_name(path, info.filename)
        unpacked += info.file_size
        if info.file_size > _most(info.compress_size):
            raise _bomb(path)
        if not info.is_dir() and not stat.S_ISLNK(info.external_attr >> 16):
            yield Member(info.filename, info.file_size, partial(archive.open, info))
    if unpacked > _most(path.stat().st_size):
        raise _bomb(path)


@contextmanager
def _open_tar(path: Path) -> Iterator[tarfile.TarFile]:
    with path.open("rb") as raw:
        is_packed = raw.read(2) == _GZIP
        raw.seek(0)
        plain = gzip.GzipFile(fileobj=raw) if is_packed else raw
        try:
            archive = tarfile.TarFile(fileobj=_Bounded(plain, path))
        except UNREADABLE as error:
            raise _broken(path, error) from None
        with archive:
            yield archive


def _tar_members(path: Path, archive: tarfile.TarFile) -> list[Member]:
    """Return the files in the archive's order, in which they are read without seeking back."""
    members = []
    try:
        for number, info in enumerate(archive):
            if number >= MAX_TAR_FILES:
                raise _too_many(path, MAX_TAR_FILES)
            _check_name(path, info.name)
            if info.isfile() and not info.issparse():
                members.append(Member(info.name, info.size, partial(_extracted, archive, info)))
    except UNREADABLE as error:
        raise _broken(path, error) from None
    return members


def _extracted(archive: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    found = archive.extractfile(info)
    assert found is not None  # only links and folders have no content
    return found


class _Bounded(io.RawIOBase):
    """A stream that raises when the decompressed data is far larger than the archive."""

    def __init__(self, inner: io.BufferedIOBase, path: Path) -> None:
        super().__init__()
        self._inner = inner
        self._path = path
        self._most = _most(path.stat().st_size)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._inner.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        # Seeking forward decompresses everything in between.
        if whence != io.SEEK_SET or offset > self._most:
            raise _bomb(self._path)
        return self._inner.seek(offset)

    def read(self, size: int = -1) -> bytes:
        if size < 0 or self._inner.tell() + size > self._most + tarfile.RECORDSIZE:
            raise _bomb(self._path)
        return self._inner.read(size)


def _most(packed_bytes: int) -> int:
    return MAX_RATIO * packed_bytes + _SLACK_BYTES


def _check_name(path: Path, name: str) -> None:
    if (
        name.startswith(("/", "\\"))
        or _DRIVE.match(name)
        or ".." in name.replace("\\", "/").split("/")
    ):
        raise InvalidInputError(
            f"{path.name} contains a path outside the archive: {name!r}", field="path"
        )


def _too_many(path: Path, limit: int = MAX_FILES) -> InvalidInputError:
    error = InvalidInputError(
        f"{path.name} holds too many files: the limit is {limit:,}",
        field="path",
        limit="files",
        maximum=limit,
    )
    error.add_note("unpack it and import the folder")
    return error


def _bomb(path: Path) -> InvalidInputError:
    return InvalidInputError(
        f"{path.name} decompresses to far more than its size: the limit is {MAX_RATIO} times",
        field="path",
        limit="ratio",
        maximum=MAX_RATIO,
    )


def _broken(path: Path, error: Exception) -> InvalidInputError:
    return InvalidInputError(f"{path.name} is a broken archive: {error}", field="path")
