import getpass
import plistlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from qms.config.root import LOCK_PLACE
from qms.disk.root_lock import Owner, acquire
from qms.memory.errors import InvalidInputError, NotAllowedError, UnavailableError
from qms.platforms.launchd import PLIST_PLACE, LaunchdManager
from qms.platforms.service_control import ServiceSpec, ServiceState
from qms.platforms.system_command import Ran

PROGRAM = ("/opt/qms/bin/python", "-m", "qms.cli.server")


class Launchd:
    """Answers `launchctl` with what the test says."""

    def __init__(self) -> None:
        self.printed = Ran(113)
        self.refusal = Ran(0)
        self.commands: list[list[str]] = []

    def __call__(self, command: Sequence[str]) -> Ran:
        self.commands.append(list(command))
        return self.printed if command[1] == "print" else self.refusal


@pytest.fixture
def launchd() -> Launchd:
    return Launchd()


@pytest.fixture
def manager(launchd: Launchd, tmp_path: Path) -> LaunchdManager:
    return LaunchdManager(top=tmp_path, execute=launchd, is_root=lambda: True, environ={})


@pytest.fixture
def spec(tmp_path: Path) -> ServiceSpec:
    return ServiceSpec(root=tmp_path / "a root", executable=PROGRAM, account=getpass.getuser())


def test_the_property_list_is_what_launchd_reads(
    manager: LaunchdManager, spec: ServiceSpec, tmp_path: Path
) -> None:
    manager.register(spec)

    values = plistlib.loads((tmp_path / PLIST_PLACE).read_bytes())
    assert values["Label"] == "quick-memory-server"
    assert values["ProgramArguments"] == [*PROGRAM, "serve", "--root", str(spec.root)]
    assert values["UserName"] == spec.account
    assert values["RunAtLoad"] is True
    assert values["KeepAlive"] == {"SuccessfulExit": False}
    assert values["ExitTimeOut"] >= 60
    assert values["Umask"] == 0o077
    assert (tmp_path / PLIST_PLACE).stat().st_mode & 0o777 == 0o644
    assert spec.root.is_dir()


def test_without_an_account_it_runs_as_the_person_who_used_sudo(
    launchd: Launchd, tmp_path: Path
) -> None:
    environ = {"SUDO_USER": getpass.getuser()}
    manager = LaunchdManager(top=tmp_path, execute=launchd, is_root=lambda: True, environ=environ)
    manager.register(ServiceSpec(root=tmp_path, executable=PROGRAM))

    assert manager.status().account == getpass.getuser()


def test_without_an_account_and_sudo_one_must_be_named(
    manager: LaunchdManager, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInputError, match="--account NAME"):
        manager.register(ServiceSpec(root=tmp_path, executable=PROGRAM))


def test_a_process_counts_as_running_only_once_it_answers(
    manager: LaunchdManager, launchd: Launchd, spec: ServiceSpec
) -> None:
    manager.register(spec)
    launchd.printed = Ran(0, "\tstate = running\n\tpid = 77\n\tlast exit code = (never exited)\n")
    before = manager.status()
    owner = Owner(pid=77, command="qms serve", started_utc="", url="http://127.0.0.1:5080")
    held = acquire(spec.root / LOCK_PLACE, owner)

    after = manager.status()

    held.release()
    assert (before.state, before.pid) == (ServiceState.STARTING, 77)
    assert (after.state, after.pid) == (ServiceState.RUNNING, 77)


def test_the_last_exit_code_is_read_with_or_without_its_name(
    manager: LaunchdManager, launchd: Launchd, spec: ServiceSpec
) -> None:
    manager.register(spec)
    found = []
    for text in ("\tlast exit code = 78: EX_CONFIG\n", "\tlast exit code = 0\n", "\tstate = x\n"):
        launchd.printed = Ran(0, text)
        found.append((manager.status().state, manager.status().exit_code))

    assert found == [
        (ServiceState.FAILED, 78), (ServiceState.STOPPED, 0), (ServiceState.STOPPED, None),
    ]  # fmt: skip


def test_a_process_that_was_told_to_end_is_stopping(
    manager: LaunchdManager, launchd: Launchd, spec: ServiceSpec
) -> None:
    manager.register(spec)
    launchd.printed = Ran(0, "\tpid = 77\n")
    launchd.refusal = Ran(36, errors="Operation now in progress\n")
    manager.begin_stop()

    assert manager.status().state is ServiceState.STOPPING


def test_a_refusal_of_launchctl_is_passed_on(
    manager: LaunchdManager, launchd: Launchd, spec: ServiceSpec
) -> None:
    manager.register(spec)
    launchd.refusal = Ran(5, errors="Bootstrap failed: 5: Input/output error\n")

    with pytest.raises(UnavailableError, match="Input/output error"):
        manager.begin_start()


def test_whoever_is_not_root_changes_nothing(
    launchd: Launchd, spec: ServiceSpec, tmp_path: Path
) -> None:
    manager = LaunchdManager(top=tmp_path, execute=launchd, is_root=lambda: False)

    with pytest.raises(NotAllowedError):
        manager.register(spec)

    assert launchd.commands == []
    assert not (tmp_path / PLIST_PLACE).exists()
