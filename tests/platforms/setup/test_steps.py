"""A first installation, an upgrade, one that fails, a repair and a removal, step by step."""

import errno
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qms.config.install_layout import Layout, describe, read_layout, write_layout
from qms.disk.disk import Disk
from qms.memory.errors import (
    ConflictError,
    InvalidInputError,
    NotAllowedError,
    UnavailableError,
)
from qms.platforms.service_control import ServiceController, ServiceSpec, ServiceState
from qms.platforms.setup.places import PROGRAM
from qms.platforms.setup.steps import Installation, Surroundings, purge
from qms.platforms.setup.windows_rights import Wanted
from tests.support.fake_services import FakeServiceManager
from tests.support.waiting import PausesOnly


class FullDisk(Disk):
    """A disk that takes no copies when its machine says so."""

    def __init__(self, machine: "Machine") -> None:
        self._machine = machine

    def copy(self, source: Path, target: Path, *, sync: bool = False) -> None:
        if self._machine.is_full:
            raise OSError(errno.ENOSPC, "no space left")
        super().copy(source, target, sync=sync)


class Machine:
    """A folder for the program, a service manager, and whether servers turn out to be well."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "program"
        self.services = FakeServiceManager()
        self.granted: list[Wanted] = []
        self.restarts: list[bool] = []
        self.keys: list[str] = []
        self.is_well = True
        self.is_full = False
        self.controller = ServiceController(self.services, PausesOnly().patience())
        self.around = Surroundings(
            controller=self.controller,
            grant=self._granted,
            set_restarts=self.restarts.append,
            is_healthy=lambda _data: self.is_well,
            clock=lambda: datetime(2026, 11, 16, 12, 30, tzinfo=UTC),
            disk=FullDisk(self),
        )
        self.installation = Installation(self.folder, self.around)

    def _granted(self, wanted: Wanted) -> None:
        assert self.services.spec is not None, "Windows knows the account with the service only"
        self.granted.append(wanted)

    def unpack(self, version: str) -> None:
        """Do what the setup program does first."""
        new = self.folder / ".new"
        new.mkdir(parents=True, exist_ok=True)
        (new / "QuickMemoryServer.exe").write_text(version, encoding="utf-8")
        write_layout(new, describe(new, version))

    def move_in(self) -> None:
        """Put the new version in the place of the former one."""
        for name in ("QuickMemoryServer.exe", "layout.json"):
            (self.folder / ".new" / name).replace(self.folder / name)

    def set_up(self, version: str, data: str = "", port: int | None = None) -> None:
        """Install a version, whatever comes of it."""
        self.unpack(version)
        self.installation.prepare(data)
        self.move_in()
        self.installation.activate(port=port, hand_over=self.keys.append)

    def state(self) -> ServiceState:
        return self.controller.status().state


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def installed(machine: Machine) -> Machine:
    machine.set_up("1.0.0")
    entries = machine.folder / "MemoryStores" / "shared" / "entries.jsonl"
    entries.write_bytes(b"as it was\n")
    return machine


def test_a_first_installation_has_data_a_key_rights_and_a_running_service(
    machine: Machine,
) -> None:
    machine.set_up("1.0.0", port=6001)

    assert machine.state() is ServiceState.RUNNING
    assert machine.services.spec is not None
    assert machine.services.spec.root == machine.folder
    assert machine.services.spec.executable == (str(machine.folder / "QuickMemoryServer.exe"),)
    assert machine.granted == [Wanted(data=machine.folder, account="own")]
    assert [key[:4] for key in machine.keys] == ["qms_"]
    settings = (machine.folder / "QuickMemoryServer.toml").read_text(encoding="utf-8")
    assert 'listen = ["http://127.0.0.1:6001"]' in settings
    assert machine.keys[0] not in settings
    assert (machine.folder / "MemoryStores" / "shared" / "entries.jsonl").read_bytes() == b""


def test_data_can_be_put_elsewhere_and_stays_there(machine: Machine, tmp_path: Path) -> None:
    data = tmp_path / "data"
    machine.set_up("1.0.0", data=str(data))

    assert read_layout(machine.folder).data_root == str(data)
    assert (data / "QuickMemoryServer.toml").exists()
    assert machine.granted == [Wanted(data=data, account="own", is_alone=True)]
    assert not (machine.folder / "MemoryStores").exists()

    machine.set_up("1.1.0")

    assert read_layout(machine.folder).data_root == str(data)
    machine.unpack("1.2.0")
    with pytest.raises(ConflictError, match="does not move it"):
        machine.installation.prepare(str(tmp_path / "another"))


def test_an_upgrade_keeps_data_and_key_and_shows_new_settings(installed: Machine) -> None:
    settings = installed.folder / "QuickMemoryServer.toml"
    without = settings.read_text(encoding="utf-8").replace("logKeep = 5\n", "")
    settings.write_text(without, encoding="utf-8")

    installed.set_up("1.1.0")

    assert installed.state() is ServiceState.RUNNING
    assert len(installed.keys) == 1
    assert "# logKeep = 5\n" in settings.read_text(encoding="utf-8")
    entries = installed.folder / "MemoryStores" / "shared" / "entries.jsonl"
    assert entries.read_bytes() == b"as it was\n"
    assert len(list((installed.folder / "Backups").glob("upgrade-*"))) == 1


def test_an_upgrade_that_is_not_well_puts_the_data_back(installed: Machine) -> None:
    entries = installed.folder / "MemoryStores" / "shared" / "entries.jsonl"
    before = (installed.folder / "QuickMemoryServer.toml").read_bytes()
    installed.unpack("1.1.0")
    installed.installation.prepare()
    assert installed.state() is ServiceState.STOPPED
    installed.move_in()
    entries.write_bytes(b"as the new version wrote it\n")
    installed.is_well = False

    with pytest.raises(UnavailableError, match="not healthy"):
        installed.installation.activate(port=None, hand_over=installed.keys.append)

    assert installed.state() is ServiceState.STOPPED
    assert installed.restarts == [True, False], "not started again while its files go"
    assert entries.read_bytes() == b"as it was\n"
    assert (installed.folder / "QuickMemoryServer.toml").read_bytes() == before
    installed.installation.resume()
    assert installed.state() is ServiceState.RUNNING
    assert installed.restarts[-1] is True


def test_an_upgrade_that_windows_refuses_to_register_puts_the_data_back(
    installed: Machine,
) -> None:
    settings = installed.folder / "QuickMemoryServer.toml"
    without = settings.read_text(encoding="utf-8").replace("logKeep = 5\n", "")
    settings.write_text(without, encoding="utf-8")
    installed.unpack("1.1.0")
    installed.installation.prepare()
    installed.move_in()
    installed.services.is_admin = False

    with pytest.raises(NotAllowedError):
        installed.installation.activate(port=None, hand_over=installed.keys.append)

    assert settings.read_text(encoding="utf-8") == without


def test_a_key_that_cannot_be_handed_over_is_made_anew_by_the_next_attempt(
    machine: Machine,
) -> None:
    def refuse(_key: str) -> None:
        raise OSError(errno.EACCES, "access is denied")

    machine.unpack("1.0.0")
    machine.installation.prepare()
    machine.move_in()
    with pytest.raises(UnavailableError, match="cannot be handed over: access is denied"):
        machine.installation.activate(port=None, hand_over=refuse)

    machine.set_up("1.0.0")

    assert [key[:4] for key in machine.keys] == ["qms_"]


def test_without_room_for_the_copy_the_former_version_goes_on(installed: Machine) -> None:
    installed.unpack("1.1.0")
    installed.is_full = True

    with pytest.raises(UnavailableError, match="cannot be copied: no space left"):
        installed.installation.prepare()

    assert installed.state() is ServiceState.RUNNING


def test_a_service_that_was_stopped_is_not_started_on_the_way_back(installed: Machine) -> None:
    installed.controller.stop()
    installed.unpack("1.1.0")
    installed.installation.prepare()

    installed.installation.resume()

    assert installed.state() is ServiceState.STOPPED


def test_a_first_installation_that_is_not_well_stays_for_a_look(machine: Machine) -> None:
    machine.is_well = False

    with pytest.raises(UnavailableError):
        machine.set_up("1.0.0")

    assert machine.state() is ServiceState.RUNNING
    assert len(machine.keys) == 1


def test_the_same_version_repairs_and_an_older_one_is_refused(installed: Machine) -> None:
    installed.set_up("1.0.0")
    assert installed.state() is ServiceState.RUNNING

    installed.unpack("0.9.0")
    with pytest.raises(ConflictError, match="newer"):
        installed.installation.prepare()
    assert installed.state() is ServiceState.RUNNING


def test_a_broken_layout_is_repaired(installed: Machine) -> None:
    (installed.folder / "layout.json").write_text("{", encoding="utf-8")

    installed.set_up("1.0.0")

    assert read_layout(installed.folder).version == "1.0.0"
    assert installed.state() is ServiceState.RUNNING


def test_a_removal_keeps_the_data_and_a_purge_takes_it(installed: Machine) -> None:
    installed.installation.remove()
    installed.installation.remove()

    assert installed.state() is ServiceState.NOT_INSTALLED
    assert (installed.folder / "MemoryStores" / "shared" / "entries.jsonl").exists()

    assert purge(installed.folder) == []

    assert sorted(path.name for path in installed.folder.iterdir() if path.name != ".new") == [
        "QuickMemoryServer.exe",
        "layout.json",
    ]


def test_a_service_of_another_root_is_registered_anew(installed: Machine, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    layout = read_layout(installed.folder)
    (installed.folder / "QuickMemoryServer.toml").rename(tmp_path / "x")
    write_layout(
        installed.folder,
        Layout(version=layout.version, files=layout.files, data_root=str(moved)),
    )

    installed.set_up("1.1.0")

    assert installed.services.spec is not None
    assert installed.services.spec.root == moved


def test_a_service_of_another_program_is_registered_anew(installed: Machine) -> None:
    installed.controller.uninstall()
    elsewhere = ServiceSpec(root=installed.folder, executable=("C:\\Python\\Scripts\\qms.exe",))
    installed.controller.install(elsewhere)

    installed.set_up("1.1.0")

    assert installed.services.spec is not None
    assert installed.services.spec.executable == (str(installed.folder / PROGRAM),)


def test_what_a_purge_could_not_remove_is_named(
    installed: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "in use", str(path))

    monkeypatch.setattr(Path, "unlink", refuse)

    assert purge(installed.folder) == ["QuickMemoryServer.toml"]


@pytest.mark.parametrize("name", ["docs", "tools", "photo.jpg"])
def test_the_program_goes_into_no_folder_that_holds_other_things(
    machine: Machine, name: str
) -> None:
    machine.unpack("1.0.0")
    (machine.folder / name).mkdir()

    with pytest.raises(InvalidInputError, match=f"/D.*holds other things \\({name}\\)"):
        machine.installation.prepare()

    assert machine.state() is ServiceState.NOT_INSTALLED


def test_the_data_goes_into_no_folder_that_holds_other_things(
    machine: Machine, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    (theirs / "Backups").mkdir(parents=True)
    (theirs / "letters").mkdir()
    machine.unpack("1.0.0")

    with pytest.raises(InvalidInputError, match=r"/DATA.*holds other things"):
        machine.installation.prepare(str(theirs))

    (theirs / "letters").rmdir()
    machine.installation.prepare(str(theirs))


def test_a_folder_that_kept_its_data_is_taken_again(installed: Machine) -> None:
    installed.installation.remove()
    for name in ("QuickMemoryServer.exe", "layout.json"):
        (installed.folder / name).unlink()
    (installed.folder / ".git").mkdir()

    installed.set_up("1.0.0")

    assert installed.state() is ServiceState.RUNNING


def test_a_second_installation_in_another_folder_is_refused(
    installed: Machine, tmp_path: Path
) -> None:
    second = Installation(tmp_path / "second", installed.around)

    with pytest.raises(ConflictError, match="there can be only one"):
        second.prepare(listed=str(installed.folder))

    assert installed.state() is ServiceState.RUNNING
    installed.unpack("1.1.0")
    installed.installation.prepare(listed=str(installed.folder))
