"""The admin key reaches the installing user, whatever their name is."""

import getpass
from pathlib import Path

from qms.disk.disk import Disk
from qms.platforms.setup.notes import hand_over, result


def test_the_key_is_a_line_that_every_editor_shows_to_its_owner_alone(tmp_path: Path) -> None:
    seen: list[tuple[bytes, str]] = []

    def keep_private(place: Path, user: str) -> None:
        seen.append((place.read_bytes(), user))

    hand_over("qms_secret", tmp_path / "key.txt", Disk(), keep_private)

    assert seen == [(b"", getpass.getuser())], "closed before the key is in it"
    assert (tmp_path / "key.txt").read_bytes() == b"qms_secret\r\n"


def test_the_last_page_is_told_of_a_folder_with_any_name() -> None:
    written = result("http://127.0.0.1:5080", Path("Jörg 数据", "key.txt"))

    assert written.startswith(b"\xff\xfe"), "by this mark Windows knows that it is UTF-16"
    assert written.decode("utf-16").split("\r\n") == [
        "[result]",
        "url=http://127.0.0.1:5080",
        f"keyFile={Path('Jörg 数据', 'key.txt')}",
        "",
    ]


def test_without_a_new_key_there_is_none_to_show() -> None:
    assert "keyFile=\r\n" in result("http://127.0.0.1:5080", None).decode("utf-16")
