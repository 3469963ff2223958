"""What an export lies in: one file, a folder of them, or a zip archive, read and never unpacked."""

import re
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

import msgspec

from qms.domain.errors import InvalidInputError, NotFoundError
from qms.ingest.mining.frames import CHUNK_BYTES

MAX_DIRECTORY_BYTES = 16 << 20
"""An archive's list of files is read at once, so that it has a limit: some 150,000 files."""

MAX_RATIO = 100
"""Text of people is packed to a tenth; what is packed to less than a hundredth is a bomb."""

_SLACK_BYTES = 1 << 20
_END_BYTES = 22 + 65_535
_END, _END_64, _LOCATOR_64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_DRIVE = re.compile(r"[A-Za-z]:")


class Member(msgspec.Struct, frozen=True):
    """One file of an export; `name` is its place in it, with slashes."""

    name: str
    size: int
    open: Callable[[], IO[bytes]]


class Export:
    """The files of an export that a format reads, and how far they were read."""

    def __init__(self, members: list[Member], others: dict[str, Member]) -> None:
        self.members = members
        self._others = others
        self.total_bytes = sum(member.size for member in members)
        self.read_bytes = 0

    def chunks(self, member: Member) -> Iterator[bytes]:
        """Yield a file piece by piece.

        Raises:
            InvalidInputError: it cannot be read.
        """
        try:
            with member.open() as stream:
                while chunk := stream.read(CHUNK_BYTES):
                    self.read_bytes += len(chunk)
                    yield chunk
        except (OSError, zipfile.BadZipFile, RuntimeError, EOFError, ValueError) as error:
            # `zipfile` says with a RuntimeError that a file is encrypted.
            raise InvalidInputError(f"{member.name} cannot be read: {error}") from error

    def find(self, name: str) -> Member | None:
        """Return a file of this name that stands beside the others."""
        return self._others.get(name)


@contextmanager
def open_export(path: Path, wanted: re.Pattern[str]) -> Iterator[Export]:
    """Yield the export at a path: a file is taken as it is, of the rest what the pattern matches.

    Raises:
        NotFoundError: nothing is there.
        InvalidInputError: it is no archive that can be trusted, or nothing in it matches.
    """
    if not path.exists():
        raise NotFoundError(f"there is no {path}", path=str(path))
    if path.is_dir():
        yield _export(path, wanted, list(_folder_members(path)))
    elif zipfile.is_zipfile(path):
        with _archive(path) as archive:
            yield _export(path, wanted, list(_archive_members(path, archive)))
    else:
        member = Member(path.name, path.stat().st_size, partial(_opened, path))
        yield Export([member], {})


def _export(path: Path, wanted: re.Pattern[str], members: list[Member]) -> Export:
    fitting = sorted(
        (member for member in members if wanted.fullmatch(member.name)), key=lambda one: one.name
    )
    if not fitting:
        raise InvalidInputError(f"{path} holds no file of such an export", field="path")
    others = {PurePosixPath(member.name).name: member for member in members}
    return Export(fitting, others)


def _opened(path: Path) -> IO[bytes]:
    return path.open("rb")


def _folder_members(folder: Path) -> Iterator[Member]:
    for path in folder.rglob("*.json*"):
        # What a link leads to was not exported.
        if path.is_file() and not path.is_symlink():
            name = path.relative_to(folder).as_posix()
            yield Member(name, path.stat().st_size, partial(_opened, path))


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    if _directory_bytes(path) > MAX_DIRECTORY_BYTES:
        error = InvalidInputError(f"{path.name} holds too many files", field="path")
        error.add_note("unpack it, and name the folder")
        raise error
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise InvalidInputError(f"{path.name} is a broken archive: {error}", field="path") from None
    with archive:
        yield archive


def _directory_bytes(path: Path) -> int:
    """Return how large an archive says that its list of files is, without reading the list."""
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


def _archive_members(path: Path, archive: zipfile.ZipFile) -> Iterator[Member]:
    unpacked = 0
    for info in archive.infolist():
        name = info.filename
        if name.startswith(("/", "\\")) or _DRIVE.match(name) or ".." in re.split(r"[/\\]", name):
            raise InvalidInputError(f"{path.name} names a file outside of it: {name!r}")
        unpacked += info.file_size
        if info.file_size > MAX_RATIO * info.compress_size + _SLACK_BYTES:
            raise InvalidInputError(f"{path.name} unpacks {name!r} to far more than it holds")
        if not info.is_dir() and not stat.S_ISLNK(info.external_attr >> 16):
            yield Member(name, info.file_size, partial(archive.open, info))
    if unpacked > MAX_RATIO * path.stat().st_size + _SLACK_BYTES:
        raise InvalidInputError(f"{path.name} unpacks to far more than it holds")
