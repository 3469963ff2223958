"""Manages the systemd service with a unit file and `systemctl`."""

from collections.abc import Callable, Sequence
from pathlib import Path

from qms.disk.disk import Disk
from qms.memory.errors import ConflictError, UnavailableError
from qms.platforms.posix_setup import check_account, check_root, is_root, make_root, not_installed
from qms.platforms.service_control import ServiceSpec, ServiceState, ServiceStatus
from qms.platforms.system_command import Ran, run
from qms.platforms.systemd_unit import ACCOUNT, UNIT_NAME, root_of_unit, sysusers_text, unit_text

UNIT_PLACE = Path("etc/systemd/system") / UNIT_NAME
SYSUSERS_PLACE = Path("etc/sysusers.d/quick-memory-server.conf")

_WORLD_READABLE = 0o644

_PROPERTIES = ("LoadState", "ActiveState", "SubState", "MainPID", "ExecMainCode", "ExecMainStatus",
               "Result", "User")  # fmt: skip

_STATES = {
    "active": ServiceState.RUNNING,
    "reloading": ServiceState.RUNNING,
    "activating": ServiceState.STARTING,
    "deactivating": ServiceState.STOPPING,
    "failed": ServiceState.FAILED,
    "inactive": ServiceState.STOPPED,
}

_SYSTEM_CODES = {
    200: "its working folder cannot be entered",
    203: "its program is missing or not executable: install the service again",
    217: "its account does not exist: install the service again",
    226: "a folder of the unit is missing, for example the root: create it, or install again",
    238: "its state folder could not be created",
}
"""Exit codes of systemd when it could not run the program."""


class SystemdManager:
    """The unit of this machine; `top` is the root of the file system."""

    def __init__(
        self,
        *,
        top: Path = Path("/"),
        execute: Callable[[Sequence[str]], Ran] = run,
        is_root: Callable[[], bool] = is_root,
    ) -> None:
        self._unit = top / UNIT_PLACE
        self._sysusers = top / SYSUSERS_PLACE
        self._execute = execute
        self._is_root = is_root
        self._disk = Disk()

    def status(self) -> ServiceStatus:
        """Return the unit's status from systemd."""
        shown = self._systemctl("show", f"--property={','.join(_PROPERTIES)}", UNIT_NAME)
        values = dict(line.split("=", 1) for line in shown.output.splitlines() if "=" in line)
        if values.get("LoadState", "not-found") == "not-found":
            return ServiceStatus(state=ServiceState.NOT_INSTALLED)
        state = _state(values)
        code, explanation = _ending(values, state)
        return ServiceStatus(
            state=state,
            pid=int(values.get("MainPID", "0")) or None,
            exit_code=code,
            explanation=explanation,
            root=root_of_unit(self._unit),
            account=values.get("User", ""),
        )

    def register(self, spec: ServiceSpec) -> None:
        """Write the unit, create its account and root, and enable it."""
        check_root(self._is_root)
        if self._unit.exists():
            raise ConflictError("the service is already installed")
        unit = unit_text(spec)
        if spec.account:
            check_account(spec.account)
        else:
            self._put(self._sysusers, sysusers_text())
            self._must("systemd-sysusers", str(self._sysusers))
        make_root(spec.root, spec.account or ACCOUNT)
        self._put(self._unit, unit)
        self._must("systemctl", "daemon-reload")
        self._must("systemctl", "enable", UNIT_NAME)

    def unregister(self) -> None:
        """Disable the unit and remove it; the account stays, since it owns the data."""
        self._check_installed()
        self._must("systemctl", "disable", UNIT_NAME)
        self._disk.remove(self._unit)
        self._disk.remove(self._sysusers)
        self._must("systemctl", "daemon-reload")
        self._systemctl("reset-failed", UNIT_NAME)

    def begin_start(self) -> None:
        """Start the unit and wait until systemd has it ready or failed; see `status`."""
        self._check_installed()
        if self.status().state in (ServiceState.RUNNING, ServiceState.STARTING):
            raise UnavailableError("the service is already running")
        self._systemctl("reset-failed", UNIT_NAME)  # a manual start resets the failure count
        self._systemctl("start", UNIT_NAME)

    def begin_stop(self) -> None:
        """Stop the unit."""
        self._check_installed()
        self._must("systemctl", "stop", UNIT_NAME)

    def _systemctl(self, *arguments: str) -> Ran:
        return self._execute(["systemctl", "--no-pager", *arguments])

    def _must(self, *command: str) -> None:
        ran = self._execute(command)
        if ran.exit_code:
            reason = ran.errors.strip() or f"exit code {ran.exit_code}"
            raise UnavailableError(f"`{' '.join(command)}` failed: {reason}")

    def _put(self, path: Path, text: str) -> None:
        self._disk.make_folder(path.parent)
        self._disk.put(path, text.encode(), mode=_WORLD_READABLE)

    def _check_installed(self) -> None:
        if not self._unit.exists():
            raise not_installed()
        check_root(self._is_root)


def _state(values: dict[str, str]) -> ServiceState:
    if values.get("SubState") == "auto-restart":
        return ServiceState.FAILED
    return _STATES.get(values.get("ActiveState", ""), ServiceState.STOPPED)


def _ending(values: dict[str, str], state: ServiceState) -> tuple[int | None, str]:
    """Return the exit code and, for one of systemd's, its meaning."""
    if state not in (ServiceState.STOPPED, ServiceState.FAILED):
        return None, ""
    code = int(values.get("ExecMainStatus", "0"))
    # ExecMainCode: 0 for no process yet, 1 for an exit code, others for a signal.
    match values.get("Result", ""), values.get("ExecMainCode", "0"):
        case _, "0":
            return None, ""
        case "watchdog", _:
            return code, "it did not respond to the watchdog, and systemd killed it"
        case "timeout", _:
            return code, "it took too long to start or to stop, and systemd killed it"
        case _, "1":
            return code, _SYSTEM_CODES.get(code, "")
        case _:
            return code, f"it was killed by signal {code}"
