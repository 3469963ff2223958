"""Chooses the service manager of this machine, with its default root and program."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import platformdirs

from qms.memory.errors import InvalidInputError, UnavailableError
from qms.platforms.service_control import SERVICE_NAME, ServiceController, ServiceManager
from qms.platforms.setup import windows_rights

LAUNCHER_NAME = f"{SERVICE_NAME}.exe"

BOOTED_WITH_SYSTEMD = Path("/run/systemd/system")
"""This folder exists exactly when systemd booted the machine; see sd_booted(3)."""


class System(msgspec.Struct, frozen=True):
    """The service controller of a machine, with the defaults of its system."""

    controller: ServiceController
    default_root: Path
    executable: tuple[str, ...]
    """The default program of the service."""
    hand_over: Callable[[Path, str], None]
    """Gives the service's account access to a root and everything in it."""


def this_system() -> System:
    """Return the service controller of this machine.

    Raises:
        UnavailableError: no supported service manager runs here.
    """
    if sys.platform == "win32":
        return _windows()
    from qms.platforms import launchd, posix_setup, systemd, systemd_unit

    if sys.platform == "darwin":
        manager: ServiceManager = launchd.LaunchdManager()
        root = launchd.DEFAULT_ROOT
    elif BOOTED_WITH_SYSTEMD.is_dir() and shutil.which("systemctl"):
        manager, root = systemd.SystemdManager(), systemd_unit.DEFAULT_ROOT
    else:
        error = UnavailableError("this machine was not started by systemd")
        error.add_note("have your own service manager run `qms serve --root DIR` instead")
        raise error
    program = (sys.executable, "-m", "qms.cli.server")
    return System(ServiceController(manager), root, program, posix_setup.hand_over)


def _windows() -> System:
    from qms.platforms.windows_services import WindowsServiceManager

    root = platformdirs.site_data_path(SERVICE_NAME, appauthor=False)
    return System(
        ServiceController(WindowsServiceManager()),
        root,
        windows_program(Path(sys.executable), is_virtual=sys.prefix != sys.base_prefix),
        _grant,
    )


def windows_program(executable: Path, *, is_virtual: bool) -> tuple[str, ...]:
    """Return the program of the Windows service: the installation's launcher, else this Python.

    Raises:
        InvalidInputError: a virtual environment, whose python.exe only starts another process.
    """
    for launcher in (executable.parent / LAUNCHER_NAME, executable.parent.parent / LAUNCHER_NAME):
        if launcher.is_file():
            return (str(launcher),)
    if is_virtual:
        error = InvalidInputError("Windows cannot run a service from a virtual environment")
        error.add_note("use the setup program, or a Python that is installed for all users")
        raise error
    return (str(executable), "-m", "qms.platforms.windows_service")


def _grant(root: Path, account: str) -> None:
    """Give a Windows account write access to a root, and other users none."""
    windows_rights.make_folders(root)
    if refused := windows_rights.grant(
        windows_rights.Wanted(data=root, account=account, is_alone=True)
    ):
        raise UnavailableError(f"icacls could not give {account} access to {refused[0]}")
