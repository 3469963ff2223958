"""Options of the setup program that make no sense are refused before anything is done."""

from pathlib import Path

import pytest

from qms.disk.disk import Disk
from qms.memory.errors import InvalidInputError
from qms.platforms.setup.options import KEY_NAME, bare, check_key_place, key_place, port_of


@pytest.mark.parametrize("text", ["0", "65536", "-1", "http", "٣", "5080 /X"])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="not a port"):
        port_of(text)


def test_a_port_is_a_number_and_none_is_none() -> None:
    assert (port_of("5081"), port_of("")) == (5081, None)


def test_a_folder_may_end_in_a_backslash() -> None:
    assert bare("D:\\Team memory\\ ") == "D:\\Team memory\\"


def test_the_key_is_in_the_user_s_folder_unless_a_file_is_named(tmp_path: Path) -> None:
    assert key_place("", tmp_path) == tmp_path / KEY_NAME
    assert key_place(str(tmp_path / "key.txt"), Path("/home")) == tmp_path / "key.txt"


def test_the_folder_of_the_key_is_made(tmp_path: Path) -> None:
    check_key_place(tmp_path / "new" / "folder" / "key.txt", Disk())

    assert list((tmp_path / "new" / "folder").iterdir()) == []


def test_a_key_that_could_not_be_handed_over_is_not_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    for place in (tmp_path, tmp_path / "file" / "key.txt"):
        with pytest.raises(InvalidInputError, match="/KEYFILE"):
            check_key_place(place, Disk())
