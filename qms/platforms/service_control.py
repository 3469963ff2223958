"""Installs, starts and stops the service of this machine on Windows, systemd and launchd.

A `ServiceManager` is the thin port to one of them; what they have in common (the order of steps,
waiting, error messages) is in `ServiceController`.
"""

import enum
from pathlib import Path
from typing import Protocol

import msgspec

from qms.app.service_facts import explain
from qms.memory.errors import ConflictError, NotFoundError, QmsError, UnavailableError
from qms.platforms.wait import Patience

SERVICE_NAME = "QuickMemoryServer"
DISPLAY_NAME = "Quick Memory Server"
DESCRIPTION = "One long-lived memory for all AI agents of this machine"

START_LIMIT_S = 300.0
"""Long enough for large stores to load; a slower start counts as failed."""

STOP_LIMIT_S = 180.0
"""Longer than a server takes to end requests and to fold."""

UNINSTALL_LIMIT_S = 30.0

_POLL_S = 0.2


class ServiceState(enum.StrEnum):
    """The state of a service, the same on every system."""

    NOT_INSTALLED = "notInstalled"
    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    FAILED = "failed"
    """It ended on its own, with an exit code or a signal."""


class ServiceSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Program, account and data root of a service."""

    root: Path
    executable: tuple[str, ...]
    """The program and its arguments, without the root."""
    account: str = ""
    """The account it runs as; empty for the system's default."""
    password: str = ""
    """Windows needs it for a personal account."""


class ServiceStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The status of the service; `exit_code` is that of its last end, if it has ended."""

    state: ServiceState
    pid: int | None = None
    exit_code: int | None = None
    explanation: str = ""
    root: str = ""
    account: str = ""
    program: str = ""
    """The program of the service; on Windows only."""


class ServiceManager(Protocol):
    """The port to Windows, systemd or launchd; each call is one step.

    Every method may raise `NotAllowedError` when the caller is not an administrator, and
    `UnavailableError` when the system refuses for another reason.
    """

    def status(self) -> ServiceStatus:
        """Return the status of the service."""

    def register(self, spec: ServiceSpec) -> None:
        """Register a service that is not installed yet, to start with the machine."""

    def unregister(self) -> None:
        """Remove a stopped service; its data stays."""

    def begin_start(self) -> None:
        """Ask the system to start a stopped service."""

    def begin_stop(self) -> None:
        """Ask the system to stop a running service."""


class ServiceController:
    """Installs, starts, stops and explains the one service of this machine."""

    def __init__(self, manager: ServiceManager, patience: Patience | None = None) -> None:
        self._manager = manager
        self._patience = patience or Patience()

    def install(self, spec: ServiceSpec) -> ServiceStatus:
        """Register the service to start with the machine, without starting it now.

        Raises:
            ConflictError: it is already installed.
        """
        status = self.status()
        if status.state is not ServiceState.NOT_INSTALLED:
            where = f" for {status.root}" if status.root else ""
            error = ConflictError(f"the service is already installed{where}", root=status.root)
            error.add_note("to change it: qms service uninstall, then install; the data stays")
            raise error
        self._manager.register(spec)
        return self.status()

    def uninstall(self) -> ServiceStatus:
        """Stop and remove the service; return its former status. Its data stays.

        Raises:
            NotFoundError: it is not installed.
            UnavailableError: it does not stop, or another program keeps it open.
        """
        was = self._installed()
        self.stop()
        self._manager.unregister()
        # Windows removes a service only after every program has closed its handle.
        self._wait_while(ServiceState.STOPPED, ServiceState.FAILED, limit_s=UNINSTALL_LIMIT_S)
        return was

    def start(self) -> ServiceStatus:
        """Start the service and wait until it runs with its stores loaded.

        Raises:
            NotFoundError: it is not installed.
            UnavailableError: it does not start; the message says why.
        """
        status = self._installed()
        if status.state is ServiceState.STOPPING:
            status = self._wait_while(ServiceState.STOPPING, limit_s=STOP_LIMIT_S)
        if status.state not in (ServiceState.RUNNING, ServiceState.STARTING):
            self._manager.begin_start()
        status = self._wait_while(ServiceState.STARTING, limit_s=START_LIMIT_S)
        if status.state is not ServiceState.RUNNING:
            raise _not_started(status)
        return status

    def stop(self) -> ServiceStatus:
        """Stop the service and wait until it has written everything and ended.

        Raises:
            NotFoundError: it is not installed.
            UnavailableError: it does not stop.
        """
        status = self._installed()
        if status.state is ServiceState.STARTING:
            # Windows accepts no stop while a service starts.
            status = self._wait_while(ServiceState.STARTING, limit_s=START_LIMIT_S)
        if status.state is not ServiceState.STOPPED:
            self._manager.begin_stop()  # also after a failure: the manager may be about to retry
        status = self._wait_while(ServiceState.STOPPING, limit_s=STOP_LIMIT_S)
        if status.state is ServiceState.RUNNING:
            raise UnavailableError(f"the service still runs as process {status.pid}: try again")
        return status

    def restart(self) -> ServiceStatus:
        """Stop the service if it runs, start it and wait until it runs.

        Raises:
            NotFoundError: it is not installed.
            UnavailableError: it does not stop or start.
        """
        self.stop()
        return self.start()

    def status(self) -> ServiceStatus:
        """Return the status, with an explanation of its exit code."""
        status = self._manager.status()
        if status.explanation or status.exit_code is None:
            return status
        return msgspec.structs.replace(status, explanation=explain(status.exit_code))

    def _installed(self) -> ServiceStatus:
        status = self.status()
        if status.state is ServiceState.NOT_INSTALLED:
            error = NotFoundError("the service is not installed")
            error.add_note("install it first: qms service install")
            raise error
        return status

    def _wait_while(self, *states: ServiceState, limit_s: float) -> ServiceStatus:
        for _ in self._patience.looks(every_s=_POLL_S, limit_s=limit_s):
            status = self.status()
            if status.state not in states:
                return status
        raise UnavailableError(f"the service is still {states[0]} after {limit_s:.0f} seconds")


def _not_started(status: ServiceStatus) -> QmsError:
    why = status.explanation or "it ended immediately"
    error = UnavailableError(f"the service did not start: {why}", exitCode=status.exit_code)
    if status.root:
        error.add_note(f"see {Path(status.root) / 'logs' / 'qms.log'}")
    return error
