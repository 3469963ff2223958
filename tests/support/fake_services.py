"""A service manager in memory, for tests of what is built on one.

It needs nothing else of the tests, so that the contract suite can run where little is installed.
"""

import itertools
import tomllib
from pathlib import Path

import msgspec

from qms.memory.errors import (
    ConflictError,
    InvalidInputError,
    NotAllowedError,
    NotFoundError,
    UnavailableError,
)
from qms.platforms.service_control import ServiceSpec, ServiceState, ServiceStatus

PENDING_LOOKS = 2
"""How often a fake service is seen starting or stopping before it has."""

_NEXT = {
    ServiceState.STARTING: ServiceState.RUNNING,
    ServiceState.STOPPING: ServiceState.STOPPED,
}

_pids = itertools.count(4000, 4)


class FakeServiceManager:
    """Behaves as Windows does; `is_admin` may be taken away."""

    def __init__(self) -> None:
        self.is_admin = True
        self.spec: ServiceSpec | None = None
        self._status = ServiceStatus(state=ServiceState.NOT_INSTALLED)
        self._looks_left = 0

    def status(self) -> ServiceStatus:
        """Return what the service does now; whoever looks often enough sees it arrive."""
        after = _NEXT.get(self._status.state)
        if after is not None:
            self._looks_left -= 1
            if self._looks_left <= 0:
                self._arrive(after)
        return self._status

    def register(self, spec: ServiceSpec) -> None:
        """Remember the service."""
        self._check_admin()
        if self.spec is not None:
            raise ConflictError("the service is already installed")
        self.spec = spec
        self._status = ServiceStatus(
            state=ServiceState.STOPPED,
            root=str(spec.root),
            account=spec.account or "own",
            program=spec.executable[0],
        )

    def unregister(self) -> None:
        """Forget the service."""
        self._installed()
        self.spec = None
        self._status = ServiceStatus(state=ServiceState.NOT_INSTALLED)

    def begin_start(self) -> None:
        """Let the service start; it fails when the server would."""
        self._installed()
        if self._status.state not in (ServiceState.STOPPED, ServiceState.FAILED):
            raise UnavailableError("an instance of the service is already running")
        self._pend(ServiceState.STARTING, pid=next(_pids), exit_code=None)

    def begin_stop(self) -> None:
        """Let the service stop; one that does not run has stopped already."""
        self._installed()
        if self._status.state is ServiceState.RUNNING:
            self._pend(ServiceState.STOPPING, pid=self._status.pid, exit_code=None)

    def crash(self) -> None:
        """Let the running service end by itself."""
        self._end(1)

    def _installed(self) -> ServiceSpec:
        if self.spec is None:
            raise NotFoundError("the service is not installed")
        self._check_admin()
        return self.spec

    def _check_admin(self) -> None:
        if not self.is_admin:
            raise NotAllowedError("only administrators may change services")

    def _pend(self, state: ServiceState, *, pid: int | None, exit_code: int | None) -> None:
        self._looks_left = PENDING_LOOKS
        self._status = msgspec.structs.replace(
            self._status, state=state, pid=pid, exit_code=exit_code
        )

    def _arrive(self, state: ServiceState) -> None:
        if state is ServiceState.STOPPED:
            self._end(0)
        elif code := _exit_code_of(self._installed().root):
            self._end(code)
        else:
            self._status = msgspec.structs.replace(self._status, state=state)

    def _end(self, code: int) -> None:
        state = ServiceState.FAILED if code else ServiceState.STOPPED
        self._status = msgspec.structs.replace(self._status, state=state, pid=None, exit_code=code)


def _exit_code_of(root: Path) -> int:
    """Return what a server of this root would exit with at its start."""
    try:
        tomllib.loads((root / "QuickMemoryServer.toml").read_text(encoding="utf-8"))
    except ValueError:
        return InvalidInputError.exit_code
    return 0
