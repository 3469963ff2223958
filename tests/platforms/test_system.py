import os
import pwd
import sys
from pathlib import Path

import pytest

from qms.memory.errors import InvalidInputError, UnavailableError
from qms.platforms import system
from qms.platforms.posix_setup import hand_over, make_root
from qms.platforms.system import this_system, windows_program
from qms.platforms.system_command import run


@pytest.mark.parametrize("place", ["python/python.exe", "tools/memoryctl.exe", "python.exe"])
def test_an_installation_is_started_by_its_launcher(tmp_path: Path, place: str) -> None:
    launcher = tmp_path / "QuickMemoryServer.exe"
    launcher.touch()

    assert windows_program(tmp_path / place, is_virtual=False) == (str(launcher),)


def test_without_an_installation_python_itself_is_started(tmp_path: Path) -> None:
    program = windows_program(tmp_path / "python.exe", is_virtual=False)

    assert program == (str(tmp_path / "python.exe"), "-m", "qms.platforms.windows_service")


def test_a_virtual_environment_is_refused_with_what_to_use_instead(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError) as caught:
        windows_program(tmp_path / "Scripts" / "python.exe", is_virtual=True)

    assert "setup program" in caught.value.__notes__[0]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has machines without it")
def test_a_machine_without_systemd_is_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "BOOTED_WITH_SYSTEMD", tmp_path / "nothing")

    with pytest.raises(UnavailableError) as caught:
        this_system()

    assert "qms serve" in caught.value.__notes__[0]


def test_a_program_that_is_missing_is_named() -> None:
    with pytest.raises(UnavailableError, match="no-such-program is not on this machine"):
        run(["no-such-program"])


def test_what_a_program_said_is_handed_on() -> None:
    ran = run([sys.executable, "-c", "import sys; print('a'); sys.exit(sys.stdin.read() or 3)"])

    assert (ran.exit_code, ran.output) == (3, "a\n")


def test_a_new_root_belongs_to_the_account_and_is_closed_to_others(tmp_path: Path) -> None:
    account = pwd.getpwuid(os.geteuid()).pw_name
    root = tmp_path / "one" / "two"

    make_root(root, account)

    assert root.stat().st_mode & 0o007 == 0
    assert root.owner() == account


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_everything_in_a_root_is_handed_over_and_no_link_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.touch()
    root = tmp_path / "root"
    (root / ".qms").mkdir(parents=True)
    (root / ".qms" / "lock").touch()
    (root / "link").symlink_to(outside)

    hand_over(root, "nobody")

    assert {path.owner() for path in (root, root / ".qms", root / ".qms" / "lock")} == {"nobody"}
    assert outside.owner() == "root"


def test_a_root_cannot_be_given_to_nobody_at_all(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="cannot be given to nobody-of-that-name"):
        hand_over(tmp_path, "nobody-of-that-name")
