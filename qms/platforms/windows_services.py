"""Manages the service through the Windows service control manager.

One of the two modules that need pywin32. Settings that an older Windows or wine does not support
(error 124) are skipped: the service works without them.
"""

import contextlib
import logging
import subprocess
from collections.abc import Iterator
from typing import Any

import servicemanager
import win32evtlogutil
import win32service
import winerror

from qms.memory.errors import (
    ConflictError,
    InvalidInputError,
    NotAllowedError,
    NotFoundError,
    QmsError,
    UnavailableError,
)
from qms.platforms.service_control import (
    DESCRIPTION,
    DISPLAY_NAME,
    SERVICE_NAME,
    ServiceSpec,
    ServiceState,
    ServiceStatus,
)

OWN_ACCOUNT = rf"NT SERVICE\{SERVICE_NAME}"
"""The virtual account of this service; it has no password."""

RESTARTS_AFTER_MS = (5_000, 30_000, 300_000)
"""The delay of the restart after the first, the second and each further failure."""

FORGIVEN_AFTER_S = 86_400
PRESHUTDOWN_MS = 120_000

_STATES = {
    win32service.SERVICE_STOPPED: ServiceState.STOPPED,
    win32service.SERVICE_START_PENDING: ServiceState.STARTING,
    win32service.SERVICE_RUNNING: ServiceState.RUNNING,
    win32service.SERVICE_STOP_PENDING: ServiceState.STOPPING,
}

_NEVER_STARTED = winerror.ERROR_SERVICE_NEVER_STARTED

_SYSTEM_CODES = {
    winerror.ERROR_FILE_NOT_FOUND: "its program is missing: install it again",
    winerror.ERROR_ACCESS_DENIED: "its account may not run the program: grant it the right to",
    winerror.ERROR_SERVICE_REQUEST_TIMEOUT: "it did not answer Windows in time: the Event Log may"
    " have the reason",
    winerror.ERROR_PROCESS_ABORTED: "its process ended without a report: the Event Log and"
    " logs/qms.log may have the reason",
    winerror.ERROR_SERVICE_LOGON_FAILED: "its account could not sign in: check the password and the"
    " right to log on as a service",
}
"""Windows error codes of a service that ended or could not be started."""

log = logging.getLogger(__name__)


class WindowsServiceManager:
    """One service of this machine, by its name."""

    def __init__(self, name: str = SERVICE_NAME, display_name: str = DISPLAY_NAME) -> None:
        self._name = name
        self._display_name = display_name

    def status(self) -> ServiceStatus:
        """Return the service's status from Windows."""
        try:
            with self._opened(win32service.SERVICE_QUERY_STATUS | _QUERY_CONFIG) as service:
                values: Any = win32service.QueryServiceStatusEx(service)
                configured = win32service.QueryServiceConfig(service)
        except NotFoundError:
            return ServiceStatus(state=ServiceState.NOT_INSTALLED)
        return _described(values, command=configured[3], account=configured[7])

    def register(self, spec: ServiceSpec) -> None:
        """Create the service, automatic and restarted on failure, with its Event Log source."""
        with _manager(win32service.SC_MANAGER_CREATE_SERVICE) as manager, _translated():
            service = win32service.CreateService(
                manager,
                self._name,
                self._display_name,
                win32service.SERVICE_ALL_ACCESS,
                win32service.SERVICE_WIN32_OWN_PROCESS,
                win32service.SERVICE_AUTO_START,
                win32service.SERVICE_ERROR_NORMAL,
                command_line(spec),
                None,
                False,
                None,
                spec.account or OWN_ACCOUNT,
                spec.password or None,
            )
        try:
            _configure(service)
        finally:
            win32service.CloseServiceHandle(service)
        with _translated():
            win32evtlogutil.AddSourceToRegistry(self._name, servicemanager.__file__)

    def unregister(self) -> None:
        """Delete the service and its Event Log source."""
        with self._opened(_DELETE) as service, _translated():
            win32service.DeleteService(service)
        with contextlib.suppress(win32service.error, OSError):
            win32evtlogutil.RemoveSourceFromRegistry(self._name)

    def begin_start(self) -> None:
        """Ask Windows to start the service."""
        with self._opened(win32service.SERVICE_START) as service, _translated():
            win32service.StartService(service, None)

    def begin_stop(self) -> None:
        """Ask the service to stop; do nothing if it does not run."""
        with self._opened(win32service.SERVICE_STOP) as service:
            try:
                win32service.ControlService(service, win32service.SERVICE_CONTROL_STOP)
            except win32service.error as error:
                if error.winerror != winerror.ERROR_SERVICE_NOT_ACTIVE:
                    raise _as_ours(error) from error

    def set_restarts(self, wanted: bool) -> None:
        """Set whether Windows restarts the service when it fails."""
        access = win32service.SERVICE_CHANGE_CONFIG | win32service.SERVICE_START
        with self._opened(access) as service:
            _set(service, win32service.SERVICE_CONFIG_FAILURE_ACTIONS, _failure_actions(wanted))

    @contextlib.contextmanager
    def _opened(self, access: int) -> Iterator[Any]:
        with _manager(win32service.SC_MANAGER_CONNECT) as manager:
            with _translated():
                service = win32service.OpenService(manager, self._name, access)
            try:
                yield service
            finally:
                win32service.CloseServiceHandle(service)


