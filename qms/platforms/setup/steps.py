"""The steps of an installation, in the order in which the setup program runs them.

The setup program unpacks the new version into `.new` and runs its `prepare`, moves it into place
and runs `activate`. If that fails, it moves the former version back and runs the former `resume`.
"""

import contextlib
import logging
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import msgspec

from qms.config.configuration import Configuration
from qms.config.install_layout import (
    SETTINGS,
    WRITABLE,
    Layout,
    compare,
    data_folder,
    read_layout,
    write_layout,
)
from qms.config.new_settings import with_new_keys
from qms.config.toml_change import put
from qms.disk.disk import Disk
from qms.memory.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    QmsError,
    UnavailableError,
)
from qms.platforms.service_control import ServiceController, ServiceSpec, ServiceState
from qms.platforms.setup import data_copy
from qms.platforms.setup.places import NEW, PROGRAM, check_own, check_single
from qms.platforms.setup.windows_rights import Wanted, make_folders
from qms.resources import TEMPLATE_NAME, find_resource

_STATE = "upgrade.json"

log = logging.getLogger(__name__)


class State(msgspec.Struct, frozen=True, rename="camel"):
    """The state that one step passes to the next."""

    was_running: bool = False
    copy: data_copy.Copy | None = None


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """The functions of the machine that an installation uses."""

    controller: ServiceController
    grant: Callable[[Wanted], object]
    set_restarts: Callable[[bool], None]
    """Set whether Windows restarts a failed service."""
    is_healthy: Callable[[Path], bool]
    """Wait until the server of a root is healthy; return False if it does not become so."""
    clock: Callable[[], datetime]
    disk: Disk


