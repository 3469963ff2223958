from collections.abc import Sequence
from pathlib import Path

import pytest

from qms.memory.errors import InvalidInputError, NotAllowedError, UnavailableError
from qms.platforms.service_control import ServiceController, ServiceSpec, ServiceState
from qms.platforms.system_command import Ran
from qms.platforms.systemd import SYSUSERS_PLACE, UNIT_PLACE, SystemdManager
from tests.support.stand_in_systemd import StandInSystemd

PROGRAM = ("/opt/qms/bin/python", "-m", "qms.cli.server")


@pytest.fixture
def systemd(tmp_path: Path) -> StandInSystemd:
    return StandInSystemd(tmp_path)


@pytest.fixture
def manager(systemd: StandInSystemd, tmp_path: Path) -> SystemdManager:
    return SystemdManager(top=tmp_path, execute=systemd, is_root=lambda: True)


def shown(**values: str) -> SystemdManager:
    """Return a manager in front of a systemd that says this of the unit."""
    text = "".join(f"{name}={value}\n" for name, value in values.items())
    return SystemdManager(execute=lambda _command: Ran(0, text))


def test_an_installed_unit_is_enabled_and_has_an_account_of_its_own(
    manager: SystemdManager, systemd: StandInSystemd, tmp_path: Path
) -> None:
    manager.register(ServiceSpec(root=tmp_path, executable=PROGRAM))

    assert systemd.is_loaded
    assert systemd.is_enabled
    assert [text.split()[1] for text in systemd.made_accounts] == ["quick-memory-server"]
    assert (tmp_path / UNIT_PLACE).stat().st_mode & 0o777 == 0o644


def test_a_removed_unit_leaves_nothing_behind_in_etc(
    manager: SystemdManager, systemd: StandInSystemd, tmp_path: Path
) -> None:
    manager.register(ServiceSpec(root=tmp_path, executable=PROGRAM))
    ServiceController(manager).uninstall()

    assert not systemd.is_enabled
    assert not (tmp_path / UNIT_PLACE).exists()
    assert not (tmp_path / SYSUSERS_PLACE).exists()


def test_an_account_that_does_not_exist_is_refused_before_anything_is_written(
    manager: SystemdManager, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInputError, match="no account nobody-of-that-name"):
        manager.register(
            ServiceSpec(root=tmp_path, executable=PROGRAM, account="nobody-of-that-name")
        )

    assert not (tmp_path / UNIT_PLACE).exists()


def test_whoever_is_not_root_is_told_to_use_sudo(systemd: StandInSystemd, tmp_path: Path) -> None:
    root = SystemdManager(top=tmp_path, execute=systemd, is_root=lambda: True)
    ordinary = SystemdManager(top=tmp_path, execute=systemd, is_root=lambda: False)
    spec = ServiceSpec(root=tmp_path, executable=PROGRAM)

    with pytest.raises(NotAllowedError) as caught:
        ordinary.register(spec)
    root.register(spec)
    for step in (ordinary.begin_start, ordinary.begin_stop, ordinary.unregister):
        with pytest.raises(NotAllowedError):
            step()

    assert caught.value.__notes__ == ["run the same command with sudo"]
    assert ordinary.status().state is ServiceState.STOPPED


def test_what_systemctl_complains_about_is_passed_on(tmp_path: Path) -> None:
    def refuse(command: Sequence[str]) -> Ran:
        return Ran(1, errors="Bus is gone\n") if "daemon-reload" in command else Ran(0)

    manager = SystemdManager(top=tmp_path, execute=refuse, is_root=lambda: True)

    with pytest.raises(UnavailableError, match="`systemctl daemon-reload` failed: Bus is gone"):
        manager.register(ServiceSpec(root=tmp_path, executable=PROGRAM))


@pytest.mark.parametrize(
    ("result", "code", "status", "said"),
    [
        ("exit-code", "1", "203", "its program is missing"),
        ("exit-code", "1", "217", "its account does not exist"),
        ("watchdog", "2", "6", "watchdog"),
        ("timeout", "2", "9", "took too long"),
        ("signal", "2", "9", "killed by signal 9"),
        ("exit-code", "1", "2", "configuration is not valid"),
    ],
)
def test_an_end_that_systemd_saw_is_explained(
    result: str, code: str, status: str, said: str
) -> None:
    manager = shown(
        LoadState="loaded",
        ActiveState="failed",
        Result=result,
        ExecMainCode=code,
        ExecMainStatus=status,
    )

    found = ServiceController(manager).status()

    assert (found.state, found.exit_code) == (ServiceState.FAILED, int(status))
    assert said in found.explanation


def test_a_unit_between_two_attempts_has_failed() -> None:
    manager = shown(LoadState="loaded", ActiveState="activating", SubState="auto-restart",
                    ExecMainCode="1", ExecMainStatus="6")  # fmt: skip

    assert manager.status().state is ServiceState.FAILED


@pytest.mark.parametrize(
    ("active", "state"),
    [
        ("active", ServiceState.RUNNING),
        ("activating", ServiceState.STARTING),
        ("deactivating", ServiceState.STOPPING),
        ("inactive", ServiceState.STOPPED),
    ],
)
def test_the_words_of_systemd_are_translated(active: str, state: ServiceState) -> None:
    assert shown(LoadState="loaded", ActiveState=active).status().state is state


def test_a_unit_that_systemd_does_not_know_is_not_installed() -> None:
    assert shown(LoadState="not-found").status().state is ServiceState.NOT_INSTALLED
    assert shown().status().state is ServiceState.NOT_INSTALLED
