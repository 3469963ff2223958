"""`qms service`: install and control the server as a system service."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from qms.cli import output
from qms.cli.failures import reporting
from qms.config.root import CONFIGURATION_NAME
from qms.memory.errors import InvalidInputError, NotFoundError, UnavailableError
from qms.platforms.service_control import (
    ServiceController,
    ServiceSpec,
    ServiceState,
    ServiceStatus,
)
from qms.platforms.setup.places import check_own

if TYPE_CHECKING:
    from qms.platforms.system import System

_WORDS = {
    ServiceState.NOT_INSTALLED: "not installed",
    ServiceState.FAILED: "failed",
}
_root_option = click.option("--root", metavar="DIR", help="Fail if the service has another root.")
_as_json = click.option("--json", "as_json", is_flag=True, help="Print the status as JSON.")


@click.group()
def service() -> None:
    """Run the server as a service that starts with the machine.

    On Windows it is a Windows service, on Linux a systemd unit, on macOS a launchd daemon. All
    commands but status need administrator rights: an elevated terminal, or sudo.

    \b
    Example: qms service install --root /srv/memory
             qms service start
             qms service status
    """


@service.command()
@click.option("--root", metavar="DIR", help="Folder of the configuration and the stores.")
@click.option("--account", metavar="NAME", help="Account that it runs as [its own account].")
@click.option("--password-stdin", is_flag=True, help="Read the account's password (Windows).")
@_as_json
def install(root: str | None, account: str | None, password_stdin: bool, as_json: bool) -> None:
    """Install the service; it starts at boot, or with `qms service start`.

    A new root gets its configuration and an admin user, whose key is shown once.

    Example: qms service install --root /srv/memory
    """
    with reporting(as_json=as_json):
        system = _system()
        place = Path(root).expanduser().absolute() if root else system.default_root
        check_own(place, "--root")
        spec = ServiceSpec(
            root=place,
            executable=system.executable,
            account=account or "",
            password=_password() if password_stdin else "",
        )
        status = system.controller.install(spec)
        key = _seeded(system, status)
        _show(status, as_json=as_json, admin_key=key)
        if not as_json:
            output.hint("start it: qms service start")


def _seeded(system: "System", status: ServiceStatus) -> str:
    """Create the configuration of a new root; return the admin key, if one was created."""
    from qms.app.opened_root import first_key

    root = Path(status.root)
    if (root / CONFIGURATION_NAME).exists():
        return ""
    key = first_key(root)
    system.hand_over(root, status.account)
    return key or ""


@service.command()
@_root_option
@_as_json
def uninstall(root: str | None, as_json: bool) -> None:
    """Stop and uninstall the service; its data stays.

    Example: qms service uninstall
    """
    with reporting(as_json=as_json):
        controller = _controller(root)
        was = controller.uninstall()
        if not as_json:
            output.note(f"the data stays in {was.root}")
        _show(controller.status(), as_json=as_json)


@service.command()
@_root_option
@_as_json
def start(root: str | None, as_json: bool) -> None:
    """Start the service and wait until its stores are loaded.

    Example: qms service start
    """
    with reporting(as_json=as_json):
        _show(_controller(root).start(), as_json=as_json)


@service.command()
@_root_option
@_as_json
def stop(root: str | None, as_json: bool) -> None:
    """Stop the service and wait until everything is written to disk.

    Example: qms service stop
    """
    with reporting(as_json=as_json):
        _show(_controller(root).stop(), as_json=as_json)


@service.command()
@_root_option
@_as_json
def restart(root: str | None, as_json: bool) -> None:
    """Stop the service if it is running, and start it.

    Example: qms service restart
    """
    with reporting(as_json=as_json):
        _show(_controller(root).restart(), as_json=as_json)


@service.command()
@_root_option
@_as_json
def status(root: str | None, as_json: bool) -> None:
    """Show the state of the service, and why it has stopped if it has.

    Exit code: 0 if it is running, 4 if it is not installed, else 6.

    Example: qms service status --json
    """
    with reporting(as_json=as_json):
        found = _controller(root).status()
        _show(found, as_json=as_json)
    if found.state is ServiceState.NOT_INSTALLED:
        sys.exit(NotFoundError.exit_code)
    if found.state is not ServiceState.RUNNING:
        sys.exit(UnavailableError.exit_code)


def _password() -> str:
    return sys.stdin.readline().rstrip("\r\n")


def _system() -> "System":
    """Return the service manager of this machine, or the one in the click context (tests)."""
    from qms.platforms.system import System, this_system

    return click.get_current_context().find_object(System) or this_system()


def _controller(root: str | None) -> ServiceController:
    """Return the controller of the service; with a root, check that the service has that root.

    Raises:
        InvalidInputError: the service has another root.
    """
    controller = _system().controller
    if root is not None and (found := controller.status().root):
        wanted = Path(root).expanduser().absolute()
        if Path(found) != wanted:
            raise InvalidInputError(f"the service of this machine serves {found}, not {wanted}")
    return controller


def _show(status: ServiceStatus, *, as_json: bool, admin_key: str = "") -> None:
    if as_json:
        made = {"adminKey": admin_key} if admin_key else {}
        output.answer(msgspec.to_builtins(status) | made)
        return
    shown: dict[str, Any] = {
        "admin key": admin_key,
        "state": _WORDS.get(status.state, str(status.state)),
        "process": status.pid,
        "root": status.root,
        "account": status.account,
        "exit code": status.exit_code,
        "explanation": status.explanation,
    }
    for name, value in shown.items():
        if value not in (None, ""):
            output.line(f"{name}: {value}")
