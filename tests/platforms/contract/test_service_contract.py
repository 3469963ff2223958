"""What every service manager does for the controller: the fake, and the real one of this system.

On Windows it needs pytest and the product only (`--noconftest`), and the right to make services.
"""

import getpass
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from qms.memory.errors import ConflictError, NotFoundError, UnavailableError
from qms.platforms.service_control import (
    ServiceController,
    ServiceManager,
    ServiceSpec,
    ServiceState,
)
from tests.support.fake_services import FakeServiceManager
from tests.support.waiting import PausesOnly

ADMIN_KEY = "qms_0123456789012345678901234567890123456789abc"
CONFIGURATION = f"""\
[global]
listen = ["http://127.0.0.1:0"]
[global.embedding]
model = "hash"
[endpoint.shared]
slug = "shared"
[users.admin]
tier = "admin"
apiKey = "{ADMIN_KEY}"
"""
TORN = '[global\nlisten = ["http://'

TEST_SERVICE = "QuickMemoryServerContract"


def managers() -> list[str]:
    return ["fake", "windows"] if sys.platform == "win32" else ["fake", "systemd", "launchd"]


def made_manager(name: str, folder: Path, undo: ExitStack) -> ServiceManager:
    """Return a manager; those of POSIX systems have a stand-in below them, Windows is Windows."""
    if name == "fake":
        return FakeServiceManager()
    if sys.platform == "win32":
        from qms.platforms.windows_services import WindowsServiceManager

        return WindowsServiceManager(TEST_SERVICE, "Quick Memory Server, under test")
    from qms.platforms.launchd import LaunchdManager
    from qms.platforms.systemd import SystemdManager
    from tests.support.stand_in_launchd import StandInLaunchd
    from tests.support.stand_in_systemd import StandInSystemd

    if name == "systemd":
        systemd = undo.enter_context(closing(StandInSystemd(folder)))
        return SystemdManager(top=folder, execute=systemd, is_root=lambda: True)
    launchd = undo.enter_context(closing(StandInLaunchd(folder)))
    return LaunchdManager(top=folder, execute=launchd, is_root=lambda: True)


@pytest.fixture(params=managers())
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ServiceManager]:
    with ExitStack() as undo:
        made = made_manager(request.param, tmp_path, undo)
        yield made
        if made.status().state is not ServiceState.NOT_INSTALLED:
            ServiceController(made).uninstall()


@pytest.fixture
def controller(manager: ServiceManager) -> ServiceController:
    if isinstance(manager, FakeServiceManager):
        return ServiceController(manager, PausesOnly().patience())
    return ServiceController(manager)


@pytest.fixture
def spec(tmp_path: Path) -> ServiceSpec:
    root = tmp_path / "a root with spaces"
    root.mkdir()
    (root / "QuickMemoryServer.toml").write_text(CONFIGURATION, encoding="utf-8")
    if sys.platform == "win32":
        return ServiceSpec(
            root=root, executable=(sys.executable, "-m", "qms.platforms.windows_service")
        )
    return ServiceSpec(
        root=root,
        executable=(sys.executable, "-m", "qms.cli.server"),
        account=getpass.getuser(),
    )


def test_what_is_not_installed_says_so_and_cannot_be_used(
    manager: ServiceManager, controller: ServiceController
) -> None:
    assert controller.status().state is ServiceState.NOT_INSTALLED
    for use in (controller.start, controller.stop, controller.restart, controller.uninstall):
        with pytest.raises(NotFoundError):
            use()
    for step in (manager.begin_start, manager.begin_stop, manager.unregister):
        with pytest.raises(NotFoundError):
            step()


def test_an_installed_service_is_stopped_and_knows_its_root(
    controller: ServiceController, spec: ServiceSpec
) -> None:
    status = controller.install(spec)

    assert (status.state, status.pid, status.exit_code) == (ServiceState.STOPPED, None, None)
    assert status.root == str(spec.root)
    assert status.account


def test_a_second_installation_is_refused_and_the_first_one_stays(
    manager: ServiceManager, controller: ServiceController, spec: ServiceSpec, tmp_path: Path
) -> None:
    other = ServiceSpec(root=tmp_path / "other", executable=spec.executable)
    controller.install(spec)

    with pytest.raises(ConflictError):
        controller.install(other)
    with pytest.raises(ConflictError):
        manager.register(other)

    assert controller.status().root == str(spec.root)


def test_it_starts_starts_anew_and_stops(
    manager: ServiceManager, controller: ServiceController, spec: ServiceSpec
) -> None:
    controller.install(spec)

    started = controller.start()
    again = controller.start()
    with pytest.raises(UnavailableError):
        manager.begin_start()
    anew = controller.restart()
    stopped = controller.stop()
    manager.begin_stop()

    assert started.state is ServiceState.RUNNING
    assert again == started
    assert (anew.state, anew.exit_code) == (ServiceState.RUNNING, None)
    assert started.pid
    assert anew.pid not in (None, started.pid)
    assert (stopped.state, stopped.pid) == (ServiceState.STOPPED, None)
    assert not stopped.exit_code, "launchd forgets it, all others remember a 0"
    assert controller.stop() == stopped


def test_a_start_that_fails_is_explained_and_can_be_repaired(
    manager: ServiceManager, controller: ServiceController, spec: ServiceSpec
) -> None:
    configuration = spec.root / "QuickMemoryServer.toml"
    configuration.write_text(TORN, encoding="utf-8")
    controller.install(spec)

    with pytest.raises(UnavailableError, match="configuration is not valid"):
        controller.start()
    status = controller.status()
    configuration.write_text(CONFIGURATION, encoding="utf-8")
    repaired = controller.start()

    assert (status.state, status.exit_code, status.pid) == (ServiceState.FAILED, 2, None)
    assert "configuration is not valid" in status.explanation
    if not isinstance(manager, FakeServiceManager):
        assert '"not served"' in (spec.root / "logs" / "qms.log").read_text(encoding="utf-8")
    assert (repaired.state, repaired.exit_code) == (ServiceState.RUNNING, None)


def test_a_running_service_is_stopped_before_it_is_removed_and_its_data_stays(
    controller: ServiceController, spec: ServiceSpec
) -> None:
    controller.install(spec)
    controller.start()

    controller.uninstall()

    assert controller.status().state is ServiceState.NOT_INSTALLED
    assert (spec.root / "QuickMemoryServer.toml").exists()
    assert controller.install(spec).state is ServiceState.STOPPED
