"""What is made is for its owner alone, or for one group; what others can read is found."""

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from qms.disk.disk import Disk
from qms.disk.permissions import Rights, find_exposed, private_umask, rights_of
from qms.memory.errors import InvalidInputError
from tests.support.rights import a_group, too_open

pytestmark = [
    pytest.mark.attack(88),
    pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes"),
]


@pytest.fixture(autouse=True, params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.fixture
def reachable() -> Iterator[Path]:
    """Return a folder that every account of the machine can enter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_and_folders_are_for_their_owner_alone(tmp_path: Path) -> None:
    disk, folder = Disk(), tmp_path / "a" / "b"
    disk.make_folder(folder)
    disk.put(folder / "put", b"x")
    disk.append(folder / "appended", b"x")
    disk.write_new(folder / "new", [b"x"])
    disk.copy(folder / "put", folder / "copied")

    assert too_open(tmp_path / "a") == []


def test_with_a_group_its_members_may_write(tmp_path: Path) -> None:
    disk = Disk()
    disk.rights = rights_of(a_group().gr_name)
    before = os.umask(disk.rights.umask)
    try:
        disk.make_folder(tmp_path / "a" / "b")
        disk.put(tmp_path / "a" / "b" / "file", b"x")
        disk.put(tmp_path / "a" / "b" / "key", b"x", mode=0o600)
    finally:
        os.umask(before)

    modes = [(mode_of(path), path.stat().st_gid) for path in sorted((tmp_path / "a").rglob("*"))]
    gid = a_group().gr_gid
    assert modes == [(0o2770, gid), (0o660, gid), (0o600, gid)]


def test_a_file_that_is_replaced_keeps_its_mode_and_group(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    os.chown(path, -1, a_group().gr_gid)
    path.chmod(0o644)

    with private_umask():
        Disk().put(path, b"after")

    assert (path.read_bytes(), mode_of(path)) == (b"after", 0o644)
    assert path.stat().st_gid == a_group().gr_gid


def test_a_group_that_the_machine_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="has no group no-such-group"):
        rights_of("no-such-group")


@pytest.mark.parametrize(("folder_mode", "file_mode"), [(0o755, 0o600), (0o711, 0o644)])
def test_what_others_can_read_is_found(reachable: Path, folder_mode: int, file_mode: int) -> None:
    root = reachable / "root"
    root.mkdir()
    (root / "file").touch()
    (root / "file").chmod(file_mode)
    root.chmod(folder_mode)

    expected = root if folder_mode & 0o044 else root / "file"
    assert find_exposed([root], Rights()) == expected

    root.chmod(0o700)
    assert find_exposed([root], Rights()) is None


def test_what_the_group_may_read_is_not_exposed(reachable: Path) -> None:
    root = reachable / "root"
    root.mkdir()
    os.chown(root, -1, a_group().gr_gid)
    root.chmod(0o770)

    assert find_exposed([root], Rights()) == root
    assert find_exposed([root], Rights(a_group().gr_gid)) is None


def test_a_root_in_a_folder_that_others_cannot_enter_is_not_exposed(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "root").mkdir()
    (tmp_path / "root").chmod(0o755)

    assert find_exposed([tmp_path / "root"], Rights()) is None