_QUERY_CONFIG = win32service.SERVICE_QUERY_CONFIG
_DELETE = 0x00010000  # the standard right of this name; win32service does not have it


def command_line(spec: ServiceSpec) -> str:
    """Return the service's command line; the program is quoted, since its path may have spaces."""
    program, *arguments = spec.executable
    rest = subprocess.list2cmdline([*arguments, "--root", str(spec.root)])
    return f'"{program}" {rest}'


def root_of(command: str) -> str:
    """Return the root of a command line made by `command_line`; it is the last argument."""
    _, _, arguments = command.partition('" ')
    _, marker, root = f" {arguments}".partition(" --root ")
    return root.strip('"') if marker else ""


def program_of(command: str) -> str:
    """Return the program of a command line made by `command_line`."""
    _, quote, rest = command.partition('"')
    return rest.partition('"')[0] if quote else ""


def _described(values: dict[str, int], *, command: str, account: str) -> ServiceStatus:
    state = _STATES.get(values["CurrentState"], ServiceState.RUNNING)
    code = explanation = None
    if state is ServiceState.STOPPED:
        code, explanation = _ending(values["Win32ExitCode"], values["ServiceSpecificExitCode"])
        state = ServiceState.FAILED if code else state
    return ServiceStatus(
        state=state,
        pid=values["ProcessId"] or None,
        exit_code=code,
        explanation=explanation or "",
        root=root_of(command),
        program=program_of(command),
        account=account or "",
    )


def _ending(system_code: int, own_code: int) -> tuple[int | None, str | None]:
    """Return the exit code and, for one of Windows', its meaning."""
    if system_code == _NEVER_STARTED:
        return None, None
    if system_code == winerror.ERROR_SERVICE_SPECIFIC_ERROR:
        return own_code, None
    if system_code == winerror.NO_ERROR:
        return 0, None
    reason = _SYSTEM_CODES.get(system_code, "Windows ended it, or could not start it")
    return system_code, f"{reason} (Windows error {system_code})"


def _configure(service: Any) -> None:
    """Set description, delayed start, restarts and shutdown time; none of them is required."""
    wanted: list[tuple[int, Any]] = [
        (win32service.SERVICE_CONFIG_DESCRIPTION, DESCRIPTION),
        (win32service.SERVICE_CONFIG_DELAYED_AUTO_START_INFO, True),
        (win32service.SERVICE_CONFIG_FAILURE_ACTIONS, _failure_actions(True)),
        (win32service.SERVICE_CONFIG_FAILURE_ACTIONS_FLAG, True),
        (win32service.SERVICE_CONFIG_PRESHUTDOWN_INFO, PRESHUTDOWN_MS),
        (win32service.SERVICE_CONFIG_SERVICE_SID_INFO, win32service.SERVICE_SID_TYPE_UNRESTRICTED),
    ]
    for level, value in wanted:
        _set(service, level, value)


def _failure_actions(restarts: bool) -> dict[str, Any]:
    actions = [(win32service.SC_ACTION_RESTART, delay) for delay in RESTARTS_AFTER_MS]
    return {
        "ResetPeriod": FORGIVEN_AFTER_S,
        "RebootMsg": "",
        "Command": "",
        "Actions": actions if restarts else [(win32service.SC_ACTION_NONE, 0)],
    }


def _set(service: Any, level: int, value: Any) -> None:
    try:
        win32service.ChangeServiceConfig2(service, level, value)
    except win32service.error as error:
        log.info("service setting skipped", extra={"level": level, "error": error.winerror})


@contextlib.contextmanager
def _manager(access: int) -> Iterator[Any]:
    with _translated():
        manager = win32service.OpenSCManager(None, None, access)
    try:
        yield manager
    finally:
        win32service.CloseServiceHandle(manager)


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except win32service.error as error:
        raise _as_ours(error) from error


def _as_ours(error: win32service.error) -> QmsError:
    """Return the `QmsError` for an error of Windows."""
    match error.winerror:
        case winerror.ERROR_ACCESS_DENIED:
            ours: QmsError = NotAllowedError("Windows lets only administrators change services")
            ours.add_note("open a terminal with “Run as administrator” and try again")
        case winerror.ERROR_SERVICE_DOES_NOT_EXIST:
            ours = NotFoundError("the service is not installed")
        case winerror.ERROR_SERVICE_EXISTS | winerror.ERROR_DUPLICATE_SERVICE_NAME:
            ours = ConflictError("the service is already installed")
        case winerror.ERROR_SERVICE_MARKED_FOR_DELETE:
            ours = ConflictError("the service is being removed: another program has it open")
            ours.add_note("close the Services window and try again")
        case winerror.ERROR_INVALID_SERVICE_ACCOUNT:
            ours = InvalidInputError("there is no such account, or its password is wrong")
        case code if code in _SYSTEM_CODES:
            ours = UnavailableError(f"{_SYSTEM_CODES[code]} (Windows error {code})")
        case code:
            ours = UnavailableError(f"Windows refused: {error.strerror} (error {code})")
    return ours
