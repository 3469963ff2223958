"""The service control manager of Windows, as the controller asks it.

One of the two modules that need pywin32. What an older Windows or wine does not know (error 124)
is left as it is: the service works without it.
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

from qms.domain.errors import (
    ConflictError,
    InvalidInputError,
    NotAllowedError,
    NotFoundError,
    QmsError,
    UnavailableError,
)
from qms.host.service_control import (
    DESCRIPTION,
    DISPLAY_NAME,
    SERVICE_NAME,
    ServiceSpec,
    ServiceState,
    ServiceStatus,
)

OWN_ACCOUNT = rf"NT SERVICE\{SERVICE_NAME}"
"""The account that Windows keeps for this service alone; it has no password."""

RESTARTS_AFTER_MS = (5_000, 30_000, 300_000)
"""How long after the first, the second and each further failure it is started again."""

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
    winerror.ERROR_FILE_NOT_FOUND: "its program is not where it was: install it again",
    winerror.ERROR_ACCESS_DENIED: "its account may not run the program: grant it the right to",
    winerror.ERROR_SERVICE_REQUEST_TIMEOUT: "it did not answer Windows in time: the Event Log may"
    " have the reason",
    winerror.ERROR_PROCESS_ABORTED: "its process ended without a word: the Event Log and"
    " logs/qms.log may have the reason",
    winerror.ERROR_SERVICE_LOGON_FAILED: "its account could not sign in: check the password and the"
    " right to log on as a service",
}
"""What Windows itself says of a service that ended or could not be started."""

log = logging.getLogger(__name__)


class WindowsServiceManager:
    """One service of this machine, by its name."""

    def __init__(self, name: str = SERVICE_NAME, display_name: str = DISPLAY_NAME) -> None:
        self._name = name
        self._display_name = display_name

    def status(self) -> ServiceStatus:
        """Return what Windows says of the service."""
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
        """Ask the service to stop; one that does not run has stopped already."""
        with self._opened(win32service.SERVICE_STOP) as service:
            try:
                win32service.ControlService(service, win32service.SERVICE_CONTROL_STOP)
            except win32service.error as error:
                if error.winerror != winerror.ERROR_SERVICE_NOT_ACTIVE:
                    raise _as_ours(error) from error

    def set_restarts(self, wanted: bool) -> None:
        """Have the service started again when it fails, or left as it is."""
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
    """Return what Windows is to run, quoted: a path with a space is not a program's name."""
    program, *arguments = spec.executable
    rest = subprocess.list2cmdline([*arguments, "--root", str(spec.root)])
    return f'"{program}" {rest}'


def root_of(command: str) -> str:
    """Return the root of a command line that `command_line` has made; it is the last word."""
    _, _, arguments = command.partition('" ')
    _, marker, root = f" {arguments}".partition(" --root ")
    return root.strip('"') if marker else ""


def program_of(command: str) -> str:
    """Return the program of a command line that `command_line` has made."""
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
    """Return the exit code and, when it is one of Windows', what it means."""
    if system_code == _NEVER_STARTED:
        return None, None
    if system_code == winerror.ERROR_SERVICE_SPECIFIC_ERROR:
        return own_code, None
    if system_code == winerror.NO_ERROR:
        return 0, None
    said = _SYSTEM_CODES.get(system_code, "Windows ended it, or could not start it")
    return system_code, f"{said} (Windows error {system_code})"


def _configure(service: Any) -> None:
    """Set what makes the service a good neighbour; none of it is needed to run."""
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
        log.info("not configured", extra={"level": level, "error": error.winerror})


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
    """Return what a refusal of Windows means to whoever asked."""
    match error.winerror:
        case winerror.ERROR_ACCESS_DENIED:
            ours: QmsError = NotAllowedError("Windows lets only administrators change services")
            ours.add_note("open a terminal with “Run as administrator” and try again")
        case winerror.ERROR_SERVICE_DOES_NOT_EXIST:
            ours = NotFoundError("the service is not installed")
        case winerror.ERROR_SERVICE_EXISTS | winerror.ERROR_DUPLICATE_SERVICE_NAME:
            ours = ConflictError("the service is installed already")
        case winerror.ERROR_SERVICE_MARKED_FOR_DELETE:
            ours = ConflictError("the service is about to be removed: somebody still has it open")
            ours.add_note("close the Services window and try again")
        case winerror.ERROR_INVALID_SERVICE_ACCOUNT:
            ours = InvalidInputError("there is no such account, or its password is another one")
        case code if code in _SYSTEM_CODES:
            ours = UnavailableError(f"{_SYSTEM_CODES[code]} (Windows error {code})")
        case code:
            ours = UnavailableError(f"Windows refused: {error.strerror} (error {code})")
    return ours
