"""The Windows service process, which the service control manager starts and stops.

One of the two modules that need pywin32. `QuickMemoryServer.exe` calls `main`; so does
`python -m qms.platforms.windows_service`. The server is imported only after the process has
reported to the manager, which waits for 30 seconds, also on a machine that is booting.
"""

import contextlib
import logging
import os
import runpy
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import servicemanager
import win32service
import win32serviceutil
import winerror

from qms.app.service_facts import UNEXPECTED, explain
from qms.config.root import find_root
from qms.platforms.service_control import DESCRIPTION, DISPLAY_NAME, SERVICE_NAME
from qms.telemetry.logs import ConsoleFormatter

if TYPE_CHECKING:
    from qms.app.process import Outcome, ServerHost

WAIT_HINT_MS = 60_000
"""How long the manager waits for the next report while the service starts or stops."""

SIGN_EVERY_S = 2.0

ROOT_OPTION = "--root"

log = logging.getLogger(__name__)


class _EventLog(logging.Handler):
    """Writes warnings and errors to the Event Log."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.setFormatter(ConsoleFormatter())

    def emit(self, record: logging.LogRecord) -> None:
        is_error = record.levelno >= logging.ERROR
        write = servicemanager.LogErrorMsg if is_error else servicemanager.LogWarningMsg
        _write_event(write, self.format(record))


class QuickMemoryService(win32serviceutil.ServiceFramework):
    """Runs one server from the manager's start to its stop."""

    _svc_name_ = SERVICE_NAME
    _svc_display_name_ = DISPLAY_NAME
    _svc_description_ = DESCRIPTION

    def __init__(self, args: list[str]) -> None:
        super().__init__(args)
        self._state = win32service.SERVICE_START_PENDING
        self._host: ServerHost | None = None
        self._is_stop_asked = False

    def SvcRun(self) -> None:  # noqa: N802 - named by pywin32
        """Serve until asked to stop, and report the exit code to the manager."""
        self._report(win32service.SERVICE_START_PENDING)
        with _event_log():
            code = self._serve()
        if code:
            self._end_with(code)

    def SvcStop(self) -> None:  # noqa: N802 - named by pywin32
        """Start to stop; `SvcRun` reports the progress to the manager."""
        self._report(win32service.SERVICE_STOP_PENDING)
        self._is_stop_asked = True
        if self._host is not None:
            self._host.stop()

    # pywin32 names the method and its arguments.
    def SvcOtherEx(self, control: int, event_type: int, data: object) -> None:  # noqa: ARG002, N802
        """Stop when the machine is about to shut down."""
        if control == win32service.SERVICE_CONTROL_PRESHUTDOWN:
            self.SvcStop()

    def GetAcceptedControls(self) -> int:  # noqa: N802 - named by pywin32
        """Accept the preshutdown control: the later shutdown control leaves no time to fold."""
        return win32service.SERVICE_ACCEPT_STOP | win32service.SERVICE_ACCEPT_PRESHUTDOWN

    def SvcInterrogate(self) -> None:  # noqa: N802 - named by pywin32
        """Report the last state again."""
        self._report(self._state)

    def _end_with(self, code: int) -> NoReturn:
        """Report a service-specific exit code and end the process."""
        self._state = win32service.SERVICE_STOPPED
        self.ReportServiceStatus(
            self._state, win32ExitCode=winerror.ERROR_SERVICE_SPECIFIC_ERROR, svcExitCode=code
        )
        # If `SvcRun` returned, pywin32 would overwrite our report with a stop without an error.
        # Everything is closed by now, so the process may end here.
        os._exit(code)

    def _serve(self) -> int:
        """Serve, write the outcome to the Event Log and return the exit code."""
        try:
            outcome = self._served(service_root(sys.argv[1:]))
        except Exception:  # the boundary of the service: its manager is told an exit code
            log.exception("service failed")
            return UNEXPECTED
        _write_end(outcome)
        return outcome.exit_code

    def _served(self, root: Path) -> "Outcome":
        self._import_server()
        from qms.app.process import Order, Outcome, Phase, ServerHost

        # A key created here could not be shown: the installation creates the admin.
        order = Order(root=root, logs_at_once=True, makes_admin=False)
        host = self._host = ServerHost(order)
        host.start()
        self._sign_until(lambda: host.wait_until(Phase.READY, SIGN_EVERY_S))
        if host.phase is Phase.READY:
            self._report(win32service.SERVICE_RUNNING)
            _write_event(servicemanager.LogInfoMsg, f"{DISPLAY_NAME} serves {root}")
        if self._is_stop_asked:  # the stop came before there was a host
            host.stop()
        host.wait_until(Phase.STOPPING)
        self._report(win32service.SERVICE_STOP_PENDING)
        self._sign_until(lambda: host.wait(SIGN_EVERY_S) is not None)
        return host.wait() or Outcome()

    def _import_server(self) -> None:
        """Import the server and report progress: a cold disk can need a minute for it."""
        # An import error is not lost: the next import raises it again.
        importing = threading.Thread(target=import_module, args=("qms.app.process",))
        importing.start()

        def is_done() -> bool:
            importing.join(SIGN_EVERY_S)
            return not importing.is_alive()

        self._sign_until(is_done)

    def _sign_until(self, is_done: Callable[[], bool]) -> None:
        """Report to the manager after each wait of `is_done`, until it returns True."""
        while not is_done():
            self._report(self._state)

    def _report(self, state: int) -> None:
        self._state = state
        self.ReportServiceStatus(state, waitHint=WAIT_HINT_MS)


def main(argv: list[str]) -> int:
    """Run the service if Windows started this process as one, else run `qms`."""
    arguments = argv[1:]
    if arguments[:1] in ([], [ROOT_OPTION]) and _dispatched():
        return 0
    if arguments[:1] == [ROOT_OPTION]:
        arguments = ["serve", *arguments]
    sys.argv = ["qms", *arguments]
    try:
        runpy.run_module("qms.cli.server", run_name="__main__")  # a program: `cli` is above us
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else UNEXPECTED
    return 0


def service_root(arguments: list[str]) -> Path:
    """Return the root of the service's command line, else that of the installation.

    Never that of the environment: a service has no user's environment.
    """
    given = arguments[1:] if arguments[:1] == [ROOT_OPTION] else []
    return find_root(given[0] if given else None, environ={})


def _dispatched() -> bool:
    """Run the service; return False if the manager did not start this process."""
    servicemanager.Initialize(SERVICE_NAME, servicemanager.__file__)
    servicemanager.PrepareToHostSingle(QuickMemoryService)
    try:
        servicemanager.StartServiceCtrlDispatcher()  # type: ignore[no-untyped-call]  # no stub
    except win32service.error as error:
        if error.winerror == winerror.ERROR_FAILED_SERVICE_CONTROLLER_CONNECT:
            return False
        raise
    return True


@contextlib.contextmanager
def _event_log() -> Iterator[None]:
    handler = _EventLog()
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


def _write_end(outcome: "Outcome") -> None:
    if outcome.exit_code == 0:
        _write_event(servicemanager.LogInfoMsg, f"{DISPLAY_NAME} has stopped")
        return
    why = outcome.reason or explain(outcome.exit_code)
    text = f"{DISPLAY_NAME} has stopped with exit code {outcome.exit_code}: {why}"
    _write_event(servicemanager.LogErrorMsg, text)


def _write_event(write: Callable[[str], None], text: str) -> None:
    with contextlib.suppress(win32service.error):  # a full Event Log must not stop the service
        write(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