class Installation:
    """The folder of the program, before, during and after an upgrade."""

    def __init__(self, folder: Path, surroundings: Surroundings) -> None:
        self._folder = folder
        self._around = surroundings

    def former(self) -> Layout | None:
        """Return the installed version; None if there is none or its layout is unreadable."""
        try:
            return read_layout(self._folder)
        except NotFoundError:
            return None
        except InvalidInputError as error:
            log.warning("former layout not read", extra={"reason": error.message})
            return None

    def data_for(self, wanted: str = "") -> Path:
        """Return the data folder, or the one of a first installation."""
        former = self.former()
        if former is not None:
            return data_folder(self._folder, former)
        return Path(wanted).absolute() if wanted else self._folder

    def prepare(self, wanted: str = "", listed: str = "") -> None:
        """Stop the former version and copy its data.

        `wanted` is the requested data folder, `listed` the folder of the program in the registry.

        Raises:
            ConflictError: the installed version is newer, or its program or data is elsewhere.
            InvalidInputError: a folder holds other files.
            UnavailableError: the service does not stop, or the data cannot be copied.
        """
        data = self.data_for(wanted)
        check_single(self._folder, listed)
        check_own(self._folder, "/D")
        check_own(data, "/DATA")
        if wanted and Path(wanted).absolute() != data:
            raise ConflictError(f"the data is in {data}: the setup program does not move it")
        former, new = self.former(), read_layout(self._folder / NEW)
        if former is not None:
            _check_upgrade(former, new)
            log.info("former version", extra={"version": former.version})
            for name, paths in msgspec.structs.asdict(compare(self._folder, former)).items():
                for path in [one for one in paths if not one.startswith(f"{NEW}/")]:
                    log.warning("file not as installed", extra={"path": path, "what": name})
        data_root = "" if data == self._folder else str(data)
        write_layout(self._folder / NEW, msgspec.structs.replace(new, data_root=data_root))
        was_running = self._stop()
        try:
            self._remember(State(was_running=was_running, copy=self._copied(data)))
        except OSError as error:
            if was_running:
                self._around.controller.start()
            raise UnavailableError(f"the data cannot be copied: {error.strerror}") from error

    def activate(self, *, port: int | None, hand_over: Callable[[str], None]) -> None:
        """Start the service and wait until it is healthy; hand over a new admin's key before.

        Raises:
            QmsError, OSError: it does not run; the data is as before the upgrade.
        """
        layout = read_layout(self._folder)
        data = data_folder(self._folder, layout)
        copy = self._state().copy
        try:
            key = self._settle_data(data, port)
            if key is not None:
                self._hand_over(key, hand_over, is_new=copy is None, data=data)
            self._run_service(data, is_upgrade=copy is not None)
        except (QmsError, OSError):
            if copy is not None:
                self._stop()
                data_copy.put_back(copy, self._around.disk)
            raise
        if copy is not None:
            data_copy.forget_older(data, copy)
        log.info("installed", extra={"version": layout.version, "data": str(data)})

    def resume(self) -> None:
        """Start the former version again, if it was running.

        Raises:
            UnavailableError: it does not start.
        """
        controller = self._around.controller
        if controller.status().state is not ServiceState.NOT_INSTALLED:
            self._around.set_restarts(True)
        if self._state().was_running:
            controller.start()
            log.info("former version started")

    def remove(self) -> None:
        """Stop and remove the service; the data stays.

        Raises:
            UnavailableError: the service does not stop.
        """
        if self._around.controller.status().state is not ServiceState.NOT_INSTALLED:
            self._around.controller.uninstall()

    def _settle_data(self, data: Path, port: int | None) -> str | None:
        make_folders(data)
        shared = data / "MemoryStores" / "shared" / "entries.jsonl"
        if not shared.exists():
            self._around.disk.make_folder(shared.parent)
            self._around.disk.put(shared, b"")
        is_new = not (data / SETTINGS).exists()
        configuration = Configuration(data / SETTINGS, self._around.disk, self._around.clock)
        key = configuration.load()
        if is_new and port is not None:
            listen = [f"http://127.0.0.1:{port}"]
            configuration.edit(lambda text: put(text, ("global", "listen"), listen))
        elif not is_new:
            template = find_resource(TEMPLATE_NAME).read_text(encoding="utf-8")
            configuration.edit(lambda text: with_new_keys(text, template))
        return key

    def _hand_over(
        self, key: str, hand_over: Callable[[str], None], *, data: Path, is_new: bool
    ) -> None:
        try:
            hand_over(key)
        except OSError as error:
            if is_new:  # else the next attempt would find an admin whose key is lost
                self._around.disk.remove(data / SETTINGS)
            why = f"the admin key cannot be handed over: {error.strerror}"
            raise UnavailableError(why) from error

    def _run_service(self, data: Path, *, is_upgrade: bool) -> None:
        controller = self._around.controller
        status, program = controller.status(), self._folder / PROGRAM
        is_this = Path(status.root) == data and Path(status.program) == program
        if status.state is not ServiceState.NOT_INSTALLED and not is_this:
            controller.uninstall()
            status = controller.status()
        if status.state is ServiceState.NOT_INSTALLED:
            spec = ServiceSpec(root=data, executable=(str(program),))
            status = controller.install(spec)
        # Windows knows the service's own account only while the service exists.
        self._around.grant(Wanted(data=data, account=status.account, is_alone=data != self._folder))
        if is_upgrade:  # a failed service must not restart while its files are moved
            self._around.set_restarts(False)
        controller.start()
        if not self._around.is_healthy(data):
            raise UnavailableError("the service runs but is not healthy: see logs/qms.log")
        self._around.set_restarts(True)

    def _stop(self) -> bool:
        """Stop the service; return whether it was running."""
        controller = self._around.controller
        state = controller.status().state
        if state is ServiceState.NOT_INSTALLED:
            return False
        controller.stop()
        return state in (ServiceState.RUNNING, ServiceState.STARTING)

    def _copied(self, data: Path) -> data_copy.Copy | None:
        if not (data / SETTINGS).exists():
            return None
        return data_copy.take(data, self._around.clock(), self._around.disk)

    def _remember(self, state: State) -> None:
        self._around.disk.put(self._folder / NEW / _STATE, msgspec.json.encode(state))

    def _state(self) -> State:
        try:
            text = (self._folder / NEW / _STATE).read_bytes()
        except FileNotFoundError:
            return State()
        return msgspec.json.decode(text, type=State)


def _check_upgrade(former: Layout, new: Layout) -> None:
    if _numbers(former.version) > _numbers(new.version):
        raise ConflictError(
            f"version {former.version} is installed, which is newer than {new.version}:"
            " uninstall it first; the data stays"
        )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3] if part.isdigit())


def purge(data: Path) -> list[str]:
    """Delete settings, stores, logs and backups; return what could not be deleted.

    A store in another folder stays.
    """
    for name in WRITABLE:
        shutil.rmtree(data / name, ignore_errors=True)
    for path in data.glob(f"{SETTINGS}*"):
        with contextlib.suppress(OSError):
            path.unlink()
    return [name for name in (*WRITABLE, SETTINGS) if (data / name).exists()]
