"""Files beneath a folder: no link leads out of it, whenever it was put there."""

import os
import sys
from pathlib import Path, PurePath
from typing import Any

import pytest

from qms.disk.beneath import read_beneath

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "inner").mkdir(parents=True)
    (root / "inner" / "a.txt").write_bytes(b"inside")
    (tmp_path / "secret.txt").write_bytes(b"secret")
    return root


def test_a_file_below_the_folder_is_read_up_to_its_bound(root: Path) -> None:
    assert read_beneath(root, PurePath("inner/a.txt"), 100) == b"inside"
    assert read_beneath(root, PurePath("inner/a.txt"), 3) == b"insi"


@pytest.mark.attack(99)
@pytest.mark.parametrize("path", ["link.txt", "out/secret.txt", "inner/pipe", "inner", "none.txt"])
def test_links_folders_and_pipes_are_not_read(root: Path, path: str) -> None:
    (root / "link.txt").symlink_to(root.parent / "secret.txt")
    (root / "out").symlink_to(root.parent)
    os.mkfifo(root / "inner" / "pipe")

    with pytest.raises(OSError, match=r".*"):
        read_beneath(root, PurePath(path), 100)


@pytest.mark.attack(99)
def test_a_folder_that_becomes_a_link_while_it_is_read_leads_nowhere(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def swap_first(path: Any, *rest: Any, **more: Any) -> int:
        if path == "inner":  # after the root was opened, before the folder is
            (root / "inner").rename(root / "was")
            (root / "inner").symlink_to(root.parent)
        return opened(path, *rest, **more)

    (root.parent / "a.txt").write_bytes(b"secret")
    monkeypatch.setattr(os, "open", swap_first)

    with pytest.raises(OSError, match=r".*"):
        read_beneath(root, PurePath("inner/a.txt"), 100)
