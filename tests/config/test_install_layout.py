"""What an installer put down is described, and every difference from it is named."""

from pathlib import Path

import pytest

from qms.config.install_layout import (
    Differences,
    compare,
    data_folder,
    describe,
    read_layout,
    write_layout,
)
from qms.memory.errors import InvalidInputError, NotFoundError
from qms.resources import LAYOUT_NAME


@pytest.fixture
def installation(tmp_path: Path) -> Path:
    root = tmp_path / "program"
    for name in ("QuickMemoryServer.exe", "python/python311.dll", "models/embeddings.onnx"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    write_layout(root, describe(root, "1.2.3"))
    return root


def test_an_untouched_installation_has_no_differences(installation: Path) -> None:
    layout = read_layout(installation)
    assert [item.path for item in layout.files] == [
        "QuickMemoryServer.exe",
        "models/embeddings.onnx",
        "python/python311.dll",
    ]
    assert not compare(installation, layout)


def test_what_was_changed_removed_and_added_is_named(installation: Path) -> None:
    layout = read_layout(installation)
    (installation / "QuickMemoryServer.exe").write_bytes(b"quickmemoryserver.exe")
    (installation / "python" / "python311.dll").unlink()
    (installation / "python" / "sitecustomize.py").write_text("import evil", encoding="utf-8")
    assert compare(installation, layout) == Differences(
        changed=("QuickMemoryServer.exe",),
        missing=("python/python311.dll",),
        extra=("python/sitecustomize.py",),
    )


def test_data_and_what_the_installer_makes_are_no_differences(installation: Path) -> None:
    for name in ("MemoryStores/a/entries.jsonl", "logs/qms.log", "Backups/x", ".qms/lock"):
        (installation / name).parent.mkdir(parents=True, exist_ok=True)
        (installation / name).touch()
    for name in ("uninstall.exe", "QuickMemoryServer.toml", "QuickMemoryServer.toml.tmp"):
        (installation / name).touch()
    assert not compare(installation, read_layout(installation))


def test_data_is_in_the_installation_unless_it_was_put_elsewhere(tmp_path: Path) -> None:
    layout = describe(tmp_path, "1.2.3")
    assert data_folder(tmp_path, layout) == tmp_path
    assert layout.data_root == ""


def test_a_missing_and_a_broken_layout_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no program is installed"):
        read_layout(tmp_path)
    (tmp_path / LAYOUT_NAME).write_text('{"version": 7}', encoding="utf-8")
    with pytest.raises(InvalidInputError, match="repair"):
        read_layout(tmp_path)
