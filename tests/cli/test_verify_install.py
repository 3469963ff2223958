"""`memoryctl verify-install` names what is not as it was installed."""

from pathlib import Path

import pytest

from qms.config.install_layout import describe, write_layout
from tests.cli.conftest import Terminal


@pytest.fixture
def installation(tmp_path: Path) -> Path:
    root = tmp_path / "program"
    (root / "docs").mkdir(parents=True)
    for name in ("QuickMemoryServer.exe", "docs/README.md"):
        (root / name).write_text(name, encoding="utf-8")
    write_layout(root, describe(root, "1.2.3"))
    return root


def test_a_whole_installation_is_said_to_be_whole(files: Terminal, installation: Path) -> None:
    result = files("verify-install", "--install-dir", str(installation))
    assert (result.code, result.line) == (
        0,
        "2 files of version 1.2.3, all unchanged",
    )


def test_each_difference_has_a_line_and_the_exit_code_is_1(
    files: Terminal, installation: Path
) -> None:
    (installation / "QuickMemoryServer.exe").write_text("patched", encoding="utf-8")
    (installation / "docs" / "README.md").unlink()
    (installation / "evil.dll").touch()
    result = files("verify-install", "--install-dir", str(installation))
    assert result.code == 1
    assert result.out.splitlines() == [
        "changed: QuickMemoryServer.exe",
        "missing: docs/README.md",
        "extra: evil.dll",
    ]
    assert "run the setup program again" in result.err


def test_the_same_as_an_object(files: Terminal, installation: Path) -> None:
    (installation / "evil.dll").touch()
    result = files("verify-install", "--install-dir", str(installation), "--json")
    assert result.code == 1
    assert result.json == {
        "installation": str(installation),
        "version": "1.2.3",
        "files": 2,
        "changed": [],
        "missing": [],
        "extra": ["evil.dll"],
    }


def test_without_an_installation_it_says_so(files: Terminal) -> None:
    result = files("verify-install")
    assert result.code == 4
    assert "--install-dir" in result.err
