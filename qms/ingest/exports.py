"""What an export lies in: one file, a folder of them, or an archive, and how far it was read."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from qms.domain.errors import InvalidInputError, NotFoundError
from qms.ingest.archives import UNREADABLE, Member, open_archive
from qms.ingest.mining.frames import CHUNK_BYTES

_BUFFER_BYTES = 64 * 1024


class Export:
    """The files of an export that a format reads, and how far they were read."""

    def __init__(
        self, members: list[Member], others: dict[str, Member], *, is_one_file: bool = False
    ) -> None:
        self.members = members
        self.is_one_file = is_one_file
        self._others = others
        self.total_bytes = sum(member.size for member in members)
        self.read_bytes = 0

    def chunks(self, member: Member) -> Iterator[bytes]:
        """Yield a file piece by piece.

        Raises:
            InvalidInputError: it cannot be read.
        """
        with self.open(member) as stream:
            while chunk := stream.read(CHUNK_BYTES):
                yield chunk

    def open(self, member: Member) -> IO[bytes]:
        """Open a file; what is read of it counts.

        Raises:
            InvalidInputError: it cannot be read, now or while it is read.
        """
        try:
            return io.BufferedReader(_Counted(self, member), _BUFFER_BYTES)
        except UNREADABLE as error:
            raise _unreadable(member, error) from error

    def find(self, name: str) -> Member | None:
        """Return a file of this name that stands beside the others."""
        return self._others.get(name)


class _Counted(io.RawIOBase):
    """A file of an export that tells the export how much of it was read."""

    def __init__(self, export: Export, member: Member) -> None:
        super().__init__()
        self._export = export
        self._member = member
        self._stream = member.open()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]  # Buffer
        try:
            data = self._stream.read(len(buffer))
        except UNREADABLE as error:
            raise _unreadable(self._member, error) from error
        buffer[: len(data)] = data
        self._export.read_bytes += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


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
        yield _export(path, wanted, sorted(_folder_members(path), key=lambda one: one.name))
        return
    with open_archive(path) as members:
        if members is None:
            only = Member(path.name, path.stat().st_size, partial(_opened, path))
            yield Export([only], {}, is_one_file=True)
        else:
            yield _export(path, wanted, members)


def _export(path: Path, wanted: re.Pattern[str], members: list[Member]) -> Export:
    fitting = [member for member in members if wanted.fullmatch(member.name)]
    if not fitting:
        raise InvalidInputError(f"{path} holds no file of such an export", field="path")
    others = {PurePosixPath(member.name).name: member for member in members}
    return Export(fitting, others)


def _opened(path: Path) -> IO[bytes]:
    return path.open("rb")


def _folder_members(folder: Path) -> Iterator[Member]:
    for path in folder.rglob("*"):
        # What a link leads to was not exported.
        if path.is_file() and not path.is_symlink():
            name = path.relative_to(folder).as_posix()
            yield Member(name, path.stat().st_size, partial(_opened, path))


def _unreadable(member: Member, error: Exception) -> InvalidInputError:
    return InvalidInputError(f"{member.name} cannot be read: {error}", field="path")
