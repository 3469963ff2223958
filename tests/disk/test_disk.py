"""The file operations that durability rests on."""

import contextlib
import errno
import os
from pathlib import Path

import pytest

from qms.disk.disk import Disk, is_sharing_violation


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class ShortDisk(Disk):
    """Writes a few bytes at a time, and none once `room` is used up."""

    def __init__(self, step: int, room: int = 1 << 30) -> None:
        self.step = step
        self.room = room

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        taken = min(self.step, self.room, len(data))
        self.room -= taken
        return super().write(descriptor, data[:taken]) if taken else 0


class FailingDisk(Disk):
    def __init__(self, operation: str) -> None:
        self.operation = operation

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        if self.operation == "write":
            super().write(descriptor, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "full")
        return super().write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        if self.operation == "sync":
            raise OSError(errno.EIO, "broken")
        super().sync(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        if self.operation == "rename":
            raise OSError(errno.EACCES, "refused")
        super().rename(source, target)


def test_a_put_file_is_there_whole_and_nothing_beside_it(tmp_path: Path) -> None:
    Disk().put(tmp_path / "a", b"one")
    Disk().put(tmp_path / "a", b"two")

    assert (tmp_path / "a").read_bytes() == b"two"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("operation", ["write", "sync", "rename"])
def test_a_put_that_fails_leaves_the_old_file(tmp_path: Path, operation: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match=r"full|broken|refused"):
        FailingDisk(operation).put(path, b"new")

    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("operation", ["write", "sync"])
def test_an_append_that_fails_leaves_the_file_as_long_as_before(
    tmp_path: Path, operation: str
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old\n")
    with pytest.raises(OSError, match=r"full|broken"):
        FailingDisk(operation).append(path, b"new\n")

    assert path.read_bytes() == b"old\n"


def test_short_writes_are_continued(tmp_path: Path) -> None:
    ShortDisk(step=3).put(tmp_path / "a", b"0123456789")

    assert (tmp_path / "a").read_bytes() == b"0123456789"


def test_a_write_of_nothing_is_a_full_disk(tmp_path: Path) -> None:
    with pytest.raises(OSError) as full:  # noqa: PT011 - the number is what is asked
        ShortDisk(step=3, room=5).put(tmp_path / "a", b"0123456789")

    assert full.value.errno == errno.ENOSPC
    assert names(tmp_path) == []


def test_a_copy_has_the_same_bytes(tmp_path: Path) -> None:
    data = os.urandom(3_000_000)
    (tmp_path / "a").write_bytes(data)
    Disk().copy(tmp_path / "a", tmp_path / "b", sync=True)

    assert (tmp_path / "b").read_bytes() == data
    assert names(tmp_path) == ["a", "b"]


def test_two_files_are_exchanged_in_one_step(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"a")
    second.write_bytes(b"b")
    if Disk().exchange(first, second):
        assert (first.read_bytes(), second.read_bytes()) == (b"b", b"a")
    else:
        assert (first.read_bytes(), second.read_bytes()) == (b"a", b"b")


def test_an_exchange_with_a_file_that_is_gone_raises_or_is_not_possible(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    with contextlib.suppress(FileNotFoundError):
        assert not Disk().exchange(tmp_path / "a", tmp_path / "absent")
    assert (tmp_path / "a").read_bytes() == b"a"


def test_an_identity_tells_content_size_and_replacement_apart(tmp_path: Path) -> None:
    path, disk = tmp_path / "a", Disk()
    assert disk.identity(path) is None
    path.write_bytes(b"one")
    first = disk.identity(path)
    os.utime(path, ns=(1, 1))
    second = disk.identity(path)
    disk.put(path, b"one")

    assert len({first, second, disk.identity(path)}) == 3


def test_the_tail_of_a_file_is_read_without_the_rest(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123456789")

    assert Disk().read_tail(tmp_path / "a", 3) == b"789"
    assert Disk().read_tail(tmp_path / "a", 30) == b"0123456789"
    assert Disk().read_tail(tmp_path / "absent", 3) == b""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")
def test_our_files_are_for_their_owner_only(tmp_path: Path) -> None:
    Disk().put(tmp_path / "a", b"secret")

    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("code", "expected"), [(5, True), (32, True), (33, True), (2, False), (None, False)]
)
def test_a_sharing_violation_is_known_by_its_windows_code(code: int | None, expected: bool) -> None:
    error = OSError(errno.EACCES, "refused")
    if code is not None:
        # Other systems have no such attribute.
        error.winerror = code  # type: ignore[attr-defined,unused-ignore]

    assert is_sharing_violation(error) is expected
