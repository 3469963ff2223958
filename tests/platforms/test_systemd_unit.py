import getpass
import subprocess
import sys
from pathlib import Path

import pytest

from qms.memory.errors import InvalidInputError
from qms.platforms.service_control import ServiceSpec
from qms.platforms.systemd_unit import DEFAULT_ROOT, quoted, root_of_unit, sysusers_text, unit_text
from tests.support.stand_in_systemd import split_command

PROGRAM = ("/opt/qms/bin/python", "-m", "qms.cli.server")

ROOTS = ["/srv/memory", "/srv/a b", '/srv/50% "x"', "/srv/$HOME", "/srv/back\\slash", "/srv/ü"]


def lines(spec: ServiceSpec) -> dict[str, str]:
    text = unit_text(spec)
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def service(root: str | Path = DEFAULT_ROOT, **others: str) -> ServiceSpec:
    return ServiceSpec(root=Path(root), executable=PROGRAM, **others)


def test_the_usual_root_is_a_state_folder_of_an_own_account() -> None:
    unit = lines(service())

    assert unit["User"] == "quick-memory-server"
    assert unit["StateDirectory"] == "quick-memory-server"
    assert unit["ProtectHome"] == "yes"
    assert "ReadWritePaths" not in unit
    assert sysusers_text().startswith("u quick-memory-server - ")


def test_another_root_is_the_only_place_that_may_be_written() -> None:
    unit = lines(service("/srv/memory", account="ann"))

    assert (unit["ReadWritePaths"], unit["ProtectSystem"]) == ("/srv/memory", "strict")
    assert unit["User"] == "ann"
    assert "StateDirectory" not in unit


def test_the_server_is_watched_restarted_and_given_time_to_fold() -> None:
    unit = lines(service())

    assert (unit["Type"], unit["Restart"]) == ("notify", "on-failure")
    assert int(unit["WatchdogSec"]) > 0
    assert int(unit["TimeoutStopSec"]) >= 60
    assert unit["RestartPreventExitStatus"].split() == ["2", "5"]
    assert unit["NoNewPrivileges"] == "yes"


@pytest.mark.parametrize("root", ROOTS)
def test_a_root_of_any_name_is_read_back_as_it_was_written(root: str, tmp_path: Path) -> None:
    path = tmp_path / "unit"
    path.write_text(unit_text(service(root)), encoding="utf-8")

    assert root_of_unit(path) == root
    assert split_command(lines(service(root))["ExecStart"]) == [*PROGRAM, "serve", "--root", root]


def test_what_is_no_unit_has_no_root(tmp_path: Path) -> None:
    (tmp_path / "unit").write_text("[Service]\nExecStart=/bin/true\n", encoding="utf-8")

    assert root_of_unit(tmp_path / "unit") == ""
    assert root_of_unit(tmp_path / "nothing") == ""


def test_a_name_that_would_begin_another_line_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        unit_text(service("/srv/x\nExecStartPre=/bin/true"))
    with pytest.raises(InvalidInputError):
        quoted("a\u2028b")


@pytest.mark.parametrize("place", ["/home", "/root", "/run/user"])
def test_a_home_is_refused_unless_the_service_runs_as_somebody(place: str) -> None:
    inside = Path(place) / "ann" / "memory"

    with pytest.raises(InvalidInputError, match="in a home folder") as caught:
        unit_text(service(inside))

    assert any("--account" in note for note in caught.value.__notes__)
    assert lines(service(inside, account="ann"))["ProtectHome"] == "read-only"


@pytest.mark.needs("systemd-analyze")
@pytest.mark.parametrize("root", [str(DEFAULT_ROOT), *ROOTS])
def test_systemd_itself_finds_nothing_wrong(root: str, tmp_path: Path) -> None:
    spec = ServiceSpec(
        root=Path(root),
        executable=(sys.executable, "-m", "qms.cli.server"),
        account=getpass.getuser(),
    )

    assert complaints(unit_text(spec), tmp_path) == ""


@pytest.mark.needs("systemd-analyze")
def test_systemd_would_find_a_setting_that_it_does_not_know(tmp_path: Path) -> None:
    text = unit_text(service()).replace("WatchdogSec=", "WatchdogSecs=")

    assert "Unknown key" in complaints(text, tmp_path)


@pytest.mark.needs("systemd-analyze")
def test_systemd_rates_the_exposure_as_low(tmp_path: Path) -> None:
    unit = tmp_path / "quick-memory-server.service"
    unit.write_text(unit_text(service()), encoding="utf-8")

    # 10 is a unit without any protection, 2 and less is what systemd calls OK.
    rated = analyze("security", "--offline=yes", "--threshold=20", str(unit))

    assert rated.returncode == 0, rated.stdout.splitlines()[-1]


def complaints(text: str, folder: Path) -> str:
    unit = folder / "quick-memory-server.service"
    unit.write_text(text, encoding="utf-8")
    verified = analyze("verify", "--man=no", str(unit))
    return verified.stdout + verified.stderr


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, encoding="utf-8", check=False
    )
