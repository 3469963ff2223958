"""The system that this process runs on: who manages services here, and what it is to start."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import platformdirs

from qms.domain.errors import InvalidInputError, UnavailableError
from qms.host.installing import rights
from qms.host.service_control import SERVICE_NAME, ServiceController, ServiceManager

LAUNCHER_NAME = f"{SERVICE_NAME}.exe"

BOOTED_WITH_SYSTEMD = Path("/run/systemd/system")
"""The folder that is there exactly when systemd runs the machine, says sd_booted(3)."""


class System(msgspec.Struct, frozen=True):
    """A controller of services, with what is usual for the system."""

    controller: ServiceController
    default_root: Path
    executable: tuple[str, ...]
    """What the service runs, unless told otherwise."""
    hand_over: Callable[[Path, str], None]
    """Gives a root and everything in it to the account of the service."""


def this_system() -> System:
    """Return the services of this machine.

    Raises:
        UnavailableError: nothing that we know manages services here.
    """
    if sys.platform == "win32":
        return _windows()
    from qms.host import posix_setup, service_launchd, service_systemd, systemd_unit

    if sys.platform == "darwin":
        manager: ServiceManager = service_launchd.LaunchdManager()
        root = service_launchd.DEFAULT_ROOT
    elif BOOTED_WITH_SYSTEMD.is_dir() and shutil.which("systemctl"):
        manager, root = service_systemd.SystemdManager(), systemd_unit.DEFAULT_ROOT
    else:
        error = UnavailableError("this machine was not started by systemd")
        error.add_note("have `qms serve --root DIR` run by what starts programs here instead")
        raise error
    program = (sys.executable, "-m", "qms.cli.server")
    return System(ServiceController(manager), root, program, posix_setup.hand_over)


def _windows() -> System:
    from qms.host.service_manager import WindowsServiceManager

    root = platformdirs.site_data_path(SERVICE_NAME, appauthor=False)
    return System(
        ServiceController(WindowsServiceManager()),
        root,
        windows_program(Path(sys.executable), is_virtual=sys.prefix != sys.base_prefix),
        _grant,
    )


def windows_program(executable: Path, *, is_virtual: bool) -> tuple[str, ...]:
    """Return what Windows is to start: the installation's launcher, else this Python.

    Raises:
        InvalidInputError: a virtual environment, whose python.exe only starts another process.
    """
    for launcher in (executable.parent / LAUNCHER_NAME, executable.parent.parent / LAUNCHER_NAME):
        if launcher.is_file():
            return (str(launcher),)
    if is_virtual:
        error = InvalidInputError("Windows cannot run a service out of a virtual environment")
        error.add_note("use the setup program, or a Python that is installed for all users")
        raise error
    return (str(executable), "-m", "qms.host.windows_service")


def _grant(root: Path, account: str) -> None:
    """Let an account of Windows change what is in a root, and nobody else look into it."""
    rights.make_folders(root)
    if refused := rights.grant(rights.Wanted(data=root, account=account, is_alone=True)):
        raise UnavailableError(f"icacls did not give {refused[0]} to {account}")
