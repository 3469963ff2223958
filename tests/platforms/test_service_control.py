from pathlib import Path

import pytest

from qms.app.service_facts import EXPLANATIONS, explain
from qms.memory.errors import ConflictError, NotAllowedError, NotFoundError, UnavailableError
from qms.platforms.service_control import (
    ServiceController,
    ServiceSpec,
    ServiceState,
    ServiceStatus,
)
from tests.support.fake_services import FakeServiceManager
from tests.support.server import configured
from tests.support.waiting import PausesOnly


@pytest.fixture
def manager() -> FakeServiceManager:
    return FakeServiceManager()


@pytest.fixture
def controller(manager: FakeServiceManager) -> ServiceController:
    return ServiceController(manager, PausesOnly().patience())


@pytest.fixture
def spec(tmp_path: Path) -> ServiceSpec:
    return ServiceSpec(root=configured(tmp_path), executable=("qms",))


def notes_of(error: BaseException) -> list[str]:
    return list(getattr(error, "__notes__", ()))


def test_what_is_not_installed_is_refused_with_how_to_install_it(
    controller: ServiceController,
) -> None:
    with pytest.raises(NotFoundError) as caught:
        controller.start()

    assert notes_of(caught.value) == ["install it first: qms service install"]


def test_a_second_installation_names_the_root_of_the_first(
    controller: ServiceController, spec: ServiceSpec
) -> None:
    controller.install(spec)

    with pytest.raises(ConflictError, match=f"already installed for {spec.root}") as caught:
        controller.install(spec)

    assert "uninstall" in notes_of(caught.value)[0]


def test_whoever_is_no_administrator_changes_nothing(
    manager: FakeServiceManager, controller: ServiceController, spec: ServiceSpec
) -> None:
    manager.is_admin = False

    with pytest.raises(NotAllowedError):
        controller.install(spec)

    assert controller.status().state is ServiceState.NOT_INSTALLED


def test_a_restart_of_a_stopped_service_starts_it(
    controller: ServiceController, spec: ServiceSpec
) -> None:
    controller.install(spec)

    assert controller.restart().state is ServiceState.RUNNING


def test_a_start_waits_for_a_service_that_somebody_is_stopping(
    manager: FakeServiceManager, controller: ServiceController, spec: ServiceSpec
) -> None:
    controller.install(spec)
    before = controller.start()
    manager.begin_stop()

    after = controller.start()

    assert (after.state, after.pid == before.pid) == (ServiceState.RUNNING, False)


def test_a_stop_waits_for_a_service_that_is_still_starting(
    manager: FakeServiceManager, controller: ServiceController, spec: ServiceSpec
) -> None:
    controller.install(spec)
    manager.begin_start()

    assert controller.stop().state is ServiceState.STOPPED


def test_a_start_that_never_ends_is_given_up(spec: ServiceSpec) -> None:
    class Stuck(FakeServiceManager):
        def status(self) -> ServiceStatus:
            return ServiceStatus(state=ServiceState.STARTING)

    with pytest.raises(UnavailableError, match="still starting"):
        ServiceController(Stuck(), PausesOnly().patience()).start()


def test_a_service_that_does_not_obey_a_stop_is_said_to_run_on() -> None:
    class Deaf(FakeServiceManager):
        def status(self) -> ServiceStatus:
            return ServiceStatus(state=ServiceState.RUNNING, pid=7)

        def begin_stop(self) -> None:
            pass

    with pytest.raises(UnavailableError, match="still runs as process 7"):
        ServiceController(Deaf(), PausesOnly().patience()).stop()


def test_a_service_that_ended_by_itself_is_explained(
    manager: FakeServiceManager, controller: ServiceController, spec: ServiceSpec
) -> None:
    controller.install(spec)
    controller.start()
    manager.crash()

    status = controller.status()

    assert (status.state, status.exit_code) == (ServiceState.FAILED, 1)
    assert status.explanation == EXPLANATIONS[1]


def test_a_failed_start_says_why_and_where_to_read_more(
    controller: ServiceController, spec: ServiceSpec
) -> None:
    configured(spec.root, "[torn")
    controller.install(spec)

    with pytest.raises(UnavailableError, match="configuration is not valid") as caught:
        controller.start()

    assert notes_of(caught.value) == [f"see {spec.root / 'logs' / 'qms.log'}"]
    assert caught.value.details == {"exitCode": 2}


def test_every_exit_code_of_the_server_has_an_explanation() -> None:
    from qms.memory import errors

    at_the_start = (errors.InvalidInputError, errors.ConflictError, errors.UnavailableError,
                    errors.StorageFullError, errors.QmsError)  # fmt: skip

    assert {kind.exit_code for kind in at_the_start} <= set(EXPLANATIONS)
    assert explain(77) == "exit code 77: logs/qms.log may say more"
