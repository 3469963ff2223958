"""Opens an export, which is a file, a folder or an archive, and counts the bytes read."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from qms.disk.archives import MAX_FILES, UNREADABLE, Member, open_archive
from qms.disk.json_frames import CHUNK_BYTES
from qms.memory.errors import InvalidInputError, NotFoundError

_BUFFER_BYTES = 64 * 1024


def _no_limit() -> None:
    """Do nothing: the read ends with the file."""


class Export:
    """The files of an export that a format reads, and the number of bytes read."""

    def __init__(
        self,
        members: list[Member],
        others: dict[str, Member],
        *,
        is_one_file: bool = False,
        while_reading: Callable[[], None] = _no_limit,
    ) -> None:
        self.members = members
        self.is_one_file = is_one_file
        self._others = others
        self._while_reading = while_reading
        self.total_bytes = sum(member.size for member in members)
        self.read_bytes = 0

    def chunks(self, member: Member) -> Iterator[bytes]:
        """Yield a file in chunks.

        Raises:
            InvalidInputError: it cannot be read.
        """
        with self.open(member) as stream:
            while chunk := stream.read(CHUNK_BYTES):
                yield chunk

    def open(self, member: Member) -> IO[bytes]:
        """Open a file; the bytes read from it are counted.

        Raises:
            InvalidInputError: it cannot be opened; reading from it raises the same.
        """
        try:
            return io.BufferedReader(_Counted(self, member), _BUFFER_BYTES)
        except UNREADABLE as error:
            raise _unreadable(member, error) from error

    def note_read(self, size: int) -> None:
        """Count the bytes read; `while_reading` may raise here to end the read."""
        self.read_bytes += size
        self._while_reading()

    def find(self, name: str) -> Member | None:
        """Return the file of this name in the export, wanted by the format or not."""
        return self._others.get(name)


class _Counted(io.RawIOBase):
    """A file of an export that reports to the export how much of it was read."""

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
        self._export.note_read(len(data))
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


@contextmanager
def open_export(path: Path, wanted: re.Pattern[str]) -> Iterator[Export]:
    """Yield the export at a path: one file, or the matching files of a folder or an archive.

    Raises:
        NotFoundError: there is no such path.
        InvalidInputError: the archive is damaged or refused, or nothing in it matches.
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
        raise InvalidInputError(f"{path} contains no file of this export format", field="path")
    others = {PurePosixPath(member.name).name: member for member in members}
    return Export(fitting, others)


def _opened(path: Path) -> IO[bytes]:
    return path.open("rb")


def _folder_members(folder: Path) -> Iterator[Member]:
    count = 0
    for path in folder.rglob("*"):
        # The target of a link is not part of the export.
        if path.is_file() and not path.is_symlink():
            count += 1
            if count > MAX_FILES:
                raise _too_many(folder)
            name = path.relative_to(folder).as_posix()
            yield Member(name, path.stat().st_size, partial(_opened, path))


def _too_many(folder: Path) -> InvalidInputError:
    error = InvalidInputError(
        f"{folder} holds too many files: the limit is {MAX_FILES:,}",
        field="path",
        limit="files",
        maximum=MAX_FILES,
    )
    error.add_note("import its folders one by one")
    return error


def _unreadable(member: Member, error: Exception) -> InvalidInputError:
    return InvalidInputError(f"{member.name} cannot be read: {error}", field="path")
