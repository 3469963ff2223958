import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qms.cli.server import main
from qms.config.toml_file import parse
from qms.platforms.service_control import ServiceController
from qms.platforms.system import System
from tests.support.fake_services import FakeServiceManager
from tests.support.waiting import PausesOnly


class Machine:
    """A machine with a service manager in memory, and a terminal in front of it."""

    def __init__(self, default_root: Path) -> None:
        self.manager = FakeServiceManager()
        self.default_root = default_root
        self.handed_over: list[tuple[Path, str]] = []
        controller = ServiceController(self.manager, PausesOnly().patience())
        self._system = System(controller, default_root, ("qms",), self._hand_over)

    def __call__(self, *words: str, typed: str = "") -> Result:
        return CliRunner().invoke(main, ["service", *words], obj=self._system, input=typed)

    def _hand_over(self, root: Path, account: str) -> None:
        self.handed_over.append((root, account))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "usual")


def test_a_service_goes_through_its_life(machine: Machine) -> None:
    codes = [machine(verb).exit_code for verb in ("install", "start", "status", "restart", "stop")]

    assert codes == [0, 0, 0, 0, 0]
    assert machine("status").exit_code == 6
    gone = machine("uninstall")
    assert gone.exit_code == 0
    assert f"the data stays in {machine.default_root}" in gone.stderr
    assert machine("status").stdout == "state: not installed\n"
    assert machine("status").exit_code == 4


def test_a_new_root_gets_an_admin_whose_key_is_shown_once(machine: Machine, tmp_path: Path) -> None:
    root = tmp_path / "new"
    first = machine("install", "--root", str(root))
    machine("uninstall")
    second = machine("install", "--root", str(root))

    assert first.stdout.startswith("admin key: qms_")
    assert "admin key" not in second.stdout
    settings, _ = parse((root / "QuickMemoryServer.toml").read_text(encoding="utf-8"))
    assert settings.users["admin"].keys
    assert machine.handed_over == [(root, "own")]


def test_a_folder_with_other_things_is_not_taken_and_given_away(
    machine: Machine, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    (theirs / "letters").mkdir(parents=True)

    refused = machine("install", "--root", str(theirs))

    assert refused.exit_code == 2
    assert "holds other things (letters)" in refused.stderr
    assert machine.handed_over == []
    assert machine("status").exit_code == 4


def test_json_is_the_status_and_the_key_beside_it(machine: Machine) -> None:
    installed = json.loads(machine("install", "--json").stdout)
    running = json.loads(machine("start", "--json").stdout)

    assert installed.pop("adminKey").startswith("qms_")
    assert installed["state"] == "stopped"
    assert running["state"] == "running"
    fields = {"state", "pid", "exitCode", "explanation", "root", "account", "program"}
    assert set(running) == fields
    assert running["root"] == str(machine.default_root)


def test_an_error_says_what_to_do(machine: Machine) -> None:
    missing = machine("start")
    as_json = machine("stop", "--json")

    assert missing.exit_code == 4
    assert missing.stderr == (
        "error: the service is not installed\nhint: install it first: qms service install\n"
    )
    assert (as_json.exit_code, json.loads(as_json.stdout)["error"]["code"]) == (4, "notFound")


def test_a_second_installation_is_a_conflict(machine: Machine) -> None:
    machine("install")

    again = machine("install")

    assert again.exit_code == 5
    assert "hint: to change it: qms service uninstall" in again.stderr


def test_whoever_is_no_administrator_is_told_so(machine: Machine) -> None:
    machine.manager.is_admin = False

    refused = machine("install")

    assert refused.exit_code == 3
    assert not machine.default_root.exists()


def test_a_failed_service_is_explained(machine: Machine) -> None:
    machine("install")
    (machine.default_root / "QuickMemoryServer.toml").write_text("[torn", encoding="utf-8")

    failed = machine("start")
    status = machine("status")

    assert failed.exit_code == 6
    assert "the configuration is not valid" in failed.stderr
    assert "qms.log" in failed.stderr
    assert status.exit_code == 6
    assert "state: failed\n" in status.stdout
    assert "exit code: 2\n" in status.stdout
    assert "explanation: the configuration is not valid" in status.stdout


def test_a_root_that_is_not_that_of_the_service_is_refused(
    machine: Machine, tmp_path: Path
) -> None:
    machine("install")

    other = machine("uninstall", "--root", str(tmp_path / "other"))
    own = machine("start", "--root", str(machine.default_root))

    assert other.exit_code == 2
    assert f"serves {machine.default_root}, not {tmp_path / 'other'}" in other.stderr
    assert own.exit_code == 0


def test_a_password_is_read_from_standard_input_and_never_shown(machine: Machine) -> None:
    done = machine("install", "--account", r"OFFICE\ann", "--password-stdin", typed="s3cret\r\n")

    assert machine.manager.spec is not None
    assert machine.manager.spec.password == "s3cret"
    assert machine.manager.spec.account == r"OFFICE\ann"
    assert "s3cret" not in done.output


@pytest.mark.parametrize("verb", ["install", "uninstall", "start", "stop", "restart", "status"])
def test_every_verb_has_help_with_an_example(machine: Machine, verb: str) -> None:
    shown = machine(verb, "--help")

    assert shown.exit_code == 0
    assert f"Example: qms service {verb}" in shown.stdout
