"""`qms service`: the server as a service of this machine."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from qms.cli import output
from qms.cli.reporting import reporting
from qms.domain.errors import InvalidInputError, NotFoundError, UnavailableError
from qms.host.installing.places import check_own
from qms.host.service_control import (
    ServiceController,
    ServiceSpec,
    ServiceState,
    ServiceStatus,
)
from qms.runtime.root import CONFIGURATION_NAME

if TYPE_CHECKING:
    from qms.host.service_system import System

_WORDS = {
    ServiceState.NOT_INSTALLED: "not installed",
    ServiceState.FAILED: "failed",
}
_root_option = click.option(
    "--root", metavar="DIR", help="Refuse unless the service is that of this root."
)
_as_json = click.option("--json", "as_json", is_flag=True, help="Print the status as JSON.")


@click.group()
def service() -> None:
    """Run the server as a service that starts with the machine.

    On Windows it is a Windows service, on Linux a systemd unit, on macOS a launchd daemon. All but
    status need an administrator: a terminal opened as one, or sudo.

    \b
    Example: qms service install --root /srv/memory
             qms service start
             qms service status
    """


@service.command()
@click.option("--root", metavar="DIR", help="Where configuration and stores are to be.")
@click.option("--account", metavar="NAME", help="Whom it runs as [an account of its own].")
@click.option("--password-stdin", is_flag=True, help="Read the account's password (Windows).")
@_as_json
def install(root: str | None, account: str | None, password_stdin: bool, as_json: bool) -> None:
    """Install the service; it starts with the machine from now on, or with `qms service start`.

    A root that nobody has used yet gets its configuration and an admin, whose key is shown once.

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
    """Make an unused root ready for its service; return the key of its admin, if one was made."""
    from qms.host.opening import first_key

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
    """Stop the service and forget it; its data stays.

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
    """Start the service; returns when its stores are loaded.

    Example: qms service start
    """
    with reporting(as_json=as_json):
        _show(_controller(root).start(), as_json=as_json)


@service.command()
@_root_option
@_as_json
def stop(root: str | None, as_json: bool) -> None:
    """Stop the service; returns when everything is written down.

    Example: qms service stop
    """
    with reporting(as_json=as_json):
        _show(_controller(root).stop(), as_json=as_json)


@service.command()
@_root_option
@_as_json
def restart(root: str | None, as_json: bool) -> None:
    """Stop the service if it runs, and start it.

    Example: qms service restart
    """
    with reporting(as_json=as_json):
        _show(_controller(root).restart(), as_json=as_json)


@service.command()
@_root_option
@_as_json
def status(root: str | None, as_json: bool) -> None:
    """Say what the service does, and why it has ended if it has.

    The exit code is 0 when it runs, 4 when it is not installed, and 6 otherwise.

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
    """Return the services of this machine, or those that whoever runs the command has handed in."""
    from qms.host.service_system import System, this_system

    return click.get_current_context().find_object(System) or this_system()


def _controller(root: str | None) -> ServiceController:
    """Return the controller of this machine, whose service must be that of a root if one is named.

    Raises:
        InvalidInputError: it is that of another root.
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
