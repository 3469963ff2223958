"""Only regular files are opened: everything else is refused at once, with a reason."""

import os
import socket
from pathlib import Path

import pytest

from qms.disk.disk import Disk
from qms.disk.regular_files import UnfitFileError, open_regular, read_regular
from qms.memory.errors import UnavailableError

pytestmark = [pytest.mark.attack(87)]

posix = pytest.mark.skipif(
    os.name == "nt", reason="Windows has no such files, or no right to links"
)


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")

    assert read_regular(tmp_path / "file") == b"content"


@posix
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_RDWR | os.O_APPEND | os.O_CREAT, os.O_WRONLY])
def test_a_fifo_is_refused_without_waiting_for_its_other_end(tmp_path: Path, flags: int) -> None:
    os.mkfifo(tmp_path / "fifo")

    with pytest.raises(UnfitFileError, match="fifo is a FIFO, not a regular file"):
        open_regular(tmp_path / "fifo", flags)


@posix
def test_a_device_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnfitFileError, match="is a device"):
        open_regular(Path("/dev/zero"))
    with pytest.raises(UnfitFileError, match="is a folder"):
        open_regular(tmp_path)


@posix
def test_a_socket_is_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        with pytest.raises(UnfitFileError, match="is a socket"):
            open_regular(tmp_path / "s")


def test_a_refusal_is_an_error_of_the_disk_and_one_that_a_caller_may_see(tmp_path: Path) -> None:
    error = UnfitFileError("is a FIFO", tmp_path / "name")

    assert isinstance(error, OSError)
    assert isinstance(error, UnavailableError)
    assert (error.strerror, error.filename) == ("is a FIFO", str(tmp_path / "name"))
    assert str(error) == error.message == "name is a FIFO"


def confined(tmp_path: Path) -> tuple[Disk, Path]:
    disk, folder = Disk(), tmp_path / "root" / "store"
    folder.mkdir(parents=True)
    (tmp_path / "outside").write_bytes(b"secret")
    disk.confine(folder, tmp_path / "root")
    return disk, folder


@posix
def test_a_link_out_of_a_confined_folder_is_neither_read_nor_written(tmp_path: Path) -> None:
    disk, folder = confined(tmp_path)
    (folder / "file").symlink_to(tmp_path / "outside")
    (folder / "dangling").symlink_to(tmp_path / "made")

    with pytest.raises(UnfitFileError, match="leads out of the root"):
        disk.read(folder / "file")
    with pytest.raises(UnfitFileError, match="leads out of the root"):
        disk.append(folder / "dangling", b"x")
    assert not (tmp_path / "made").exists()


@posix
def test_a_folder_that_is_a_link_leads_out_like_a_file(tmp_path: Path) -> None:
    disk, folder = confined(tmp_path)
    (folder / "inner").symlink_to(tmp_path)

    with pytest.raises(UnfitFileError, match="leads out of the root"):
        disk.read(folder / "inner" / "outside")


@posix
def test_a_link_that_stays_inside_is_followed(tmp_path: Path) -> None:
    disk, folder = confined(tmp_path)
    (tmp_path / "root" / "elsewhere").write_bytes(b"content")
    (folder / "file").symlink_to(tmp_path / "root" / "elsewhere")

    assert disk.read(folder / "file") == b"content"


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    disk, path = Disk(), tmp_path / "file"
    disk.file_megabytes = 1
    path.write_bytes(b"x")
    os.truncate(path, 1 << 20)
    assert len(disk.read(path)) == 1 << 20

    os.truncate(path, (1 << 20) + 1)
    with pytest.raises(UnfitFileError, match="the limit fileMegabytes of 1"):
        disk.read(path)


@posix
def test_what_was_refused_is_remembered_until_it_is_put_right(tmp_path: Path) -> None:
    disk, path = Disk(), tmp_path / "folder" / "file"
    path.parent.mkdir()
    os.mkfifo(path)
    with pytest.raises(UnfitFileError):
        disk.read(path)

    (name, reason), *_ = disk.unfit_below(tmp_path).items()
    assert (name, "FIFO" in reason) == ("folder/file", True)
    assert disk.unfit_below(tmp_path / "other") == {}

    path.unlink()
    assert disk.unfit_below(tmp_path) == {}
