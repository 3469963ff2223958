"""The service of this machine: one controller over whatever manages services here.

A `ServiceManager` is the thin port to Windows, systemd or launchd; what is the same everywhere
(the order of steps, waiting, what an error says) is in `ServiceController`.
"""

import enum
from pathlib import Path
from typing import Protocol

import msgspec

from qms.domain.errors import ConflictError, NotFoundError, QmsError, UnavailableError
from qms.host.exit_codes import explain
from qms.host.patience import Patience

SERVICE_NAME = "QuickMemoryServer"
DISPLAY_NAME = "Quick Memory Server"
LABEL = "quick-memory-server"
"""The name where names are lower-case words: systemd, launchd, accounts."""

DESCRIPTION = "One long-lived memory for all AI agents of this machine"

START_LIMIT_S = 300.0
"""A service that loads large stores says so meanwhile; this is for one that never comes up."""

STOP_LIMIT_S = 180.0
"""Longer than a server takes to end requests and to fold."""

UNINSTALL_LIMIT_S = 30.0

_LOOK_AGAIN_S = 0.2


class ServiceState(enum.StrEnum):
    """What a service does, in words that fit every system."""

    NOT_INSTALLED = "notInstalled"
    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    FAILED = "failed"
    """It ended by itself, with an exit code or a signal."""


class ServiceSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What is to run, for whom, on which data."""

    root: Path
    executable: tuple[str, ...]
    """The program and its arguments, without the root."""
    account: str = ""
    """Whom it runs as; empty for the account that the system's manager makes for it."""
    password: str = ""
    """What Windows asks for with an account of a person."""


class ServiceStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the system says of the service; `exit_code` is how it last ended, if it did."""

    state: ServiceState
    pid: int | None = None
    exit_code: int | None = None
    explanation: str = ""
    root: str = ""
    account: str = ""
    program: str = ""
    """What runs it, where Windows tells."""


class ServiceManager(Protocol):
    """What Windows, systemd and launchd can do for us; each call is one step.

    Every method may raise `NotAllowedError` when the caller is no administrator, and
    `UnavailableError` when the system refuses for another reason.
    """

    def status(self) -> ServiceStatus:
        """Return what the service does now."""

    def register(self, spec: ServiceSpec) -> None:
        """Make the service known and have it started with the machine; it is not there yet."""

    def unregister(self) -> None:
        """Forget a stopped service; its data stays."""

    def begin_start(self) -> None:
        """Ask for the start of a stopped service."""

    def begin_stop(self) -> None:
        """Ask for the end of a running service."""


class ServiceController:
    """Installs, starts, stops and explains the one service of this machine."""

    def __init__(self, manager: ServiceManager, patience: Patience | None = None) -> None:
        self._manager = manager
        self._patience = patience or Patience()

    def install(self, spec: ServiceSpec) -> ServiceStatus:
        """Register the service, to start with the machine; it is not started yet.

        Raises:
            ConflictError: it is installed already.
        """
        status = self.status()
        if status.state is not ServiceState.NOT_INSTALLED:
            where = f" for {status.root}" if status.root else ""
            error = ConflictError(f"the service is installed already{where}", root=status.root)
            error.add_note("to change it: qms service uninstall, then install; the data stays")
            raise error
        self._manager.register(spec)
        return self.status()

    def uninstall(self) -> ServiceStatus:
        """Stop and forget the service; return what it was. Its data stays.

        Raises:
            NotFoundError: it is not installed.
            UnavailableError: it does not stop, or somebody keeps it open.
        """
        was = self._installed()
        self.stop()
        self._manager.unregister()
        # Windows forgets a service only when nobody has it open any more.
        self._wait_while(ServiceState.STOPPED, ServiceState.FAILED, limit_s=UNINSTALL_LIMIT_S)
        return was

    def start(self) -> ServiceStatus:
        """Return once the service runs, its stores loaded.

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
        """Return once the service has ended, with everything written down.

        Raises:
            NotFoundError: it is not installed.
            UnavailableError: it does not stop.
        """
        status = self._installed()
        if status.state is ServiceState.STARTING:
            # Windows takes no other order meanwhile.
            status = self._wait_while(ServiceState.STARTING, limit_s=START_LIMIT_S)
        if status.state is not ServiceState.STOPPED:
            self._manager.begin_stop()  # also when it failed: the manager may be about to retry
        status = self._wait_while(ServiceState.STOPPING, limit_s=STOP_LIMIT_S)
        if status.state is ServiceState.RUNNING:
            raise UnavailableError(f"the service runs on as process {status.pid}: try again")
        return status

    def restart(self) -> ServiceStatus:
        """Stop the service if it runs, and return once it runs again.

        Raises:
            NotFoundError: it is not installed.
            UnavailableError: it does not stop or start.
        """
        self.stop()
        return self.start()

    def status(self) -> ServiceStatus:
        """Return what the service does, with an explanation where it has ended badly."""
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
        for _ in self._patience.looks(every_s=_LOOK_AGAIN_S, limit_s=limit_s):
            status = self.status()
            if status.state not in states:
                return status
        raise UnavailableError(f"the service is still {states[0]} after {limit_s:.0f} seconds")


def _not_started(status: ServiceStatus) -> QmsError:
    why = status.explanation or "it ended at once"
    error = UnavailableError(f"the service did not start: {why}", exitCode=status.exit_code)
    if status.root:
        error.add_note(f"see {Path(status.root) / 'logs' / 'qms.log'}")
    return error
